package backend_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// world is a home with sessions on a fake agent, which is a real process.
type world struct {
	t        *testing.T
	dir      string // of the log
	home     string // of the agent
	project  api.Project
	manager  *sessions.Manager
	backends *backend.Backends
	model    *modeltest.Scripted // of the own agent
	options  backend.Options
	args     []string
	more     []backend.Definition // besides the fake agents
	rules    sessions.Permissions // nil has none
	tools    agent.Fixed          // of the own agent
}

func newWorld(t *testing.T, args ...string) *world {
	w := &world{t: t, dir: t.TempDir(), home: t.TempDir(), project: api.Project{ID: "prj_1", Name: "demo", Path: t.TempDir()}, args: args}
	w.options = backend.Options{Environ: os.Environ, CancelGrace: 300 * time.Millisecond}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start starts the host.
func (w *world) start() {
	w.t.Helper()
	options := w.options
	options.Definitions = []backend.Definition{
		{Name: "fake", Title: "Fake", Command: os.Args[0], Args: append([]string{fakeagent.Arg, "--home=" + w.home}, w.args...), Env: []string{"SCOREL_TEST_NAMED"}},
		{Name: "other", Title: "Other", Command: os.Args[0], Args: append([]string{fakeagent.Arg, "--home=" + w.home}, w.args...)},
		{Name: "asking", Title: "Asking", Command: os.Args[0], Args: append([]string{fakeagent.Arg, "--home=" + w.home, "--mode=bypass"}, w.args...), Mode: "ask"},
		{Name: "absent", Title: "Absent", Command: "scorel-no-such-program", Install: "npm install -g absent"},
	}
	options.Definitions = append(options.Definitions, w.more...)
	w.backends = backend.New(options)
	log := slog.New(slog.DiscardHandler)
	var err error
	w.manager, err = sessions.NewManager(w.t.Context(), w.provider(), sessions.Deps{
		Logger: log, Models: oneModel{w}, Tools: func(string) agent.Toolset { return w.tools }, Permissions: w.rules,
		System:    func([]agent.Tool, string, agent.ProjectContext) string { return "" },
		OnSummary: func(api.SessionSummary) {}, OnDelete: func(string, string) {}, Backends: w.backends,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// provider is what keeps the logs.
func (w *world) provider() *file.Provider { return file.New(w.dir, slog.New(slog.DiscardHandler)) }

func (w *world) stop() {
	if w.manager != nil {
		_ = w.manager.Close()
		w.backends.Close()
		w.manager = nil
	}
}

// restart ends the host and starts it again.
func (w *world) restart() {
	w.stop()
	w.start()
}

// oneModel is a configuration with the model of the world.
type oneModel struct{ w *world }

func (m oneModel) Model(string) (agent.Model, api.Model, error) {
	return m.w.model, api.Model{Name: "main", Provider: "test", ID: "test-1"}, nil
}
func (oneModel) Find(string, string) string { return "main" }
func (oneModel) Default() string            { return "main" }

// opened is a session with someone who watches it.
type opened struct {
	*sessions.Session
	*watcher
	id string
	w  *world
}

func (w *world) session(backend string) *opened {
	w.t.Helper()
	summary, err := w.manager.Create(w.t.Context(), w.project, "cli_x", api.CreateSessionRequest{ClientKey: "key-" + w.t.Name() + backend, Backend: backend})
	if err != nil {
		w.t.Fatal(err)
	}
	if summary.Backend != backend {
		w.t.Errorf("the session runs on %q, not %q", summary.Backend, backend)
	}
	return w.open(summary.ID)
}

func (w *world) open(id string) *opened {
	w.t.Helper()
	s, err := w.manager.Open(id)
	if err != nil {
		w.t.Fatal(err)
	}
	watch := newWatcher()
	if err := s.Resync(w.t.Context(), api.Anchors{}, watch, api.AllGrants(), watch.load); err != nil {
		w.t.Fatal(err)
	}
	return &opened{s, watch, id, w}
}

// send sends a prompt.
func (o *opened) send(text string) {
	o.w.t.Helper()
	o.mu.Lock()
	o.sent++
	key := fmt.Sprintf("k-%d-%p", o.sent, o)
	o.mu.Unlock()
	if _, err := o.SendPrompt(o.w.t.Context(), "cli_x", api.SendPromptRequest{SessionID: o.id, ClientKey: key, Text: text}); err != nil {
		o.w.t.Fatal(err)
	}
}

// run sends a prompt and returns how its turn ended.
func (o *opened) run(text string) api.TurnEnded {
	o.w.t.Helper()
	o.mu.Lock()
	before := len(o.ended)
	o.mu.Unlock()
	o.send(text)
	o.until("the turn has ended", func() bool { return len(o.ended) > before })
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended[before]
}

// ok is run for a turn that must succeed.
func (o *opened) ok(text string) {
	o.w.t.Helper()
	if ended := o.run(text); ended.StopReason != session.StopEnd {
		o.w.t.Fatalf("the turn ended with %s: %s", ended.StopReason, ended.Error)
	}
}

// check compares what was followed with a fresh load.
func (o *opened) check() {
	o.w.t.Helper()
	fresh := o.w.open(o.id)
	defer fresh.Unsubscribe(o.w.t.Context(), fresh.watcher)
	o.mu.Lock()
	defer o.mu.Unlock()
	fresh.mu.Lock()
	defer fresh.mu.Unlock()
	if !reflect.DeepEqual(o.live, fresh.live) {
		o.w.t.Errorf("the live state is\n%+v\na fresh load gives\n%+v", o.live, fresh.live)
	}
	got, want := ids(o.entries), ids(fresh.entries) // a load gives the end of the log
	if n := min(len(got), len(want)); len(got) < len(want) || !reflect.DeepEqual(got[len(got)-n:], want) {
		o.w.t.Errorf("the entries are %v, a fresh load gives %v", got, want)
	}
}

func ids(entries []session.Entry) (ids []string) {
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// messages returns the messages of the log.
func (o *opened) messages() (all []session.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.entries {
		if m, ok := e.AsMessage(); ok {
			all = append(all, m.Message)
		}
	}
	return all
}

// records returns the records of a kind.
func (o *opened) records(kind session.BackendKind) (all []session.BackendRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.entries {
		if record, ok := recordOf(e); ok && record.Kind == kind {
			all = append(all, record)
		}
	}
	return all
}

func recordOf(e session.Entry) (record session.BackendRecord, ok bool) {
	custom, ok := e.AsCustom()
	if !ok || custom.CustomType != session.CustomBackend {
		return record, false
	}
	return record, json.Unmarshal(custom.Data, &record) == nil
}

// said is the text of all answers.
func (o *opened) said() (text string) {
	for _, m := range o.messages() {
		if m.Role == session.RoleAssistant {
			text += m.Content.Plain()
		}
	}
	return text
}

// watcher projects the events that it receives.
type watcher struct {
	mu      sync.Mutex
	cond    *sync.Cond
	entries []session.Entry
	live    api.Live
	anchors api.Anchors
	ended   []api.TurnEnded
	deltas  int
	sent    int
	output  string
}

func newWatcher() *watcher {
	w := &watcher{live: api.NewLive()}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (w *watcher) load(r api.ResyncEventsResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.anchors = r.Anchors
	switch r.Mode {
	case api.ResyncStream:
		for _, e := range r.Events {
			w.take(e)
		}
		return
	case api.ResyncFull:
		w.entries = nil
	}
	w.entries, w.live = append(w.entries, r.Entries...), r.Live.Clone()
	w.cond.Broadcast()
}

func (*watcher) Away() bool         { return false }
func (*watcher) May(api.Grant) bool { return true }

// Deliver implements sessions.Subscriber.
func (w *watcher) Deliver(e api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(e)
}

func (w *watcher) take(e api.EventEnvelope) {
	w.anchors.StreamLastSeq = max(w.anchors.StreamLastSeq, e.Seq)
	w.live.Apply(e.Event)
	switch event := e.Event.(type) {
	case api.EntryAppended:
		w.entries = append(w.entries, event.Entry)
		w.anchors.PersistentLastSeq = event.Entry.Seq
	case api.TurnEnded:
		w.ended = append(w.ended, event)
	case api.BlockDelta:
		w.deltas++
	case api.ToolOutput:
		w.output += event.Delta
	}
	w.cond.Broadcast()
}

// patience is how long a test waits for something to happen: a busy machine with the race detector
// needs minutes for 100,000 updates.
const patience = 5 * time.Minute

// until waits until something is the case.
func (o *opened) until(what string, is func() bool) {
	o.w.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.cond.Broadcast()
	})
	defer timer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for !is() {
		if late {
			o.w.t.Fatalf("it was not the case in time that %s: %.2000s", what, fmt.Sprintf("%+v", o.live))
		}
		o.cond.Wait()
	}
}
