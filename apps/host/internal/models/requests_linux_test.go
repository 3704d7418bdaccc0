package models_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// addProvider saves a provider that speaks as OpenAI does.
func addProvider(t *testing.T, c *dispatchtest.Client, name, url string) api.Provider {
	t.Helper()
	return dispatchtest.Call(t, c, api.SaveProvider, api.SaveProviderRequest{Name: name, Type: "openai", BaseURL: url}).Provider
}

func addModel(t *testing.T, c *dispatchtest.Client, name, provider, id string) api.SavedModel {
	t.Helper()
	return dispatchtest.Call(t, c, api.SaveModel, api.SaveModelRequest{Name: name, Model: api.ModelDraft{Provider: provider, ID: id}}).Model
}

// saysHello reports whether a model answers.
func saysHello(t *testing.T, m agent.Model) bool {
	t.Helper()
	return m.Stream(t.Context(), hi, func(agent.Delta) {}).StopReason != session.StopError
}

// TestAProviderIsAddedUsedAndRemoved without a restart, by a device that was paired.
func TestAProviderIsAddedUsedAndRemoved(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("hello"), modeltest.Say("again"), modeltest.Say("tested"))
	t.Cleanup(server.Close)
	server.Demand(keyForTest, "large-1", "large-2")
	k := serveKeyed(t, "", env(nil))
	c := k.Connect("phone", api.GrantView, api.GrantManage, api.GrantApprove)

	p := addProvider(t, c, "acme", server.URL+"/v1")
	if p.Source != api.FromRequests || p.BaseURL != server.URL+"/v1" || p.Version == "" || !strings.HasPrefix(p.KeyName, state.ProviderSecret) || p.KeySource != "" {
		t.Errorf("added %+v", p)
	}
	if event := <-c.Events; event != (api.ModelsChanged{}).EventType() {
		t.Errorf("the clients were sent %s", event)
	}
	dispatchtest.Call(t, c, api.SetProviderKey, api.SetProviderKeyRequest{Provider: "acme", Key: keyForTest})
	added := addModel(t, c, "large", "acme", "large-1")
	listed := dispatchtest.Call(t, c, api.ListProviders, api.Empty{})
	if listed.DefaultModel != "large" || listed.DefaultSource != api.FromRequests || !reflect.DeepEqual(listed.SavedModels, []api.SavedModel{added}) {
		t.Errorf("listed %+v", listed)
	}
	chosen, _, err := k.models.Model("large")
	if err != nil || !saysHello(t, chosen) {
		t.Fatalf("the new model does not answer: %v", err)
	}

	// What a session has already follows a change.
	draft := added.Model
	draft.ID, draft.PriceInput = "large-2", 3
	changed := dispatchtest.Call(t, c, api.SaveModel, api.SaveModelRequest{Name: "large", Version: added.Version, Model: draft}).Model
	if changed.Version == added.Version || !reflect.DeepEqual(changed.Model, draft) {
		t.Errorf("changed to %+v", changed)
	}
	if !saysHello(t, chosen) {
		t.Error("the changed model does not answer")
	}
	if tested := dispatchtest.Call(t, c, api.TestModel, api.TestModelRequest{Name: "large"}); !tested.OK || tested.Problem != "" {
		t.Errorf("tested %+v", tested)
	}
	draft.ID = "unknown"
	changed = dispatchtest.Call(t, c, api.SaveModel, api.SaveModelRequest{Name: "large", Version: changed.Version, Model: draft}).Model
	if tested := dispatchtest.Call(t, c, api.TestModel, api.TestModelRequest{Name: "large"}); tested.OK || tested.Reason != "unknown_model" || !strings.Contains(tested.Problem, "the address of the provider acme") {
		t.Errorf("tested %+v", tested)
	}

	dispatchtest.Refused(t, c, api.RemoveProvider, api.RemoveProviderRequest{Name: "acme", Version: p.Version}, api.KindConflict)
	dispatchtest.Call(t, c, api.RemoveModel, api.RemoveModelRequest{Name: "large", Version: changed.Version})
	dispatchtest.Call(t, c, api.RemoveProvider, api.RemoveProviderRequest{Name: "acme", Version: p.Version})
	if !k.models.DefaultModel().Demo || k.models.Known("large") {
		t.Errorf("afterwards the default is %+v", k.models.DefaultModel())
	}
	if data, err := os.ReadFile(k.Paths.Secrets()); err != nil || strings.Contains(string(data), keyForTest) {
		t.Errorf("the key of the removed provider is kept: %v", err)
	}
	if strings.Contains(k.log.String(), keyForTest) {
		t.Error("the log has the key")
	}
}

// TestChangesAreKept by the home: the next host, and commands without one, have them.
func TestChangesAreKept(t *testing.T) {
	k := serveKeyed(t, "", env(nil))
	local := k.Local()
	addProvider(t, local, "acme", "http://127.0.0.1:1/v1")
	addModel(t, local, "large", "acme", "large-1")
	list, err := models.Describe(k.Paths.Home, env(nil))
	if err != nil || len(list) != 1 || list[0].Name != "large" || list[0].Source != state.SourceSaved || !reflect.DeepEqual(list[0].Roles, []string{"primary"}) {
		t.Errorf("described %+v, %v", list, err)
	}
	editor, err := models.OpenEditor(k.Paths.Home, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := editor.SaveModel(t.Context(), api.SaveModelRequest{Name: "small", Model: api.ModelDraft{Provider: "acme", ID: "small-1"}}); err != nil {
		t.Fatal(err)
	}
	// The host does not lose what the command wrote beside it.
	addModel(t, local, "other", "acme", "other-1")
	if saved := dispatchtest.Call(t, local, api.ListProviders, api.Empty{}).SavedModels; len(saved) != 3 {
		t.Errorf("saved are %+v", saved)
	}
}

// TestAKeyStaysAtItsAddress: a provider that a request saves has a key of its own, which no
// other address gets.
func TestAKeyStaysAtItsAddress(t *testing.T) {
	first, second := modeltest.Serve(modeltest.Say("hello")), modeltest.Serve(modeltest.Say("hello"))
	t.Cleanup(first.Close)
	t.Cleanup(second.Close)
	first.Demand(keyForTest, "large-1")
	second.Demand(keyForTest, "large-1") // which says that it got the key
	k := serveKeyed(t, "", env(map[string]string{"OPENAI_API_KEY": keyForTest}))
	c := k.Connect("phone", api.GrantView, api.GrantManage, api.GrantApprove)
	p := addProvider(t, c, "acme", first.URL+"/v1")
	dispatchtest.Call(t, c, api.SetProviderKey, api.SetProviderKeyRequest{Provider: "acme", Key: keyForTest})
	addModel(t, c, "large", "acme", "large-1")
	chosen, _, err := k.models.Model("large")
	if err != nil || !saysHello(t, chosen) {
		t.Fatalf("the model does not answer: %v", err)
	}

	// Another type at the same address may use it.
	kept := dispatchtest.Call(t, c, api.SaveProvider, api.SaveProviderRequest{Name: "acme", Version: p.Version, Type: "openai-responses", BaseURL: p.BaseURL}).Provider
	if kept.KeyName != p.KeyName || kept.KeySource != api.KeyFromFile {
		t.Errorf("with another type: %+v", kept)
	}
	moved := dispatchtest.Call(t, c, api.SaveProvider, api.SaveProviderRequest{Name: "acme", Version: kept.Version, Type: "openai", BaseURL: second.URL + "/v1"}).Provider
	if moved.KeyName == p.KeyName || moved.KeySource != "" || saysHello(t, chosen) {
		t.Errorf("the other address got the key: %+v", moved)
	}
	if data, err := os.ReadFile(k.Paths.Secrets()); err != nil || strings.Contains(string(data), keyForTest) {
		t.Errorf("the key of the earlier address is kept: %v", err)
	}
	// Back at the first address the key must be given again, also after a removal.
	back := dispatchtest.Call(t, c, api.SaveProvider, api.SaveProviderRequest{Name: "acme", Version: moved.Version, Type: "openai", BaseURL: first.URL + "/v1"}).Provider
	if back.KeySource != "" || back.KeyName == p.KeyName || saysHello(t, chosen) {
		t.Errorf("back: %+v", back)
	}
}

// TestARedirectIsNotFollowed: a server that was saved does not send prompts and the key elsewhere.
func TestARedirectIsNotFollowed(t *testing.T) {
	target := modeltest.Serve(modeltest.Say("hello"))
	t.Cleanup(target.Close)
	from := httptest.NewServer(http.RedirectHandler(target.URL+"/v1/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(from.Close)
	k := serveKeyed(t, "", env(nil))
	local := k.Local()
	addProvider(t, local, "acme", from.URL+"/v1")
	addModel(t, local, "large", "acme", "large-1")
	tested := dispatchtest.Call(t, local, api.TestModel, api.TestModelRequest{Name: "large"})
	if tested.OK || !strings.Contains(tested.Problem, "redirects to another address") {
		t.Errorf("tested %+v", tested)
	}
}

// TestAddressesOfSavedProviders: only https on the internet and this machine; its network only
// for a person who is there.
func TestAddressesOfSavedProviders(t *testing.T) {
	k := serveKeyed(t, "", env(nil))
	phone, local := k.Connect("phone", api.GrantView, api.GrantManage, api.GrantApprove), k.Local()
	for i, c := range []struct {
		url           string
		remote, local api.Kind // 0 is allowed
	}{
		{"", 0, 0},
		{"https://openrouter.ai/api/v1", 0, 0},
		{"http://127.0.0.1:11434/v1", 0, 0},
		{"http://localhost:11434/v1", 0, 0},
		{"http://[::1]:11434/v1", 0, 0},
		{"http://192.168.1.5:11434/v1", api.KindNotAllowed, 0},
		{"http://nas:11434/v1", api.KindNotAllowed, 0},
		{"http://nas.local:11434/v1", api.KindNotAllowed, 0},
		{"https://10.0.0.1/v1", api.KindNotAllowed, 0},
		{"http://169.254.169.254/latest", api.KindNotAllowed, 0},
		{"http://0.0.0.0:11434/v1", api.KindNotAllowed, 0},
		{"http://example.com/v1", api.KindBadRequest, api.KindBadRequest},
		{"http://93.184.216.34/v1", api.KindBadRequest, api.KindBadRequest},
		{"ftp://example.com", api.KindBadRequest, api.KindBadRequest},
		{"file:///etc/passwd", api.KindBadRequest, api.KindBadRequest},
		{"example.com", api.KindBadRequest, api.KindBadRequest},
		{"https://:443/v1", api.KindBadRequest, api.KindBadRequest},
		{"https://user:secret@example.com/v1", api.KindBadRequest, api.KindBadRequest},
		{"https://example.com/v1?key=x", api.KindBadRequest, api.KindBadRequest},
		{"https://example.com/v1#x", api.KindBadRequest, api.KindBadRequest},
		{"http://127.0.0.1:1/any/path#", api.KindBadRequest, api.KindBadRequest},
	} {
		for who, from := range map[string]struct {
			client *dispatchtest.Client
			kind   api.Kind
		}{"phone": {phone, c.remote}, "local": {local, c.local}} {
			request := api.SaveProviderRequest{Name: fmt.Sprint(who, i), Type: "openai", BaseURL: c.url}
			if from.kind != 0 {
				dispatchtest.Refused(t, from.client, api.SaveProvider, request, from.kind)
			} else if _, err := dispatchtest.Try(t, from.client, api.SaveProvider, request); err != nil {
				t.Errorf("%s %s: %v", who, c.url, err)
			}
		}
	}
	// A phone changes what was added on the machine, but not to another address of the network.
	p := addProvider(t, local, "nas", "http://192.168.1.5:11434/v1")
	p = dispatchtest.Call(t, phone, api.SaveProvider, api.SaveProviderRequest{Name: "nas", Version: p.Version, Type: "openai-responses", BaseURL: p.BaseURL}).Provider
	dispatchtest.Refused(t, phone, api.SaveProvider, api.SaveProviderRequest{Name: "nas", Version: p.Version, Type: "openai", BaseURL: "http://192.168.1.6:11434/v1"}, api.KindNotAllowed)
}

// TestWhatANameLeadsToIsChecked when it is dialed: a provider that was not saved on the machine
// reaches none of its addresses, whatever its name resolves to.
func TestWhatANameLeadsToIsChecked(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("hello"))
	t.Cleanup(server.Close)
	for _, publicOnly := range []bool{true, false} {
		home := newHome(t, "")
		file := fmt.Sprintf(`{"providers": {"acme": {"type": "openai", "baseUrl": %q, "keyName": %q, "publicOnly": %t}}, "models": {"large": {"provider": "acme", "id": "large-1"}}}`,
			server.URL+"/v1", state.ProviderSecret+"ABCDEFGHIJKLMNOPQRSTUVWXYZ", publicOnly)
		if err := os.WriteFile(state.Paths{Home: home}.Models(), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		result, err := models.Test(t.Context(), home, "large", env(nil))
		if err != nil || result.OK == publicOnly || strings.Contains(result.Error, "an address of a local network") != publicOnly {
			t.Errorf("public only %t: %+v, %v", publicOnly, result, err)
		}
	}
}

// TestAnAddressIsAllowedHere: saving a provider of another client on the machine lets it connect
// to the local network, and keeps its key.
func TestAnAddressIsAllowedHere(t *testing.T) {
	k := serveKeyed(t, "", env(nil))
	p := addProvider(t, k.Connect("phone", api.GrantView, api.GrantManage, api.GrantApprove), "acme", "https://acme.example/v1")
	publicOnly := func() bool {
		saved, err := state.LoadSavedModels(k.Paths.Models())
		if err != nil {
			t.Fatal(err)
		}
		return saved.Providers["acme"].PublicOnly
	}
	if !publicOnly() {
		t.Error("a provider of a paired device may connect to the network")
	}
	again := dispatchtest.Call(t, k.Local(), api.SaveProvider, api.SaveProviderRequest{Name: "acme", Version: p.Version, Type: p.Type, BaseURL: p.BaseURL}).Provider
	if publicOnly() || again.KeyName != p.KeyName {
		t.Errorf("saved on the machine: public only %t, %+v", publicOnly(), again)
	}
}

// TestAModelWithoutAProvider keeps its name, and is listed with the reason.
func TestAModelWithoutAProvider(t *testing.T) {
	home := newHome(t, "")
	if err := os.WriteFile(state.Paths{Home: home}.Models(), []byte(`{"models": {"lost": {"provider": "gone", "id": "x"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := models.Describe(home, env(nil))
	if err != nil || len(list) != 2 || list[1].Name != "lost" || !strings.Contains(list[1].Problem, "gone does not exist") {
		t.Errorf("described %+v, %v", list, err)
	}
}

// TestNamesOfBuiltinModels stay theirs, so that no session changes its provider unasked.
func TestNamesOfBuiltinModels(t *testing.T) {
	local := serveKeyed(t, "", env(map[string]string{"ANTHROPIC_API_KEY": keyForTest})).Local()
	addProvider(t, local, "acme", "")
	for _, name := range []string{"anthropic", "google", "demo"} {
		dispatchtest.Refused(t, local, api.SaveModel, api.SaveModelRequest{Name: name, Model: api.ModelDraft{Provider: "acme", ID: "x"}}, api.KindConflict)
	}
}

// TestWhoMayChangeModels: only clients with manage and approve change models or see versions and
// base URLs.
func TestWhoMayChangeModels(t *testing.T) {
	k := serveKeyed(t, "", env(nil))
	local := k.Local()
	p := addProvider(t, local, "acme", "http://127.0.0.1:1/v1/secret-path")
	m := addModel(t, local, "large", "acme", "large-1")
	robot, viewer := k.Connect("robot", api.GrantView, api.GrantManage), k.Connect("viewer", api.GrantView, api.GrantApprove)
	for _, c := range []*dispatchtest.Client{robot, viewer} {
		dispatchtest.Refused(t, c, api.SaveProvider, api.SaveProviderRequest{Name: "mine", Type: "openai"}, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.RemoveProvider, api.RemoveProviderRequest{Name: "acme", Version: p.Version}, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.SaveModel, api.SaveModelRequest{Name: "mine", Model: m.Model}, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.RemoveModel, api.RemoveModelRequest{Name: "large", Version: m.Version}, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.SetDefaultModel, api.SetDefaultModelRequest{Name: "large"}, api.KindNotAllowed)
	}
	dispatchtest.Refused(t, viewer, api.TestModel, api.TestModelRequest{Name: "large"}, api.KindNotAllowed)
	if tested := dispatchtest.Call(t, robot, api.TestModel, api.TestModelRequest{Name: "large"}); tested.OK || strings.Contains(tested.Problem, "secret-path") {
		t.Errorf("a client without approve is told %+v", tested)
	}
	listed := dispatchtest.Call(t, robot, api.ListProviders, api.Empty{})
	if text := fmt.Sprintf("%+v", listed); strings.Contains(text, "secret-path") || strings.Contains(text, p.Version) || len(listed.SavedModels) > 0 {
		t.Errorf("a client without approve is shown %s", text)
	}
}

// TestChangesThatAreRefused say why.
func TestChangesThatAreRefused(t *testing.T) {
	k := serveKeyed(t, fmt.Sprintf(twoModels, "http://127.0.0.1:1/v1"), env(nil))
	local := k.Local()
	addProvider(t, local, "acme", "")
	m := addModel(t, local, "fast", "local", "fast-1") // of a provider of config.toml
	provider := func(name, version, kind string) api.SaveProviderRequest {
		return api.SaveProviderRequest{Name: name, Version: version, Type: kind}
	}
	for _, c := range []struct {
		request api.SaveProviderRequest
		kind    api.Kind
	}{
		{provider("local", "", "openai"), api.KindConflict}, // of config.toml
		{provider("acme", "", "openai"), api.KindConflict},
		{provider("acme", "old", "openai"), api.KindConflict},
		{provider("none", "old", "openai"), api.KindNotFound},
		{provider("a b", "", "openai"), api.KindBadRequest},
		{provider("ok", "", "mine"), api.KindBadRequest},
		{provider("ok", "", "demo"), api.KindBadRequest},
	} {
		dispatchtest.Refused(t, local, api.SaveProvider, c.request, c.kind)
	}
	dispatchtest.Refused(t, local, api.RemoveProvider, api.RemoveProviderRequest{Name: "local", Version: "x"}, api.KindConflict)
	dispatchtest.Refused(t, local, api.RemoveProvider, api.RemoveProviderRequest{Name: "none", Version: "x"}, api.KindNotFound)
	dispatchtest.Refused(t, local, api.RemoveProvider, api.RemoveProviderRequest{Name: "acme", Version: "x"}, api.KindConflict)
	for _, c := range []struct {
		name, version string
		draft         api.ModelDraft
		kind          api.Kind
	}{
		{"large", "", m.Model, api.KindConflict}, // of config.toml
		{"fast", "", m.Model, api.KindConflict},
		{"fast", "old", m.Model, api.KindConflict},
		{"none", "old", m.Model, api.KindNotFound},
		{"a/b", "", m.Model, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "none", ID: "x"}, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "acme", ID: "../any/path"}, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "acme", ID: "x?a=b#"}, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "acme", ID: "x", Thinking: "deep"}, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "acme", ID: "x", PriceInput: -1}, api.KindBadRequest},
		{"ok", "", api.ModelDraft{Provider: "acme", ID: "x", ContextWindow: 1, MaxTokens: 2}, api.KindBadRequest},
	} {
		dispatchtest.Refused(t, local, api.SaveModel, api.SaveModelRequest{Name: c.name, Version: c.version, Model: c.draft}, c.kind)
	}
	dispatchtest.Refused(t, local, api.RemoveModel, api.RemoveModelRequest{Name: "large", Version: "x"}, api.KindConflict)
	dispatchtest.Refused(t, local, api.RemoveModel, api.RemoveModelRequest{Name: "none", Version: "x"}, api.KindNotFound)
	dispatchtest.Refused(t, local, api.RemoveModel, api.RemoveModelRequest{Name: "fast", Version: "x"}, api.KindConflict)
	dispatchtest.Refused(t, local, api.SetDefaultModel, api.SetDefaultModelRequest{Name: "fast"}, api.KindConflict) // config.toml sets it
	dispatchtest.Refused(t, local, api.TestModel, api.TestModelRequest{Name: "none"}, api.KindNotFound)
}

// TestTheDefaultIsChosen, and given up again.
func TestTheDefaultIsChosen(t *testing.T) {
	const one = "[providers.local]\ntype = \"demo\"\n[models.large]\nprovider = \"local\"\nid = \"x\"\n"
	k := serveKeyed(t, one, env(nil))
	local := k.Local()
	m := addModel(t, local, "fast", "local", "fast-1")
	for _, c := range [][3]string{{"fast", "fast", api.FromRequests}, {"large", "large", api.FromRequests}, {"", "large", ""}, {"fast", "fast", api.FromRequests}} {
		got := dispatchtest.Call(t, local, api.SetDefaultModel, api.SetDefaultModelRequest{Name: c[0]})
		if got.Name != c[1] || got.Source != c[2] || k.models.Default() != c[1] {
			t.Errorf("%q: %+v", c[0], got)
		}
	}
	dispatchtest.Refused(t, local, api.SetDefaultModel, api.SetDefaultModelRequest{Name: "none"}, api.KindNotFound)
	dispatchtest.Call(t, local, api.RemoveModel, api.RemoveModelRequest{Name: "fast", Version: m.Version})
	if k.models.Default() != "large" {
		t.Errorf("without the chosen model the default is %q", k.models.Default())
	}
}
