package host_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestASessionUsesSavedModels: over HTTP a provider is added to a running host, and a session
// follows each change of its model, without a restart. The next host has it too.
func TestASessionUsesSavedModels(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("first"), modeltest.Say("second"), modeltest.Say("third"))
	t.Cleanup(server.Close)
	server.Demand("", "one", "two")
	home, folder := t.TempDir(), t.TempDir()
	h, ended := run(t, host.Config{Home: home, Projects: []string{folder}, Getenv: func(string) string { return "" }})
	e := newHTTPEntry(t, h, h.State().Token)
	ask[api.ProviderResponse](e, "/v1/save_provider", api.SaveProviderRequest{Name: "acme", Type: "openai", BaseURL: server.URL + "/v1"})
	saved := ask[api.SavedModelResponse](e, "/v1/save_model", api.SaveModelRequest{Name: "main", Model: api.ModelDraft{Provider: "acme", ID: "one"}}).Model

	sessionID := sessionOf(t, e)
	const path = "/v1/send_prompt?wait=turn"
	if first := ask[api.TurnAnswer](e, path, prompt(sessionID, "1", "hi")); first.Turn.Text != "first" {
		t.Fatalf("got %+v", first.Turn)
	}
	draft := saved.Model
	draft.ID, draft.PriceInput = "two", 1
	ask[api.SavedModelResponse](e, "/v1/save_model", api.SaveModelRequest{Name: "main", Version: saved.Version, Model: draft})
	if second := ask[api.TurnAnswer](e, path, prompt(sessionID, "2", "hi")); second.Turn.Text != "second" {
		t.Fatalf("got %+v", second.Turn)
	}
	c := dial(t, h, nil)
	listed := call(t, c, api.ListSessions, api.ListSessionsRequest{}).Sessions
	if len(listed) != 1 || listed[0].Model != "main" || listed[0].Usage.Cost <= 0 {
		t.Errorf("the new price does not count: %+v", listed)
	}
	ask[api.Empty](e, "/v1/stop_host", api.Empty{})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	again := start(t, host.Config{Home: home, Getenv: func(string) string { return "" }})
	e = newHTTPEntry(t, again, again.State().Token)
	if third := ask[api.TurnAnswer](e, path, prompt(sessionID, "3", "hi")); third.Turn.Text != "third" {
		t.Errorf("after a restart: %+v", third.Turn)
	}
}
