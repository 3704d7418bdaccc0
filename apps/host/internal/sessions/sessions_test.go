package sessions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// oneModel is a configuration with one model.
type oneModel struct{ model agent.Model }

func (m oneModel) Model(name string) (agent.Model, api.Model, error) {
	if name != "main" {
		return nil, api.Model{}, api.Errorf(api.KindUnknownModel, "no model %s", name)
	}
	return m.model, api.Model{Name: "main", Provider: "test", ID: "test-1"}, nil
}
func (oneModel) Find(string, string) string { return "main" }
func (oneModel) Default() string            { return "main" }

// echoTool answers with its arguments; as a writer it asks first.
type echoTool struct{ risk agent.Risk }

func (echoTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "echo", Description: "Answers with its arguments.", Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (t echoTool) Risk() agent.Risk                    { return t.risk }
func (echoTool) Describe(agent.Call) agent.Description { return agent.Description{Title: "echo"} }
func (echoTool) Run(_ context.Context, call agent.Call, progress func(string)) agent.Result {
	progress("working")
	return agent.Result{Content: session.Content{session.Text(string(call.Arguments))}}
}

// watcher is an entry: it projects the events that it receives.
type watcher struct {
	mu      sync.Mutex
	cond    *sync.Cond
	entries []session.Entry
	before  uint64 // for get_entries: what lies before entries
	live    api.Live
	anchors api.Anchors
	ended   int
	onEvent func(api.EventEnvelope)
	answers []api.Grant // with which it can answer
}

func newWatcher() *watcher {
	w := &watcher{live: api.NewLive()}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (*watcher) Away() bool { return false }

func (*watcher) May(api.Grant) bool { return true }

func (w *watcher) Deliver(envelope api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apply(envelope)
	if w.onEvent != nil {
		w.onEvent(envelope)
	}
	w.cond.Broadcast()
}

func (w *watcher) apply(envelope api.EventEnvelope) {
	if envelope.Seq != w.anchors.StreamLastSeq+1 {
		panic(fmt.Sprintf("event %d follows %d", envelope.Seq, w.anchors.StreamLastSeq))
	}
	w.anchors.StreamLastSeq = envelope.Seq
	w.live.Apply(envelope.Event)
	switch event := envelope.Event.(type) {
	case api.EntryAppended:
		w.entries = append(w.entries, event.Entry)
		w.anchors.PersistentLastSeq = envelope.Seq
	case api.TurnEnded:
		w.ended++
	}
}

// take applies the answer to resync_events.
func (w *watcher) take(r api.ResyncEventsResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Mode {
	case api.ResyncStream:
		for _, envelope := range r.Events {
			w.apply(envelope)
		}
	case api.ResyncPersistent:
		w.entries = append(w.entries, r.Entries...)
	case api.ResyncFull:
		w.entries, w.before = append([]session.Entry{}, r.Entries...), r.Before
	}
	w.live, w.anchors = r.Live, r.Anchors
	w.cond.Broadcast()
}

func (w *watcher) wait(until func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !until() {
		w.cond.Wait()
	}
}

// read gives a value out of a watcher that events still reach.
func read[T any](w *watcher, get func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return get()
}

type fixture struct {
	dir     string
	project api.Project
	deps    sessions.Deps
}

func newFixture(t testing.TB, model agent.Model, tools ...agent.Tool) *fixture {
	t.Helper()
	return &fixture{
		dir:     t.TempDir(),
		project: api.Project{ID: "prj_1", Name: "demo", Path: t.TempDir()},
		deps: sessions.Deps{
			Logger: slog.New(slog.DiscardHandler), Models: oneModel{model}, Tools: func(string) agent.Toolset { return agent.Fixed{List: tools} },
			System: func([]agent.Tool, string, agent.ProjectContext) string { return "system" }, OnSummary: func(api.SessionSummary) {}, OnDelete: func(string, string) {},
			Summaries: sessions.Summaries{Model: modeltest.New()}, // it fails: summaries are extracted
		},
	}
}

func (f *fixture) manager(t testing.TB) *sessions.Manager {
	t.Helper()
	m, err := sessions.NewManager(t.Context(), file.New(f.dir, f.deps.Logger), f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (f *fixture) create(t *testing.T, m *sessions.Manager) *sessions.Session {
	t.Helper()
	summary, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: "key-" + t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, m, summary.ID)
}

func open(t testing.TB, m *sessions.Manager, id string) *sessions.Session {
	t.Helper()
	s, err := m.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) file(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("session files: %v %v", files, err)
	}
	return files[0]
}

func subscribe(t *testing.T, s *sessions.Session, w *watcher) api.ResyncMode {
	t.Helper()
	var mode api.ResyncMode
	w.mu.Lock()
	from := w.anchors
	w.mu.Unlock()
	err := s.Resync(t.Context(), from, w, w.answers, func(r api.ResyncEventsResponse) { mode = r.Mode; w.take(r) })
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

func send(t testing.TB, s *sessions.Session, key, text string) api.SendPromptResponse {
	t.Helper()
	response, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: key, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestPromptIsTakenOnceAndKept(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("hello"), modeltest.Say("again")))
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	first := send(t, s, "k1", "hi")
	second := send(t, s, "k1", "hi")
	if first.State != api.PromptTaken || second != first {
		t.Fatalf("a retry changed something: %+v, then %+v", first, second)
	}
	w.wait(func() bool { return w.ended == 1 })
	if third := send(t, s, "k1", "hi"); third != first {
		t.Fatalf("a late retry changed something: %+v", third)
	}
	data, err := os.ReadFile(f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), `"clientKey":"k1"`); got != 1 {
		t.Fatalf("the prompt is %d times in the file", got)
	}
	if !strings.Contains(string(data), `"clientId":"cli_x"`) || !strings.Contains(string(data), `"text":"hello"`) {
		t.Fatalf("the file lacks the client id or the answer:\n%s", data)
	}
}

func TestQueuedPromptsSurviveARestart(t *testing.T) {
	stall := modeltest.New(modeltest.Step{Content: session.Content{session.Text("part")}, Stall: true})
	f := newFixture(t, stall)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "first")
	for i := range 3 {
		if got := send(t, s, fmt.Sprintf("q%d", i), "later"); got.State != api.PromptQueued {
			t.Fatalf("got %+v, want queued", got)
		}
	}
	w.wait(func() bool { return len(w.live.Partial) > 0 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	answers := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	f.deps.Models = oneModel{answers}
	m = f.manager(t)
	id := m.List("")[0].ID
	s, w = open(t, m, id), newWatcher()
	subscribe(t, s, w)
	w.wait(func() bool { return w.live.Turn == nil && len(w.live.Queue) == 0 })
	var prompts []string
	for _, entry := range w.entries {
		if message, ok := entry.AsMessage(); ok && message.Message.Role == session.RoleUser {
			prompts = append(prompts, message.ClientKey)
		}
	}
	if got := strings.Join(prompts, " "); got != "k1 q0 q1 q2" {
		t.Fatalf("prompts in the log: %s", got)
	}
}

func TestCancelKeepsThePartialText(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Step{Content: session.Content{session.Text("half an answer")}, Stall: true}))
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Partial) > 0 && w.live.Partial[0].Text == "half an answer" })
	turnID := read(w, func() string { return w.live.Turn.TurnID })
	if ok, err := s.CancelTurn(t.Context(), "turn_other"); ok || err != nil {
		t.Fatalf("another turn was canceled: %v %v", ok, err)
	}
	if ok, err := s.CancelTurn(t.Context(), turnID); !ok || err != nil {
		t.Fatalf("cancel: %v %v", ok, err)
	}
	w.wait(func() bool { return w.ended == 1 })
	last, _ := lastMessage(w)
	if last.StopReason != session.StopAborted || last.Content.Plain() != "half an answer" {
		t.Fatalf("the last message is %+v", last)
	}
}

func lastMessage(w *watcher) (session.Message, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.entries) - 1; i >= 0; i-- {
		if m, ok := w.entries[i].AsMessage(); ok {
			return m.Message, true
		}
	}
	return session.Message{}, false
}

func TestFirstAnswerToAnApprovalWins(t *testing.T) {
	f := newFixture(t, modeltest.New(
		modeltest.Calls(modeltest.Call("c1", "echo", `{"a":1}`)), modeltest.Say("done")), echoTool{agent.RiskWrite})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	id := read(w, func() string { return w.live.Approvals[0].ID })
	const n = 8
	var wg sync.WaitGroup
	won := make([]bool, n)
	for i := range n {
		wg.Go(func() {
			decision := []api.Decision{api.DecisionAllow, api.DecisionDeny}[i%2]
			r, err := s.AnswerApproval(t.Context(), fmt.Sprintf("cli_%d", i), api.AnswerApprovalRequest{ApprovalID: id, Decision: decision})
			won[i] = err == nil && r.Won
		})
	}
	wg.Wait()
	winners := 0
	for _, ok := range won {
		if ok {
			winners++
		}
	}
	if winners != 1 {
		t.Fatalf("%d answers won", winners)
	}
	w.wait(func() bool { return w.ended == 1 })
	if _, err := s.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{ApprovalID: "apr_none", Decision: api.DecisionAllow}); err == nil {
		t.Fatal("an approval that never was could be answered")
	}
}

func TestCancelAnswersAnApproval(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`))), echoTool{agent.RiskWrite})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	w.wait(func() bool { return len(w.live.Approvals) == 1 })
	approval := read(w, func() api.Approval { return w.live.Approvals[0] })
	if _, err := s.CancelTurn(t.Context(), approval.TurnID); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 1 })
	r, err := s.AnswerApproval(t.Context(), "cli_late", api.AnswerApprovalRequest{ApprovalID: approval.ID, Decision: api.DecisionAllow})
	if err != nil || r.Won || r.Decision != api.DecisionCancelled {
		t.Fatalf("a late answer got %+v, %v", r, err)
	}
}

func TestRefusesBadPrompts(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	s := f.create(t, m)
	for name, r := range map[string]api.SendPromptRequest{
		"no key":    {Text: "x"},
		"long key":  {Text: "x", ClientKey: strings.Repeat("k", 65)},
		"empty":     {Text: " \n", ClientKey: "k"},
		"too large": {Text: strings.Repeat("x", api.MaxPrompt+1), ClientKey: "k"},
		"not UTF-8": {Text: "\xff", ClientKey: "k"},
	} {
		if _, err := s.SendPrompt(t.Context(), "cli_x", r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := s.SetModel(t.Context(), "cli_x", "nope"); err == nil {
		t.Error("an unknown model was accepted")
	}
	if _, err := m.Open("../../etc/passwd"); err == nil {
		t.Error("an id with dots was opened")
	}
}

func TestCreateIsIdempotent(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	a, b := f.create(t, m), f.create(t, m)
	if a != b || len(m.List("")) != 1 {
		t.Fatal("the same key made two sessions")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t)
	f.create(t, m)
	if n := len(m.List("")); n != 1 {
		t.Fatalf("after a restart the same key made %d sessions", n)
	}
}
