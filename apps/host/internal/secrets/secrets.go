// Package secrets keeps the keys of providers and knows where the secrets of a home are: in
// files, or in the key store of the system. A secret itself leaves it only as the value of a
// variable.
package secrets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/keyfile/keystore"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Info says where a secret of a home is kept. It never contains the secret.
type Info struct {
	Name  string `json:"name"`  // "host identity", "command line identity", or a variable
	Store string `json:"store"` // "system" or "file"
}

// setTimeout bounds how long a person may take to unlock the key store.
const setTimeout = time.Minute

// Environment is getenv with the saved keys of a home for variables that getenv does not
// have. A key that cannot be read is logged and counts as missing.
func Environment(home string, getenv func(string) string, log *slog.Logger) (func(string) string, error) {
	keys, err := LoadKeys(home, getenv, log)
	if err != nil {
		return nil, err
	}
	return keys.Getenv, nil
}

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// ErrKeyName means that a name is neither a provider nor a variable.
var ErrKeyName = errors.New("unknown provider: use one of config.toml with api_key_env, one that was added, or anthropic, openai or google, or the name of a variable such as OPENAI_API_KEY")

// KeyVariable returns the variable that holds the key of a provider.
func KeyVariable(home, name string, getenv func(string) string) (string, error) {
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		return "", err
	}
	if p, ok := config.Provider(name); ok && p.KeyEnv != "" {
		return p.KeyEnv, nil
	}
	usual := map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}
	switch {
	case usual[name] != "":
		return usual[name], nil
	case strings.HasPrefix(name, state.ProviderSecret):
		return leftKey(home, name)
	case variableName.MatchString(name) && !strings.HasPrefix(name, state.ChannelSecret):
		return name, nil
	}
	return "", ErrKeyName
}

// leftKey returns the variable of a key whose provider is gone, such as one that a locked key
// store did not remove.
func leftKey(home, variable string) (string, error) {
	list, err := saved(home)
	switch {
	case err != nil:
		return "", err
	case !slices.ContainsFunc(list, func(i Info) bool { return i.Name == variable }):
		return "", ErrKeyName
	}
	return variable, nil
}

// Save keeps the key of a variable. store "" is the system's key store if it can be used,
// and the file otherwise. Save returns where the key is.
func Save(ctx context.Context, home, variable, value, store string) (string, error) {
	err := change(ctx, home, func(ctx context.Context, keys *state.SavedKeys) error {
		if store != "" {
			return keys.Set(ctx, variable, value, store)
		}
		store = state.InSystem
		err := keys.Set(ctx, variable, value, store)
		if errors.Is(err, keystore.ErrUnavailable) {
			store = state.InFile
			err = keys.Set(context.WithoutCancel(ctx), variable, value, store)
		}
		return err
	})
	return store, err
}

// Remove deletes the saved key of a variable; false if there is none.
func Remove(ctx context.Context, home, variable string) (known bool, err error) {
	err = change(ctx, home, func(ctx context.Context, keys *state.SavedKeys) (err error) {
		known, err = keys.Remove(ctx, variable)
		return err
	})
	return known, err
}

// change runs a change of the saved keys of a home within setTimeout. Changes of other processes
// wait for it.
func change(ctx context.Context, home string, run func(context.Context, *state.SavedKeys) error) error {
	ctx, cancel := context.WithTimeout(ctx, setTimeout)
	defer cancel()
	return state.ChangeSavedKeys(ctx, state.Paths{Home: home}.Secrets(), func(keys *state.SavedKeys) error { return run(ctx, keys) })
}

// identities are the key files of a home.
func identities(home string) []struct {
	name, path string
	kind       ident.Kind
} {
	paths := state.Paths{Home: home}
	return []struct {
		name, path string
		kind       ident.Kind
	}{{"host identity", paths.Identity(), ident.KindDevice}, {"command line identity", paths.Entry(), ident.KindClient}}
}

// Saved lists the keys of providers that are saved.
func Saved(home string) ([]Info, error) {
	list, err := saved(home)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(i Info) bool { return strings.HasPrefix(i.Name, state.ChannelSecret) })
	return list, nameProviders(home, list, "")
}

// nameProviders replaces the variables of saved providers, which are random, by the names of
// the providers.
func nameProviders(home string, list []Info, before string) error {
	models, err := state.LoadSavedModels(state.Paths{Home: home}.Models())
	if err != nil {
		return err
	}
	for name, p := range models.Providers {
		if i := slices.IndexFunc(list, func(i Info) bool { return i.Name == p.KeyName }); i >= 0 {
			list[i].Name = before + name
		}
	}
	return nil
}

// saved lists what is saved by name: keys of providers, and secrets of chat channels.
func saved(home string) ([]Info, error) {
	keys, err := state.LoadSavedKeys(state.Paths{Home: home}.Secrets())
	if err != nil {
		return nil, err
	}
	list := []Info{}
	for _, name := range keys.Names() {
		list = append(list, Info{name, keys.Store(name)})
	}
	return list, nil
}

// List lists the secrets of a home and where each is kept.
func List(home string) ([]Info, error) {
	var list []Info
	for _, id := range identities(home) {
		inSystem, err := keyfile.InSystem(id.path)
		if keyfile.IsMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		store := state.InFile
		if inSystem {
			store = state.InSystem
		}
		list = append(list, Info{id.name, store})
	}
	keys, err := saved(home)
	for _, key := range keys {
		key.Name = forPeople(key.Name)
		list = append(list, key)
	}
	return list, errors.Join(err, nameProviders(home, list, "provider "))
}

// forPeople names the secret of a chat channel by its channel and setting. Other names stay.
func forPeople(name string) string {
	rest, isChannel := strings.CutPrefix(name, state.ChannelSecret)
	id, setting, found := strings.Cut(rest, "_")
	if !isChannel || !found {
		return name
	}
	return strings.ToLower("channel chn_" + id + ": " + strings.ReplaceAll(setting, "_", "-"))
}

// Move moves every secret of a home to the system's key store, or back to files. One
// that is there already stays. What was moved before an error is usable where it is.
func Move(ctx context.Context, home, store string) error {
	return change(ctx, home, func(ctx context.Context, keys *state.SavedKeys) error {
		for _, id := range identities(home) {
			err := keyfile.Move(ctx, id.path, id.kind, store == state.InSystem)
			if err != nil && !keyfile.IsMissing(err) {
				return fmt.Errorf("moving the %s (%s): %w", id.name, filepath.Base(id.path), err)
			}
		}
		return moveKeys(ctx, keys, store)
	})
}

func moveKeys(ctx context.Context, keys *state.SavedKeys, store string) error {
	for _, name := range keys.Names() {
		if keys.Store(name) == store {
			continue
		}
		value, err := keys.Get(ctx, name)
		if err == nil {
			err = keys.Set(ctx, name, value, store)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
