package state_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

const goodConfig = `default_model = "main"
relay_url = "wss://relay.example"
label = "home"

[providers.local]
type = "openai"
base_url = "http://127.0.0.1:11434/v1"
api_key_env = "MY_KEY"

[providers.try]
type = "demo"

[models.main]
provider = "local"
id = "qwen3-coder"
context_window = 128000
max_tokens = 8192
thinking = "high"
price_input = 3
price_output = 15.5

[models.demo]
provider = "try"
`

const withAuxiliary = "auxiliary_model = \"demo\"\n" + goodConfig

func environment(pairs ...string) func(string) string {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return values[name] }
}

func load(t *testing.T, text string, env ...string) (state.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return state.LoadConfig(path, environment(env...))
}

func TestLoadConfig(t *testing.T) {
	config, err := load(t, withAuxiliary, "MY_KEY", "sk-1")
	if err != nil {
		t.Fatal(err)
	}
	want := state.Model{
		Name: "main", Provider: "local", Type: "openai", ID: "qwen3-coder", BaseURL: "http://127.0.0.1:11434/v1",
		KeyEnv: "MY_KEY", ContextWindow: 128000, MaxTokens: 8192, Thinking: "high", Price: state.Price{Input: 3, Output: 15.5},
		Source: state.SourceConfig,
	}
	got, ok := config.Model("")
	if !ok || got != want || config.Default() != "main" || config.Auxiliary() != "demo" {
		t.Errorf("default %q = %+v", config.Default(), got)
	}
	if config.Key(got) != "sk-1" || !reflect.DeepEqual(config.SecretEnvs(), []string{"MY_KEY", "SCOREL_SESSIONS_MYSQL", "SCOREL_SESSIONS_POSTGRES"}) {
		t.Errorf("key %q, names %v", config.Key(got), config.SecretEnvs())
	}
	list := []api.Model{
		{Name: "demo", Provider: "try", ID: "demo", Images: true, Demo: true},
		{Name: "main", Provider: "local", ID: "qwen3-coder", ContextWindow: 128000},
	}
	if !reflect.DeepEqual(config.Models(), list) {
		t.Errorf("models = %+v", config.Models())
	}
	if _, ok := config.Model("none"); ok {
		t.Error("a model that does not exist was found")
	}
	if !slices.Equal(config.RelayURLs, []string{"wss://relay.example"}) || config.Label != "home" {
		t.Errorf("%q %q", config.RelayURLs, config.Label)
	}
}

func TestLoadConfigWithoutModels(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want state.Model
	}{
		{"nothing", nil, state.Model{Name: "demo", Provider: "demo", Type: "demo", ID: "demo", Images: true}},
		{"anthropic", []string{"ANTHROPIC_API_KEY", "a", "OPENAI_API_KEY", "b"},
			state.Model{Name: "anthropic", Provider: "anthropic", Type: "anthropic", KeyEnv: "ANTHROPIC_API_KEY", Images: true}},
		{"openai", []string{"OPENAI_API_KEY", "b", "OPENAI_BASE_URL", "http://127.0.0.1:1/v1"},
			state.Model{Name: "openai", Provider: "openai", Type: "openai", KeyEnv: "OPENAI_API_KEY", BaseURL: "http://127.0.0.1:1/v1", Images: true}},
		{"google", []string{"GEMINI_API_KEY", "c"}, state.Model{Name: "google", Provider: "google", Type: "google", KeyEnv: "GEMINI_API_KEY", Images: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			missing, err := state.LoadConfig(filepath.Join(t.TempDir(), "config.toml"), environment(test.env...))
			if err != nil {
				t.Fatal(err)
			}
			empty, err := load(t, "label = \"x\"\n", test.env...)
			if err != nil || empty.Label != "x" {
				t.Fatal(empty.Label, err)
			}
			for _, config := range []state.Config{missing, empty} {
				got, _ := config.Model("")
				if got.ID == "" || config.Auxiliary() != "" || config.Default() != test.want.Name || len(config.Models()) != 1 {
					t.Errorf("%+v", got)
				}
				if test.want.ID == "" { // the model may change
					got.ID, got.ContextWindow = "", 0
				}
				if got != test.want {
					t.Errorf("%+v, want %+v", got, test.want)
				}
			}
		})
	}
	if _, err := state.LoadConfig(filepath.Join(t.TempDir(), "none"), environment("OPENAI_API_KEY", "b", "OPENAI_BASE_URL", "nonsense")); err == nil ||
		!strings.Contains(err.Error(), "OPENAI_BASE_URL") {
		t.Errorf("a wrong OPENAI_BASE_URL: %v", err)
	}
}

func TestLoadConfigErrors(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(goodConfig, old) {
			t.Fatalf("the good file has no %q", old)
		}
		return strings.Replace(goodConfig, old, new, 1)
	}
	tests := []struct{ name, text, want string }{
		{"unknown key at the top", replace("label =", "lable ="), `config.toml:3: unknown key "lable"; did you mean "label"?`},
		{"unknown key of a provider", replace("base_url", "baseurl"), `config.toml:7: unknown key "providers.local.baseurl"; did you mean "base_url"?`},
		{"unknown key of a model", replace("context_window", "zzzzzzzzzz"), `config.toml:16: unknown key "models.main.zzzzzzzzzz"; the keys here are provider, id`},
		{"the key itself", replace(`api_key_env = "MY_KEY"`, `api_key = "sk-1"`), `config.toml:8: providers.local.api_key: API keys do not belong in this file`},
		{"the key as name", replace(`"MY_KEY"`, `"sk-ant-123"`), `api_key_env must be the name of an environment variable`},
		{"no TOML", replace("[models.main]", "[models.main"), `config.toml:13: expected ']'`},
		{"wrong type of value", replace("128000", `"big"`), `config.toml:16: models.main.context_window: must be a whole number, not a string`},
		{"a table as value", replace(`"home"`, `{a = 1}`), `config.toml:3: `},
		{"unknown type", replace(`"openai"`, `"openia"`), `providers.local: unknown type "openia"; use openai, openai-responses, anthropic, google or demo`},
		{"no type", replace(`type = "openai"`, ``), `type is missing`},
		{"base_url", replace(`"http://127.0.0.1:11434/v1"`, `"127.0.0.1:11434"`), `base_url "127.0.0.1:11434" is not a URL that begins with http:// or https://`},
		{"base_url with another scheme", replace(`"http://127.0.0.1:11434/v1"`, `"file:///etc"`), `is not a URL`},
		{"password in base_url", replace(`"http://127`, `"http://u:p@127`), `must not contain a user name`},
		{"relay_url", replace(`"wss://relay.example"`, `"relay"`), `relay_url "relay" is not a URL`},
		{"no such provider", replace(`provider = "local"`, `provider = "lokal"`), `models.main: provider "lokal" does not exist; the providers are local, try`},
		{"no provider", replace(`provider = "local"`, ``), `models.main: provider is missing`},
		{"no id", replace(`id = "qwen3-coder"`, ``), `models.main: id is missing`},
		{"no such auxiliary", `auxiliary_model = "mian"` + "\n" + goodConfig, `auxiliary_model "mian" does not exist; the models are demo, main`},
		{"a share over all", goodConfig + "\n[compaction]\nshare = 1.5\n", `compaction: share must be between 0.1 and 0.95`},
		{"keeps nothing", goodConfig + "\n[compaction]\nkeep_tokens = 5\n", `compaction: keep_tokens must be at least 100`},
		{"a share in words", goodConfig + "\n[compaction]\nshare = \"half\"\n", `compaction.share: must be a number, not a string`},
		{"no steps", "max_steps = 1\n" + goodConfig, "max_steps must be between 2 and 10000"},
		{"a number for a name", "label = 3\n" + goodConfig, "label: must be a string, not an integer"},
		{"steps in words", "max_steps = \"many\"\n" + goodConfig, "max_steps: must be a whole number, not a string"},
		{"unknown in compaction", goodConfig + "\n[compaction]\nshares = 0.5\n", `unknown key "compaction.shares"; did you mean "share"?`},
		{"no such default", replace(`"main"`, `"mian"`), `default_model "mian" does not exist; the models are demo, main`},
		{"no default", replace(`default_model = "main"`, ``), `default_model is missing; set it to one of demo, main`},
		{"default without models", `default_model = "x"`, `the file has no [models.x]`},
		{"negative", replace("8192", "-1"), `must not be negative`},
		{"more than the window", replace("8192", "128001"), `max_tokens is larger than context_window`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error shows a key or has several lines: %v", err)
			}
		})
	}
}

func FuzzLoadConfig(f *testing.F) {
	f.Add(goodConfig)
	f.Add("a.b.c = 1\n[models]\nx = 2")
	f.Add("[[providers]]\ntype=1")
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := state.LoadConfig(path, environment())
		if err != nil {
			return
		}
		if _, ok := config.Model(""); !ok {
			t.Errorf("%q was taken without a default model", text)
		}
	})
}

func TestSummaries(t *testing.T) {
	config, err := load(t, goodConfig)
	if err != nil || config.Auxiliary() != "" || config.Compaction != (state.Compaction{Share: 0.8, KeepTokens: 20_000}) {
		t.Errorf("%q, %+v, %v", config.Auxiliary(), config.Compaction, err)
	}
	config, err = load(t, `auxiliary_model = "demo"`+"\n"+goodConfig+"\n[compaction]\nshare = 0\nkeep_tokens = 300\n")
	if err != nil || config.Auxiliary() != "demo" || config.Compaction != (state.Compaction{KeepTokens: 300}) {
		t.Errorf("%q, %+v, %v", config.Auxiliary(), config.Compaction, err)
	}
}
