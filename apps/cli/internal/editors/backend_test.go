package editors_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// commands returns the names of the commands that were sent last. e.mu is held.
func (e *editor) commands() (names []string) {
	for _, u := range slices.Backward(e.updates) {
		if u.AvailableCommandsUpdate == nil {
			continue
		}
		for _, c := range u.AvailableCommandsUpdate.AvailableCommands {
			names = append(names, c.Name)
		}
		break
	}
	return names
}

// TestCommandsOfAnotherAgent: the editor is offered the commands of the program that works in the
// session, and those of scorel's own agent when that works again.
func TestCommandsOfAnotherAgent(t *testing.T) {
	w := newWorld(t, hosttest.FakeBackend(os.Args[0]))
	e := w.open()
	id := e.begin(w.folder)
	choose := func(backend string) {
		t.Helper()
		if _, err := client.Call(t.Context(), w.local, api.SetBackend, api.SetBackendRequest{SessionID: string(id), Backend: backend}); err != nil {
			t.Fatal(err)
		}
	}
	offered := func(name string) {
		t.Helper()
		e.await("the command "+name, func() bool { return slices.Equal(e.commands(), []string{name}) })
	}
	offered("compact")
	choose("fake")
	e.prompt(id, sdk.TextBlock(`update {"sessionUpdate":"available_commands_update","availableCommands":[{"name":"review","description":"Review","input":{"hint":"number"}}]}`))
	offered("review")
	state, err := e.conn.SetSessionConfigOption(t.Context(), sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
		SessionId: id, ConfigId: "agent.model", Value: "large",
	}})
	if err != nil || len(state.ConfigOptions) != 4 || state.ConfigOptions[2].Select == nil || state.ConfigOptions[2].Select.CurrentValue != "large" {
		t.Errorf("%+v %v", state, err)
	}
	e.prompt(id, sdk.TextBlock("mode"))
	if said := e.said(); !strings.Contains(said, "model=large") {
		t.Errorf("said %q", said)
	}
	other := w.open()
	if _, err := other.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: w.folder, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	other.await("the commands after a load", func() bool { return slices.Equal(other.commands(), []string{"review"}) })
	choose(api.OwnBackend)
	offered("compact")
}

// useFake has the fake agent work in a session.
func (w *world) useFake(id sdk.SessionId) {
	w.t.Helper()
	if _, err := client.Call(w.t.Context(), w.local, api.SetBackend, api.SetBackendRequest{SessionID: string(id), Backend: "fake"}); err != nil {
		w.t.Fatal(err)
	}
}

// TestAnEditorAllowsWhatAnotherAgentAsks: its request has the agent's own answers, and the agent
// gets the one that the person chose.
func TestAnEditorAllowsWhatAnotherAgentAsks(t *testing.T) {
	w := newWorld(t, hosttest.FakeBackend(os.Args[0]))
	e := w.open()
	id := e.begin(w.folder)
	w.useFake(id)
	e.prompt(id, sdk.TextBlock("call c1 execute make test\nask c1\ndone c1 ok"))
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 {
		t.Fatalf("%+v", e.asked)
	}
	var offered []string
	for _, o := range e.asked[0].Options {
		offered = append(offered, string(o.OptionId)+" "+o.Name+" "+string(o.Kind))
	}
	want := []string{
		"choice:1 Yes, just this time allow_once", "choice:2 Yes, and don't ask again for commands that start with `make` allow_always",
		"choice:3 No, tell the agent what to do instead reject_once", "stop Deny and stop reject_once",
	}
	if !slices.Equal(offered, want) {
		t.Errorf("offered %q", offered)
	}
	if said := e.text(); !strings.Contains(said, "chose selected opt-once") {
		t.Errorf("said %q", said)
	}
}
