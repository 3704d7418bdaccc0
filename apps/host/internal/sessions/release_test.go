package sessions_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAlwaysReleases: a rule that is kept allows what waits in other sessions of the
// project too, and nothing in those of another.
func TestAlwaysReleases(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}}
	f := newFixture(t, modeltest.New(
		modeltest.Calls(modeltest.Call("c1", "echo", `{"n":1}`)),
		modeltest.Calls(modeltest.Call("c2", "echo", `{"n":2}`)),
		modeltest.Calls(modeltest.Call("c3", "echo", `{"n":3}`)),
		modeltest.Say("done"), modeltest.Say("done")), tool)
	f.deps.Permissions = &allowed{}
	m := f.manager(t)
	other := f.project
	other.ID, other.Path = "prj_2", t.TempDir()
	var watchers []*watcher
	var first api.Approval
	var ask func(api.AnswerApprovalRequest) api.AnswerApprovalResponse
	for i, project := range []api.Project{f.project, f.project, other} {
		summary, err := m.Create(t.Context(), project, "cli_x", api.CreateSessionRequest{ClientKey: "key-" + string(rune('a'+i))})
		if err != nil {
			t.Fatal(err)
		}
		s, w := open(t, m, summary.ID), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k1", "go")
		w.wait(func() bool { return len(w.live.Approvals) == 1 })
		if i == 0 {
			first = w.live.Approvals[0]
			ask = func(r api.AnswerApprovalRequest) api.AnswerApprovalResponse { return answerWith(t, s, r) }
		}
		watchers = append(watchers, w)
	}
	var told api.ApprovalResolved
	watchers[1].mu.Lock()
	watchers[1].onEvent = func(e api.EventEnvelope) {
		if resolved, ok := e.Event.(api.ApprovalResolved); ok {
			told = resolved
		}
	}
	watchers[1].mu.Unlock()
	if r := ask(api.AnswerApprovalRequest{ApprovalID: first.ID, Decision: api.DecisionAlways}); !r.Won {
		t.Fatalf("%+v", r)
	}
	for _, w := range watchers[:2] {
		w.wait(func() bool { return w.ended == 1 })
	}
	if tool.count() != 2 || told.Decision != api.DecisionAllow || told.DecidedBy != "cli_x" || told.Released == nil || !slices.Equal(told.Released.Rules, []string{"echo"}) {
		t.Fatalf("%d runs, announced %+v", tool.count(), told)
	}
	if kept := lastDecision(watchers[1]); kept.Released == nil || !slices.Equal(kept.Released.Rules, []string{"echo"}) || kept.Released.Mode != "" {
		t.Fatalf("kept %+v", kept)
	}
	if kept := lastDecision(watchers[0]); kept.Released != nil || kept.Decision != string(api.DecisionAlways) {
		t.Fatalf("an answer was kept as %+v", kept)
	}
	if n := read(watchers[2], func() int { return len(watchers[2].live.Approvals) }); n != 1 {
		t.Fatalf("%d approvals wait in the other project", n)
	}
}

// lastDecision is what the log says of the last approval that was decided.
func lastDecision(w *watcher) session.ApprovalRecord {
	return read(w, func() (last session.ApprovalRecord) {
		for _, e := range w.entries {
			if r, ok := approvalRecord(e); ok && r.Decision != "" {
				last = r
			}
		}
		return last
	})
}

func approvalRecord(e session.Entry) (record session.ApprovalRecord, ok bool) {
	custom, ok := e.AsCustom()
	return record, ok && custom.CustomType == session.CustomApproval && json.Unmarshal(custom.Data, &record) == nil
}

// TestSameAnswerAgain: an answer whose reply was lost is sent again.
func TestSameAnswerAgain(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), echoTool{agent.RiskWrite})
	s, w, approval := waiting(t, f, f.manager(t))
	given := api.AnswerApprovalRequest{ApprovalID: approval.ID, Decision: api.DecisionDeny, Feedback: "no"}
	for range 2 {
		if r := answerWith(t, s, given); !r.Won {
			t.Fatalf("%+v", r)
		}
	}
	w.wait(func() bool { return w.ended == 1 })
	if r := answerWith(t, s, given); !r.Won {
		t.Errorf("after the turn: %+v", r)
	}
	for name, r := range map[string]api.AnswerApprovalRequest{
		"another decision": {ApprovalID: approval.ID, Decision: api.DecisionAllow},
		"another word":     {ApprovalID: approval.ID, Decision: api.DecisionDeny, Feedback: "never"},
	} {
		if got := answerWith(t, s, r); got.Won || got.Decision != api.DecisionDeny {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if r, err := s.AnswerApproval(t.Context(), "cli_other", given); err != nil || r.Won || r.DecidedBy != "cli_x" {
		t.Errorf("another client: %+v, %v", r, err)
	}
}

func TestAllowAllAsksNoOne(t *testing.T) {
	f := newFixture(t, modeltest.New(
		modeltest.Calls(modeltest.Call("c1", "echo", `{"a":1}`)), modeltest.Say("done"),
		modeltest.Calls(modeltest.Call("c2", "echo", `{"a":2}`))), echoTool{agent.RiskWrite})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	if _, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k1", Text: "go", AllowAll: true}); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 1 })
	send(t, s, "k2", "once more") // the allowance was for one prompt
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
}
