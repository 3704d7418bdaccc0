//go:build unix

package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// equalsFresh compares what was put together over all lives with a fresh load.
func (w *witness) equalsFresh(h *host.Host) {
	w.t.Helper()
	fresh := call(w.t, dial(w.t, h, nil), api.ResyncEvents, api.ResyncEventsRequest{SessionID: w.sessionID})
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.entries) != len(fresh.Entries) {
		w.t.Errorf("%d entries, a fresh load has %d", len(w.entries), len(fresh.Entries))
	}
	for i, e := range fresh.Entries[:min(len(w.entries), len(fresh.Entries))] {
		if !sameLine(e, w.entries[i]) {
			w.t.Fatalf("entry %d is\n%s\na fresh load has\n%s", i, w.entries[i].Raw, e.Raw)
		}
	}
}

// checkFile reads the session, and those of its agents, as another program would.
func (w *witness) checkFile(home string) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		w.t.Fatalf("session files: %v %v", paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		f, err := session.ReadFile(data)
		if err != nil || len(f.Damage) > 0 || f.Tree.CheckPath(f.Tree.Leaf()) != nil {
			w.t.Errorf("the file reads as %+v, %v", f.Damage, err)
		}
		if p := proof.Check(data); !p.Holds && len(f.Tree.Entries()) > 0 { // a header alone has nothing to chain
			w.t.Errorf("the chain does not hold: %+v", p.Problems)
		}
	}
}

// commandsRun counts the tags that commands wrote.
func commandsRun(t *testing.T, project string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, "ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, tag := range strings.Fields(string(data)) {
		ran[tag]++
	}
	return ran
}

// account is what a log says of its prompts, turns and calls.
type account struct {
	t       *testing.T
	prompts map[string]string // text by clientKey
	calls   map[string]int
	results map[string]string
	turn    string // clientKey of the prompt of the last turn
	ends    int    // of that turn
	broken  bool   // its last message is an error, or was canceled
}

func (w *witness) account() *account { return accountOf(w.t, w.entries) }

func accountOf(t *testing.T, entries []session.Entry) *account {
	a := &account{t: t, prompts: map[string]string{}, calls: map[string]int{}, results: map[string]string{}}
	for _, e := range entries {
		if e.CustomType == session.CustomTurn {
			a.ends++
		}
		if read.Waking(e) { // a turn without a prompt
			a.endTurn()
			a.turn = ""
		}
		if m, ok := e.AsMessage(); ok {
			a.message(m)
		}
	}
	a.endTurn()
	return a
}

func (a *account) message(m session.MessageEntry) {
	for _, c := range m.Message.Content.ToolCalls() {
		a.calls[c.ID]++
	}
	switch m.Message.Role {
	case session.RoleUser:
		if _, twice := a.prompts[m.ClientKey]; twice {
			a.t.Errorf("the prompt %s is in the log twice", m.ClientKey)
		}
		a.prompts[m.ClientKey] = m.Message.Content.Plain()
		if !m.Steer {
			a.endTurn()
			a.turn, a.ends, a.broken = m.ClientKey, 0, false
		}
	case session.RoleToolResult:
		if _, twice := a.results[m.Message.ToolCallID]; twice {
			a.t.Errorf("the call %s has two results", m.Message.ToolCallID)
		}
		a.results[m.Message.ToolCallID] = m.Message.Content.Plain()
	case session.RoleAssistant:
		calls := len(m.Message.Content.ToolCalls()) > 0
		a.broken = m.Message.StopReason == session.StopError || m.Message.StopReason == session.StopAborted
		if !calls && !a.broken {
			a.ends++
		}
	}
}

// endTurn counts how the last turn ended. An error or a cancel has a record behind
// its message, which a crash may have kept away.
func (a *account) endTurn() {
	if a.turn != "" && a.ends != 1 && !(a.ends == 0 && a.broken) {
		a.t.Errorf("the turn of %s has %d ends in the log", a.turn, a.ends)
	}
}

// checkLog looks for what is missing or there twice. ran counts the commands that
// ran, by the ids of their calls.
func (w *witness) checkLog(ran map[string]int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.account()
	for _, request := range w.sent {
		text, ok := a.prompts[request.ClientKey]
		if want := promptText(request); !ok || text != want && text != "edited" || w.edited && request.ClientKey == "f2" && text != "edited" {
			w.t.Errorf("the prompt %s is %.40q in the log, want %.40q", request.ClientKey, text, want)
		}
		if n := w.ended[request.ClientKey]; n > 1 {
			w.t.Errorf("the prompt %s had %d turn_ended", request.ClientKey, n)
		}
	}
	a.checkAnswers(w.entries)
	a.checkDenials(w.entries)
	a.checkCalls(ran)
}

// checkAnswers looks for answers of people that are in the log and did not reach the agent.
func (a *account) checkAnswers(entries []session.Entry) {
	a.t.Helper()
	for _, record := range customsOf[session.QuestionRecord](a.t, entries, session.CustomQuestion) {
		if result := a.results[record.ToolCallID]; !strings.Contains(result, record.Answer) {
			a.t.Errorf("the question of %s was answered with %q, and its result is %q", record.ToolCallID, record.Answer, result)
		}
	}
}

// checkDenials looks for words of people with a denial that did not reach the agent.
func (a *account) checkDenials(entries []session.Entry) {
	a.t.Helper()
	for _, record := range customsOf[session.ApprovalRecord](a.t, entries, session.CustomApproval) {
		if result := a.results[record.ToolCallID]; !strings.Contains(result, record.Feedback) {
			a.t.Errorf("the call %s was denied with %q, and its result is %q", record.ToolCallID, record.Feedback, result)
		}
	}
}

// customsOf decodes the entries of one kind.
func customsOf[T any](t *testing.T, entries []session.Entry, kind string) (records []T) {
	t.Helper()
	for _, entry := range entries {
		custom, ok := entry.AsCustom()
		if !ok || custom.CustomType != kind {
			continue
		}
		var record T
		if err := json.Unmarshal(custom.Data, &record); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

// checkCalls looks for calls and commands without a result or made twice.
func (a *account) checkCalls(ran map[string]int) {
	a.t.Helper()
	if len(a.calls) != len(a.results) {
		a.t.Errorf("%d calls have %d results", len(a.calls), len(a.results))
	}
	for id, n := range a.calls {
		result, ok := a.results[id]
		switch {
		case n != 1 || !ok:
			a.t.Errorf("the call %s was made %d times, and has a result: %v", id, n, ok)
		case ran[id] > 1:
			a.t.Errorf("the command of %s ran %d times", id, ran[id])
		case ran[id] == 1 && (result == agent.TextNotStarted || strings.HasPrefix(result, "Denied")):
			a.t.Errorf("the command of %s ran, and its result is %q", id, result)
		}
	}
}
