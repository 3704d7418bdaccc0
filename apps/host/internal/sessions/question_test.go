package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// askTool asks what its arguments say, and answers with what came of it.
type askTool struct{}

func (askTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "ask", Description: "Asks.", Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (askTool) Risk() agent.Risk                      { return agent.RiskAlone }
func (askTool) Describe(agent.Call) agent.Description { return agent.Description{Title: "ask"} }
func (askTool) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args struct{ Server string }
	_ = json.Unmarshal(call.Arguments, &args) // without one the agent asks
	reply, err := call.Ask(ctx, agent.Question{Text: string(call.Arguments), Choices: []string{"a", "b"}, Server: args.Server})
	result := agent.Success(fmt.Sprintf("%s %q by %q, %v", reply.Outcome, reply.Answer, reply.By, err))
	if reply.Outcome == "" {
		result.Closing = "which?"
	}
	return result
}

func asking(t *testing.T, more ...modeltest.Step) *fixture {
	t.Helper()
	steps := append([]modeltest.Step{modeltest.Calls(modeltest.Call("q1", "ask", `{"n":1}`))}, more...)
	return newFixture(t, modeltest.New(append(steps, modeltest.Say("done"))...), askTool{}, echoTool{agent.RiskWrite})
}

// attendant is an entry with a person who may answer.
func attendant() *watcher {
	w := newWatcher()
	w.answers = api.AllGrants()
	return w
}

// asked begins a session whose turn waits for an answer.
func asked(t *testing.T, f *fixture, m *sessions.Manager) (*sessions.Session, *watcher, api.Question) {
	t.Helper()
	s, w := f.create(t, m), attendant()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	return s, w, question(w)
}

// question waits for one.
func question(w *watcher) api.Question {
	w.wait(func() bool { return len(w.live.Questions) == 1 })
	return read(w, func() api.Question { return w.live.Questions[0] })
}

func reply(t *testing.T, s *sessions.Session, client string, r api.AnswerQuestionRequest) api.AnswerQuestionResponse {
	t.Helper()
	response, err := s.AnswerQuestion(t.Context(), client, r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestFirstAnswerToAQuestionWins(t *testing.T) {
	f := asking(t)
	s, w, q := asked(t, f, f.manager(t))
	if summary, err := s.Summary(t.Context()); err != nil || !summary.WaitingAnswer || q.Question != `{"n":1}` || len(q.Choices) != 2 || q.Deadline != 0 {
		t.Fatalf("%+v, %+v, %v", summary, q, err)
	}
	const n = 8
	responses := make([]api.AnswerQuestionResponse, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			responses[i], _ = s.AnswerQuestion(t.Context(), fmt.Sprintf("cli_%d", i), api.AnswerQuestionRequest{QuestionID: q.ID, Answer: fmt.Sprintf(" %d ", i)})
		})
	}
	wg.Wait()
	winner := -1
	for i, r := range responses {
		if r.Won && winner >= 0 {
			t.Fatalf("%d and %d won", winner, i)
		}
		if r.Won {
			winner = i
		}
	}
	w.wait(func() bool { return w.ended == 1 })
	answer, by := fmt.Sprint(winner), fmt.Sprintf("cli_%d", winner)
	for _, r := range responses {
		if r.Answer != answer || r.AnsweredBy != by || r.Outcome != api.OutcomeAnswered {
			t.Errorf("one learned %+v, and %s won", r, by)
		}
	}
	if got := resultText(w, "q1"); got != fmt.Sprintf(`answered %q by %q, <nil>`, answer, by) {
		t.Errorf("the agent got %s", got)
	}
	// The same answer again, as after a lost reply, is no other one.
	if r := reply(t, s, by, api.AnswerQuestionRequest{QuestionID: q.ID, Answer: answer}); !r.Won {
		t.Errorf("sent again: %+v", r)
	}
	if r := reply(t, s, by, api.AnswerQuestionRequest{QuestionID: q.ID, Skip: true}); r.Won {
		t.Errorf("another answer of the same client: %+v", r)
	}
}

func TestRefusesBadAnswers(t *testing.T) {
	f := asking(t)
	s, w, q := asked(t, f, f.manager(t))
	for name, r := range map[string]api.AnswerQuestionRequest{
		"empty":         {QuestionID: q.ID, Answer: " \n"},
		"both":          {QuestionID: q.ID, Answer: "a", Skip: true},
		"too large":     {QuestionID: q.ID, Answer: string(make([]byte, api.MaxAnswer+1))},
		"not UTF-8":     {QuestionID: q.ID, Answer: "\xff"},
		"unknown":       {QuestionID: "qst_none", Answer: "a"},
		"of no session": {Answer: "a"},
	} {
		var refused *api.Error
		if _, err := s.AnswerQuestion(t.Context(), "cli_x", r); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := reply(t, s, "cli_x", api.AnswerQuestionRequest{QuestionID: q.ID, Skip: true}); !r.Won || r.Outcome != api.OutcomeSkipped {
		t.Fatalf("%+v", r)
	}
	w.wait(func() bool { return w.ended == 1 })
	if got := resultText(w, "q1"); got != `skipped "" by "cli_x", <nil>` {
		t.Errorf("the agent got %s", got)
	}
}

// A question that waits when the host ends, or is killed, waits after its next start
// under the same id, also if no one is there yet.
func TestQuestionSurvivesARestart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) {
			f := asking(t)
			f.deps.QuestionTimeout = time.Hour
			m := f.manager(t)
			_, _, before := asked(t, f, m)
			if killed { // what is on disk at this moment is all that the next host finds
				files := f.dir
				f.dir = t.TempDir()
				if err := os.CopyFS(f.dir, os.DirFS(files)); err != nil {
					t.Fatal(err)
				}
			} else if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = f.manager(t)
			s, w := open(t, m, m.List("")[0].ID), newWatcher()
			subscribe(t, s, w)
			after := question(w)
			if after.ID != before.ID || after.TurnID != before.TurnID || after.CreatedAt != before.CreatedAt || after.Deadline < before.Deadline {
				t.Fatalf("before %+v, after %+v", before, after)
			}
			w.wait(func() bool { return w.live.Unattended })
			if r := reply(t, s, "cli_y", api.AnswerQuestionRequest{QuestionID: after.ID, Answer: "b"}); !r.Won {
				t.Fatalf("%+v", r)
			}
			w.wait(func() bool { return w.ended == 1 })
			if got := resultText(w, "q1"); got != `answered "b" by "cli_y", <nil>` || read(w, func() bool { return w.live.Unattended }) {
				t.Fatalf("the agent got %s", got)
			}
		})
	}
}

// TestAServersCallIsNotMadeAgain: a question of an MCP server ends with its host, because the call
// had begun.
func TestAServersCallIsNotMadeAgain(t *testing.T) {
	for _, killed := range []bool{false, true} {
		f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("q1", "ask", `{"server":"docs"}`)), modeltest.Say("done")), askTool{})
		m := f.manager(t)
		_, _, before := asked(t, f, m)
		if before.Server != "docs" {
			t.Fatalf("people are asked %+v", before)
		}
		if killed { // what is on disk at this moment is all that the next host finds
			files := f.dir
			f.dir = t.TempDir()
			if err := os.CopyFS(f.dir, os.DirFS(files)); err != nil {
				t.Fatal(err)
			}
		} else if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = f.manager(t)
		s, w := open(t, m, m.List("")[0].ID), newWatcher()
		subscribe(t, s, w)
		if read(w, func() bool { return len(w.live.Questions) > 0 }) {
			t.Errorf("killed %t: it is asked again: %+v", killed, w.live)
		}
		if got := resultText(w, "q1"); got == "" {
			t.Errorf("killed %t: the call has no result", killed)
		}
	}
}

func TestQuestionTimesOut(t *testing.T) {
	f := asking(t)
	f.deps.QuestionTimeout = time.Millisecond
	m := f.manager(t)
	s, w := f.create(t, m), attendant()
	var ended []api.QuestionAnswered
	w.onEvent = func(e api.EventEnvelope) {
		if answered, ok := e.Event.(api.QuestionAnswered); ok {
			ended = append(ended, answered)
		}
	}
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	if got := resultText(w, "q1"); got != `timed_out "" by "host", <nil>` {
		t.Errorf("the agent got %s", got)
	}
	if len(ended) != 1 || ended[0].Outcome != api.OutcomeTimedOut {
		t.Fatalf("received: %+v", ended)
	}
	if r := reply(t, s, "cli_late", api.AnswerQuestionRequest{QuestionID: ended[0].QuestionID, Answer: "a"}); r.Won || r.Outcome != api.OutcomeTimedOut {
		t.Errorf("a late answer got %+v", r)
	}
}

func TestCancelEndsAQuestion(t *testing.T) {
	f := asking(t)
	s, w, q := asked(t, f, f.manager(t))
	if _, err := s.CancelTurn(t.Context(), q.TurnID); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 1 })
	results := 0
	for _, e := range read(w, func() []session.Entry { return w.entries }) {
		if e.Role() == session.RoleToolResult {
			results++
		}
	}
	if got := resultText(w, "q1"); got != `cancelled "" by "host", <nil>` || results != 1 {
		t.Fatalf("%d results, the agent got %s", results, got)
	}
	if r := reply(t, s, "cli_late", api.AnswerQuestionRequest{QuestionID: q.ID, Answer: "a"}); r.Won || r.Outcome != api.OutcomeCancelled {
		t.Errorf("a late answer got %+v", r)
	}
	send(t, s, "k2", "go on")
	w.wait(func() bool { return w.ended == 2 })
}

// If no one who may answer is there, the question is the end of the turn, and the next
// prompt its answer.
func TestNoOneToAsk(t *testing.T) {
	f := asking(t)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	w.answers = []api.Grant{api.GrantView, api.GrantApprove}
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	var last session.MessageEntry
	for _, e := range read(w, func() []session.Entry { return w.entries }) {
		if m, ok := e.AsMessage(); ok {
			last = m
		}
	}
	if last.Message.Role != session.RoleAssistant || last.Message.Content.Plain() != "which?" || last.Message.StopReason != session.StopEnd {
		t.Fatalf("the turn ends with %+v", last.Message)
	}
	if got := resultText(w, "q1"); got != ` "" by "", <nil>` {
		t.Errorf("the agent got %s", got)
	}
	send(t, s, "k2", "the first one")
	w.wait(func() bool { return w.ended == 2 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t) // nothing is taken up again
	if summary := m.List("")[0]; summary.Running || summary.WaitingAnswer {
		t.Errorf("%+v", summary)
	}
}

// TestAttendance: all clients learn whether someone who may answer is watching.
func TestAttendance(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), echoTool{agent.RiskWrite})
	m := f.manager(t)
	s, reader, _ := waiting(t, f, m)
	unattended := func(want bool) { reader.wait(func() bool { return reader.live.Unattended == want }) }
	unattended(true)
	prompter, person := newWatcher(), attendant()
	prompter.answers = []api.Grant{api.GrantView, api.GrantPrompt}
	subscribe(t, s, prompter)
	if !read(prompter, func() bool { return prompter.live.Unattended }) {
		t.Fatal("a prompt grant answered an approval")
	}
	subscribe(t, s, person)
	unattended(false)
	s.Unsubscribe(t.Context(), person)
	unattended(true)
	subscribe(t, s, person)
	answerWith(t, s, api.AnswerApprovalRequest{ApprovalID: person.live.Approvals[0].ID, Decision: api.DecisionAllow})
	reader.wait(func() bool { return reader.ended == 1 })
	if reader.live.Unattended {
		t.Fatal("nothing waits any more")
	}
}

// TestWhoSeesTheListIsThere: someone who sees in the list that a session waits can go and
// answer, so a question waits for them, with the grant that it needs.
func TestWhoSeesTheListIsThere(t *testing.T) {
	var list atomic.Pointer[[]api.Grant]
	sees := func(grants ...api.Grant) { list.Store(&grants) }
	sees(api.GrantView, api.GrantPrompt)
	f := asking(t)
	f.deps.Attended = func(_ string, grant api.Grant) bool { return slices.Contains(*list.Load(), grant) }
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher() // who watches may answer nothing
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Questions) == 1 })
	summary, err := s.Summary(t.Context()) // all that follows the question has been done then
	if err != nil || !summary.WaitingAnswer || read(w, func() bool { return w.live.Unattended }) {
		t.Fatalf("the question does not count as attended, or the list does not show it: %+v, %v", summary, err)
	}
	unattended := func(want bool) { w.wait(func() bool { return w.live.Unattended == want }) }
	sees(api.GrantView, api.GrantApprove)
	m.Attend()
	unattended(true)
	sees(api.AllGrants()...)
	m.Attend()
	unattended(false)
	id := read(w, func() string { return w.live.Questions[0].ID })
	if r, err := s.AnswerQuestion(t.Context(), "cli_y", api.AnswerQuestionRequest{QuestionID: id, Answer: "a"}); err != nil || !r.Won {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wait(func() bool { return w.ended == 1 })
}
