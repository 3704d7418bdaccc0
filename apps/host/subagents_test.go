package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// crewHost is a host whose model gives two tasks to other agents, one after another.
func subagentHost(t *testing.T) *host.Host {
	t.Helper()
	const tasks = `{"tasks":[{"agent":"explore","title":"the first","prompt":"look here"},{"agent":"general","prompt":"look there"}]}`
	provider := modeltest.Serve(
		modeltest.Calls(modeltest.Call("c1", "delegate_parallel", tasks)),
		modeltest.Calls(modeltest.Call("x1", "list_dir", `{}`)), modeltest.Say("nothing is here"),
		modeltest.Say("nothing is there"), modeltest.Say("all is looked at"))
	t.Cleanup(provider.Close)
	home := t.TempDir()
	config := fmt.Sprintf("[providers.p]\ntype = \"openai\"\nbase_url = %q\n[models.m]\nprovider = \"p\"\nid = \"m\"\n[crew]\nmax_concurrent = 1\n", provider.URL+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, host.Config{Home: home, Projects: []string{t.TempDir()}})
}

// told is what matters of an entry, whichever connection it was made over.
func told(t *testing.T, entries []session.Entry) (lines, children []string) {
	t.Helper()
	for _, entry := range entries {
		line := strings.TrimSpace(fmt.Sprint(entry.Type, " ", entry.CustomType, " ", entry.Role()))
		if m, ok := entry.AsMessage(); ok {
			line += " " + m.Message.Content.Plain()
		}
		var subagents session.SubagentRecord
		if custom, ok := entry.AsCustom(); ok && custom.CustomType == session.CustomSubagents {
			if err := json.Unmarshal(custom.Data, &subagents); err != nil {
				t.Fatal(err)
			}
			children = nil
			for _, member := range subagents.Members {
				line += fmt.Sprintf(" %s/%s/%s", member.Agent, member.Title, member.State)
				children = append(children, member.SessionID)
			}
		}
		lines = append(lines, line)
	}
	return lines, children
}

// TestDelegationIsTheSameOverHTTPAndWebSocket: both run the same agents, and the logs
// say the same.
func TestDelegationIsTheSameOverHTTPAndWebSocket(t *testing.T) {
	logs := func(h *host.Host, sessionID string) (all [][]string) {
		c := dial(t, h, nil)
		ids := []string{sessionID}
		for i := 0; i < len(ids); i++ {
			entries := call(t, c, api.GetEntries, api.GetEntriesRequest{SessionID: ids[i]}).Entries
			lines, children := told(t, entries)
			all, ids = append(all, lines), append(ids, children...)
		}
		return all
	}
	overHTTP := subagentHost(t)
	e := newHTTPEntry(t, overHTTP, overHTTP.State().Token)
	sessionID := sessionOf(t, e)
	answer := ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "k", "look"))
	if answer.Turn.Text != "all is looked at" {
		t.Fatalf("the turn ended with %+v", answer.Turn)
	}
	byHTTP := logs(overHTTP, sessionID)

	overSocket := subagentHost(t)
	ended := make(chan struct{})
	c := dial(t, overSocket, func(event api.EventEnvelope) {
		if _, ok := event.Event.(api.TurnEnded); ok {
			close(ended)
		}
	})
	project := call(t, c, api.ListProjects, api.Empty{}).Projects[0]
	made := call(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "s"}).Session
	call(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: made.ID})
	call(t, c, api.SendPrompt, prompt(made.ID, "k", "look"))
	<-ended
	bySocket := logs(overSocket, made.ID)

	// The folders differ, and so does what list_dir shows of them: nothing.
	if len(byHTTP) != 3 || !reflect.DeepEqual(byHTTP, bySocket) {
		t.Errorf("over HTTP:\n%q\nover a WebSocket:\n%q", byHTTP, bySocket)
	}
	top := call(t, c, api.ListSessions, api.ListSessionsRequest{}).Sessions
	all := call(t, c, api.ListSessions, api.ListSessionsRequest{All: true}).Sessions
	if len(top) != 1 || len(all) != 3 {
		t.Errorf("%d sessions are listed, %d in all", len(top), len(all))
	}
}
