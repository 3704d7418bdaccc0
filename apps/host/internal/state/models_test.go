package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// keyName is a variable of a saved provider.
const keyName = state.ProviderSecret + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// savedFile is a models.json of a newer version, which has members of its own.
const savedFile = `{"default": "fast", "later": {"a": [1]},
 "providers": {"acme": {"type": "openai", "baseUrl": "https://acme.example/v1", "keyName": "` + keyName + `", "publicOnly": true, "revision": "1", "region": "eu"}},
 "models": {"fast": {"provider": "acme", "id": "fast-1", "contextWindow": 1000, "priceInput": 2, "revision": "1", "color": "red"},
  "lost": {"provider": "gone", "id": "x", "revision": "1"}}}`

func writeHome(t *testing.T, files map[string]string) state.Paths {
	t.Helper()
	paths := state.Paths{Home: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(paths.Home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestSavedModelsAreUsed beside config.toml, and without one.
func TestSavedModelsAreUsed(t *testing.T) {
	const main = "[providers.local]\ntype = \"openai\"\n[models.main]\nprovider = \"local\"\nid = \"m\"\n"
	for name, c := range map[string]struct {
		config string
		env    []string
		models string
		chosen string
		source string
	}{
		"no config.toml":           {"", nil, "fast", "fast", state.SourceSaved},
		"a key in the environment": {"", []string{"GEMINI_API_KEY", "k"}, "fast google", "fast", state.SourceSaved},
		"a model of config.toml":   {main, nil, "fast main", "fast", state.SourceSaved},
		"its default":              {"default_model = \"main\"\n" + main, nil, "fast main", "main", state.SourceConfig},
		"its name":                 {strings.ReplaceAll(main, "main", "fast"), nil, "fast", "fast", state.SourceSaved},
	} {
		t.Run(name, func(t *testing.T) {
			paths := writeHome(t, map[string]string{"config.toml": c.config, "models.json": savedFile})
			config, err := state.LoadConfig(paths.Config(), environment(c.env...))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, m := range config.Models() {
				names = append(names, m.Name)
			}
			if got := strings.Join(names, " "); got != c.models || config.Default() != c.chosen || config.DefaultSource() != c.source {
				t.Errorf("models %q, default %q of %q", got, config.Default(), config.DefaultSource())
			}
		})
	}
	paths := writeHome(t, map[string]string{"models.json": savedFile})
	config, err := state.LoadConfig(paths.Config(), environment(keyName, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	want := state.Model{
		Name: "fast", Provider: "acme", Type: "openai", ID: "fast-1", BaseURL: "https://acme.example/v1", KeyEnv: keyName,
		ContextWindow: 1000, Price: state.Price{Input: 2}, Source: state.SourceSaved, SavedProvider: true, PublicOnly: true,
	}
	if got, _ := config.Model("fast"); got != want || config.Key(got) != "secret" {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestConfigTomlOverridesSavedProviders: a saved model then goes where config.toml says, with
// the key of that address.
func TestConfigTomlOverridesSavedProviders(t *testing.T) {
	paths := writeHome(t, map[string]string{
		"config.toml": "[providers.acme]\ntype = \"anthropic\"\napi_key_env = \"ACME\"\n[models.main]\nprovider = \"acme\"\nid = \"m\"\n", "models.json": savedFile,
	})
	config, err := state.LoadConfig(paths.Config(), environment())
	if err != nil {
		t.Fatal(err)
	}
	got, _ := config.Model("fast")
	if got.Type != "anthropic" || got.BaseURL != "" || got.KeyEnv != "ACME" || got.SavedProvider || len(config.Providers()) != 1 {
		t.Errorf("got %+v, providers %+v", got, config.Providers())
	}
}

// TestWithoutSavedModels: a home of an earlier version has no such file.
func TestWithoutSavedModels(t *testing.T) {
	config, err := state.LoadConfig(writeHome(t, nil).Config(), environment())
	if err != nil || config.Default() != "demo" || config.DefaultSource() != "" {
		t.Errorf("the default is %q, %v", config.Default(), err)
	}
}

// TestUnknownMembersOfSavedModelsAreKept: a newer version wrote them, and will read them again.
func TestUnknownMembersOfSavedModelsAreKept(t *testing.T) {
	paths := writeHome(t, map[string]string{"models.json": savedFile})
	err := state.ChangeSavedModels(t.Context(), paths.Models(), func(saved *state.SavedModels) error {
		m := saved.Models["fast"]
		m.ID = "fast-2"
		saved.Models["fast"] = m
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(paths.Models())
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(data, &got), json.Unmarshal([]byte(strings.Replace(savedFile, "fast-1", "fast-2", 1)), &want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %s", err, data)
	}
}

// TestDamagedSavedModels: what is wrong is an error with the file, and the file stays as it is. A
// file that was edited names no key of something else.
func TestDamagedSavedModels(t *testing.T) {
	provider := func(members string) string {
		return `{"providers": {"acme": {` + members + `}}}`
	}
	for text, want := range map[string]string{
		"":                           "is damaged: repair it",
		"null":                       "is damaged: repair it",
		`{"Providers": {}}`:          "is damaged: repair it",
		`{"models": {"a": 1}}`:       "is damaged: repair it",
		provider(`"Type": "openai"`): "is damaged: repair it",
		provider(`"type": "openai", "keyName": "ANTHROPIC_API_KEY"`):                                                                    "keyName must be",
		provider(`"type": "openai", "keyName": "SCOREL_CHANNEL_A"`):                                                                     "keyName must be",
		provider(`"type": "mine", "keyName": "` + keyName + `"`):                                                                        `unknown type "mine"`,
		provider(`"type": "demo", "keyName": "` + keyName + `"`):                                                                        "use openai, openai-responses, anthropic or google",
		provider(`"type": "openai", "baseUrl": "x", "keyName": "` + keyName + `"`):                                                      "is not a URL",
		`{"providers": {"a": {"type": "openai", "keyName": "` + keyName + `"}, "b": {"type": "openai", "keyName": "` + keyName + `"}}}`: "keyName is that of a",
		`{"models": {"a b": {"provider": "p", "id": "x"}}}`:                                                                             "a name must have",
		`{"models": {"a": {"provider": "p"}}}`:                                                                                          "id is missing",
		`{"models": {"a": {"id": "x"}}}`:                                                                                                "provider is missing",
		`{"models": {"a": {"provider": "p", "id": "x", "thinking": "deep"}}}`:                                                           "unknown thinking level",
		`{"models": {"a": {"provider": "p", "id": "x", "priceInput": -1}}}`:                                                             "a price",
	} {
		paths := writeHome(t, map[string]string{"models.json": text})
		_, err := state.LoadConfig(paths.Config(), environment())
		var configured *state.ConfigError
		if !errors.As(err, &configured) || !strings.Contains(err.Error(), paths.Models()) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err := state.ChangeSavedModels(t.Context(), paths.Models(), func(*state.SavedModels) error { return nil }); err == nil {
			t.Errorf("%s: changed", text)
		}
		if data, err := os.ReadFile(paths.Models()); err != nil || string(data) != text {
			t.Errorf("%s became %s, %v", text, data, err)
		}
	}
}

// TestSavedModelsHaveLimits, and a change that breaks one is not written.
func TestSavedModelsHaveLimits(t *testing.T) {
	paths := writeHome(t, nil)
	err := state.ChangeSavedModels(t.Context(), paths.Models(), func(saved *state.SavedModels) error {
		for i := range state.MaxSavedModels + 1 {
			saved.Models[fmt.Sprint("m", i)] = state.SavedModel{Provider: "p", ID: "x"}
		}
		return nil
	})
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindConflict {
		t.Errorf("too many: %v", err)
	}
	if _, err := os.Stat(paths.Models()); err == nil {
		t.Error("the file was written")
	}
	lock, err := state.Acquire(paths.Models() + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }() // the test is over
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := state.ChangeSavedModels(ended, paths.Models(), func(*state.SavedModels) error { return nil }); !errors.Is(err, state.ErrLocked) {
		t.Errorf("beside another change: %v", err)
	}
}
