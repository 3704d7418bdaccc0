//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAForeignAgent: the example agent of another implementation works in a session of the real
// host. Its permission request is answered with an answer of its own, a second one is canceled,
// and the next prompt works.
func TestAForeignAgent(t *testing.T) {
	t.Parallel()
	agent := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.Command("go", "build", "-o", agent, "github.com/coder/acp-go-sdk/example/agent").CombinedOutput(); err != nil {
		t.Fatalf("building the agent: %v %s", err, out)
	}
	w := newWorld(t)
	w.stopHost()
	config := fmt.Sprintf("[backends.example]\ntype = \"acp\"\ncommand = %q\n", agent)
	if err := os.WriteFile(filepath.Join(w.home, "scorel", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w.startHost(t, w.relay.URL)
	events := make(chan api.Event, 1024)
	transport, err := client.DialDirect(t.Context(), w.host.State().Addr, w.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, func(e api.EventEnvelope) { events <- e.Event })
	t.Cleanup(func() { _ = c.Close() })
	id := ask(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: "k", Backend: "example"}).Session.ID
	ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})

	send := func(key string) api.Approval {
		t.Helper()
		ask(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: key, Text: "go"})
		return next[api.ApprovalRequested](t, events).Approval
	}
	approval := send("one")
	want := []api.ApprovalChoice{
		{Decision: api.Choice(0), Name: "Allow this change", Kind: "allow_once"}, {Decision: api.Choice(1), Name: "Skip this change", Kind: "reject_once"},
	}
	if !slices.Equal(approval.Choices, want) {
		t.Errorf("the answers are %+v", approval.Choices)
	}
	ask(t, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: id, ApprovalID: approval.ID, Decision: api.Choice(1)})
	if ended := next[api.TurnEnded](t, events); ended.StopReason != session.StopEnd {
		t.Errorf("%+v", ended)
	}
	approval = send("two")
	ask(t, c, api.CancelTurn, api.CancelTurnRequest{SessionID: id, TurnID: approval.TurnID})
	if ended := next[api.TurnEnded](t, events); ended.TurnID != approval.TurnID || ended.StopReason != session.StopAborted {
		t.Errorf("%+v", ended)
	}
	approval = send("three")
	ask(t, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: id, ApprovalID: approval.ID, Decision: api.Choice(0)})
	next[api.TurnEnded](t, events)

	var said strings.Builder
	results := 0
	for _, entry := range ask(t, c, api.GetEntries, api.GetEntriesRequest{SessionID: id}).Entries {
		m, ok := entry.AsMessage()
		switch {
		case ok && m.Message.Role == session.RoleAssistant:
			said.WriteString(m.Message.Content.Plain())
		case ok && m.Message.Role == session.RoleToolResult:
			results++
		}
	}
	for _, text := range []string{"I'll skip the configuration update.", "I've successfully updated the configuration."} {
		if strings.Count(said.String(), text) != 1 {
			t.Errorf("%q is not said once in %q", text, said.String())
		}
	}
	if results != 6 {
		t.Errorf("six calls have %d results", results)
	}
}

// next returns the next event of a type.
func next[E api.Event](t *testing.T, events <-chan api.Event) E {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case e := <-events:
			if found, ok := e.(E); ok {
				return found
			}
		case <-late:
			t.Fatalf("no %T came", *new(E))
		}
	}
}
