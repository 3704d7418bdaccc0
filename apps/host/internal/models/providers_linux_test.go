package models_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// keyed is a host that serves the requests about providers, without a system key store.
type keyed struct {
	*dispatchtest.Host
	models *models.Models
	log    *bytes.Buffer // read it after the requests
}

func serveKeyed(t *testing.T, config string, getenv func(string) string) keyed {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	k := keyed{Host: dispatchtest.New(t), log: &bytes.Buffer{}}
	if err := os.WriteFile(k.Paths.Config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	keys, err := secrets.LoadKeys(k.Paths.Home, getenv, log)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := state.LoadConfig(k.Paths.Config(), keys.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if k.models, err = models.New(loaded); err != nil {
		t.Fatal(err)
	}
	k.Serve((&models.Requests{Logger: log, Models: k.models, Keys: keys, Hub: k.Hub, Path: k.Paths.Models()}).Endpoints())
	return k
}

// hi is a request for an answer.
var hi = agent.Request{Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text("hi")}}}}

const keyForTest = "sk-local-0123456789"

// TestASavedKeyIsUsedByTheNextCall, by a model that a session has already, and a removed key
// is no longer used. The key is in the file of keys and nowhere else.
func TestASavedKeyIsUsedByTheNextCall(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("hello"), modeltest.Say("again"))
	t.Cleanup(server.Close)
	server.Demand(keyForTest, "large-1", "small-1")
	k := serveKeyed(t, fmt.Sprintf(twoModels, server.URL+"/v1"), env(nil))
	chosen, _, err := k.models.Model("large")
	if err != nil {
		t.Fatal(err)
	}
	answers := func(when string, want bool) {
		t.Helper()
		answer := chosen.Stream(t.Context(), hi, func(agent.Delta) {})
		if (answer.StopReason != session.StopError) != want {
			t.Errorf("%s: %s %s", when, answer.StopReason, answer.ErrorMessage)
		}
	}
	answers("without a key", false)

	local := k.Local()
	want := api.Provider{
		Name: "local", Type: "openai", Address: strings.TrimPrefix(server.URL, "http://"), Models: []string{"large", "small"}, Source: api.FromConfig, KeyName: "LOCAL_KEY",
	}
	listed := dispatchtest.Call(t, local, api.ListProviders, api.Empty{}).Providers
	if len(listed) != 1 || !reflect.DeepEqual(listed[0], want) {
		t.Errorf("listed %+v, want %+v", listed, want)
	}
	want.KeySource = api.KeyFromFile
	got := dispatchtest.Call(t, local, api.SetProviderKey, api.SetProviderKeyRequest{Provider: "local", Key: " " + keyForTest + "\n"}).Provider
	if !reflect.DeepEqual(got, want) {
		t.Errorf("saved: %+v, want %+v", got, want)
	}
	if event := <-local.Events; event != (api.ModelsChanged{}).EventType() {
		t.Errorf("the clients were sent %s", event)
	}
	answers("with the key", true)
	keyIsOnlyIn(t, k.Paths)

	want.KeySource = ""
	if got := dispatchtest.Call(t, local, api.RemoveProviderKey, api.RemoveProviderKeyRequest{Provider: "local"}).Provider; !reflect.DeepEqual(got, want) {
		t.Errorf("removed: %+v, want %+v", got, want)
	}
	answers("after the key was removed", false)
	dispatchtest.Refused(t, local, api.RemoveProviderKey, api.RemoveProviderKeyRequest{Provider: "local"}, api.KindNotFound)
	if log := k.log.String(); !strings.Contains(log, "LOCAL_KEY") || strings.Contains(log, keyForTest) {
		t.Errorf("the log says %s", log)
	}
}

// keyIsOnlyIn checks every file of a home for the key.
func keyIsOnlyIn(t *testing.T, paths state.Paths) {
	t.Helper()
	found := []string{}
	err := filepath.WalkDir(paths.Home, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(keyForTest)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil || !reflect.DeepEqual(found, []string{paths.Secrets()}) {
		t.Errorf("the key is in %q, %v", found, err)
	}
}

// TestKeysThatAreNotSaved: only a device that may approve sets one, only for a provider, and
// not over the environment.
func TestKeysThatAreNotSaved(t *testing.T) {
	config := fmt.Sprintf(twoModels, "http://127.0.0.1:1/v1/secret-path") + "[providers.open]\ntype = \"openai\"\n[providers.fixed]\ntype = \"google\"\napi_key_env = \"FIXED\"\n"
	k := serveKeyed(t, config, env(map[string]string{"FIXED": keyForTest}))
	local := k.Local()
	for name, c := range map[string]struct {
		client        *dispatchtest.Client
		provider, key string
		kind          api.Kind
	}{
		"without approve":   {k.Connect("robot", api.GrantView, api.GrantManage), "local", keyForTest, api.KindNotAllowed},
		"without manage":    {k.Connect("viewer", api.GrantView, api.GrantApprove), "local", keyForTest, api.KindNotAllowed},
		"a variable":        {local, "OPENAI_BASE_URL", "http://evil.example", api.KindNotFound},
		"a usual provider":  {local, "anthropic", keyForTest, api.KindNotFound},
		"no key is needed":  {local, "open", keyForTest, api.KindConflict},
		"the environment":   {local, "fixed", keyForTest, api.KindConflict},
		"blank":             {local, "local", " ", api.KindBadRequest},
		"two lines":         {local, "local", "a\r\nX-Header: b", api.KindBadRequest},
		"not of characters": {local, "local", "schlüssel", api.KindBadRequest},
		"too long":          {local, "local", strings.Repeat("a", api.MaxKey+1), api.KindTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			dispatchtest.Refused(t, c.client, api.SetProviderKey, api.SetProviderKeyRequest{Provider: c.provider, Key: c.key}, c.kind)
		})
	}
	if _, err := os.Stat(k.Paths.Secrets()); err == nil {
		t.Error("something was saved")
	}
	var shown []string
	for _, p := range dispatchtest.Call(t, local, api.ListProviders, api.Empty{}).Providers {
		shown = append(shown, fmt.Sprint(p.Name, " ", p.Address, " ", p.KeyName, " ", p.KeySource))
	}
	want := []string{"fixed generativelanguage.googleapis.com FIXED environment", "local 127.0.0.1:1 LOCAL_KEY ", "open api.openai.com  "}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}

// TestAKeyReplacesTheDemo: without models in config.toml, the first key selects the model,
// as it does when the host starts.
func TestAKeyReplacesTheDemo(t *testing.T) {
	k := serveKeyed(t, "", env(nil))
	local := k.Local()
	if listed := dispatchtest.Call(t, local, api.ListProviders, api.Empty{}).Providers; len(listed) != 3 || listed[0].Name != "anthropic" || !k.models.DefaultModel().Demo {
		t.Fatalf("before: %+v, %+v", listed, k.models.DefaultModel())
	}
	demo, _, err := k.models.Model("demo")
	if err != nil {
		t.Fatal(err)
	}
	got := dispatchtest.Call(t, local, api.SetProviderKey, api.SetProviderKeyRequest{Provider: "google", Key: keyForTest}).Provider
	if !reflect.DeepEqual(got.Models, []string{"google"}) || k.models.Default() != "google" || k.models.DefaultModel().Demo {
		t.Errorf("after: %+v, %+v", got, k.models.DefaultModel())
	}
	// A turn that began with the demo ends with it.
	if answer := demo.Stream(t.Context(), hi, func(agent.Delta) {}); answer.StopReason == session.StopError {
		t.Errorf("the demo: %s", answer.ErrorMessage)
	}
	dispatchtest.Call(t, local, api.RemoveProviderKey, api.RemoveProviderKeyRequest{Provider: "google"})
	if !k.models.DefaultModel().Demo {
		t.Errorf("without the key: %+v", k.models.DefaultModel())
	}
}
