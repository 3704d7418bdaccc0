package models_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// twoModels is a config.toml with the provider at a URL.
const twoModels = `
default_model = "large"
auxiliary_model = "small"
[providers.local]
type = "openai"
base_url = %q
api_key_env = "LOCAL_KEY"
[models.large]
provider = "local"
id = "large-1"
context_window = 128000
max_tokens = 4096
price_input = 3.0
price_output = 15.0
[models.small]
provider = "local"
id = "small-1"
`

func newHome(t *testing.T, config string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func load(t *testing.T, config string) *models.Models {
	t.Helper()
	loaded, err := state.LoadConfig(filepath.Join(newHome(t, config), "config.toml"), env(map[string]string{"LOCAL_KEY": "key"}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(loaded)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelsOfTheConfiguration(t *testing.T) {
	m := load(t, fmt.Sprintf(twoModels, "http://127.0.0.1:1/v1"))
	var names []string
	for _, listed := range m.List() {
		names = append(names, listed.Name)
	}
	if want := []string{"large", "small"}; !reflect.DeepEqual(names, want) || m.Default() != "large" || m.DefaultModel().ID != "large-1" {
		t.Errorf("listed %q, default %q, described as %+v", names, m.Default(), m.DefaultModel())
	}
	m.List()[0].Name = "changed by the caller"
	if made, listed, err := m.Model("large"); err != nil || made == nil || listed.ContextWindow != 128000 {
		t.Errorf("large is %+v, %v", listed, err)
	}
	_, _, err := m.Model("none")
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindUnknownModel {
		t.Errorf("an unknown model: %v", err)
	}
	if m.Find("local", "small-1") != "small" || m.Find("local", "none") != "" || m.Find("other", "small-1") != "" {
		t.Error("a model is not found by its provider and id")
	}
	if s := m.Summaries(); s.Model == nil || s.Share == 0 || s.KeepTokens == 0 {
		t.Errorf("summaries are %+v", s)
	}
}

// TestTheDemoModelWritesNoSummaries: it answers without any configuration.
func TestTheDemoModelWritesNoSummaries(t *testing.T) {
	m := load(t, "")
	if !m.DefaultModel().Demo || m.Summaries().Model != nil {
		t.Errorf("the default is %+v, summaries %+v", m.DefaultModel(), m.Summaries())
	}
}

func TestDescribe(t *testing.T) {
	home := newHome(t, fmt.Sprintf(twoModels, "http://127.0.0.1:1/v1"))
	list, err := models.Describe(home, env(nil))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	want := models.Info{
		Name: "large", Source: state.SourceConfig, Provider: "local", Type: "openai", ID: "large-1", BaseURL: "http://127.0.0.1:1/v1", Roles: []string{"primary"},
		KeyEnv: "LOCAL_KEY", ContextWindow: 128000, MaxTokens: 4096, Price: &models.Price{Input: 3, Output: 15},
	}
	if !reflect.DeepEqual(list[0], want) {
		t.Errorf("got %+v, want %+v", list[0], want)
	}
	if !reflect.DeepEqual(list[1].Roles, []string{"auxiliary"}) || list[1].Price != nil {
		t.Errorf("got %+v", list[1])
	}
	if list, err = models.Describe(home, env(map[string]string{"LOCAL_KEY": "key"})); err != nil || !list[0].KeySet {
		t.Errorf("with the key: %+v, %v", list, err)
	}
	if _, err := models.Describe(newHome(t, "unknown = 1\n"), env(nil)); err == nil {
		t.Error("an invalid config.toml was read")
	}
}

// TestTestOfAModel makes real calls to a provider on a socket.
func TestTestOfAModel(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("hello"))
	t.Cleanup(server.Close)
	server.Demand("key", "large-1")
	home := newHome(t, fmt.Sprintf(twoModels, server.URL+"/v1"))
	for name, c := range map[string]struct {
		model, key, reason string
	}{
		"the primary model": {"", "key", ""},
		"no key":            {"large", "", "key_missing"},
		"a wrong key":       {"large", "wrong", "key_refused"},
		"an unknown model":  {"small", "key", "unknown_model"},
	} {
		result, err := models.Test(t.Context(), home, c.model, env(map[string]string{"LOCAL_KEY": c.key}))
		if err != nil || result.OK != (c.reason == "") || result.Reason != c.reason || (result.Error == "") != result.OK {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	if _, err := models.Test(t.Context(), home, "none", env(nil)); !errors.Is(err, models.ErrUnknown) {
		t.Errorf("a name that is not configured: %v", err)
	}
}
