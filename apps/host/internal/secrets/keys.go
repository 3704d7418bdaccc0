package secrets

import (
	"context"
	"log/slog"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/state"
)

// Keys are the keys of model providers that a running host uses: variables of its
// environment, and saved keys for those that it does not have. Its methods may be called
// from any goroutine.
type Keys struct {
	home   string
	getenv func(string) string
	log    *slog.Logger

	changing sync.Mutex // held while a key is saved or removed, which may wait for a person

	mu    sync.Mutex
	saved map[string]savedKey // by variable
}

type savedKey struct {
	store string
	value string // "" if it cannot be read
}

// LoadKeys reads the saved keys of a home. A key that cannot be read is logged and counts
// as missing.
func LoadKeys(home string, getenv func(string) string, log *slog.Logger) (*Keys, error) {
	keys, err := state.LoadSavedKeys(state.Paths{Home: home}.Secrets())
	if err != nil {
		return nil, err
	}
	k := &Keys{home: home, getenv: getenv, log: log, saved: map[string]savedKey{}}
	for _, name := range keys.Names() {
		read := savedKey{store: keys.Store(name)}
		if getenv(name) == "" { // else it is not used, and the key store is not asked
			if read.value, err = keys.Get(context.Background(), name); err != nil {
				log.Warn("a saved key cannot be read; its models have no key", "variable", name, "error", err)
			}
		}
		k.saved[name] = read
	}
	return k, nil
}

// Getenv returns a variable of the environment, or else the saved key for it.
func (k *Keys) Getenv(name string) string {
	if value := k.getenv(name); value != "" {
		return value
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saved[name].value
}

// InEnvironment reports whether a variable is set in the environment, which overrides a
// saved key.
func (k *Keys) InEnvironment(name string) bool { return k.getenv(name) != "" }

// Saved returns where a key is saved, or "", and whether it can be used.
func (k *Keys) Saved(name string) (store string, usable bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.saved[name]
	return key.store, key.value != ""
}

// Save saves a key where Save of this package does, and uses it from now on.
func (k *Keys) Save(ctx context.Context, name, value, in string) (store string, err error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	if store, err = Save(ctx, k.home, name, value, in); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.saved[name] = savedKey{store, value}
	return store, nil
}

// Remove deletes a saved key and no longer uses it; false if there is none.
func (k *Keys) Remove(ctx context.Context, name string) (bool, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	known, err := Remove(ctx, k.home, name)
	if err != nil {
		return known, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.saved, name)
	return known, nil
}
