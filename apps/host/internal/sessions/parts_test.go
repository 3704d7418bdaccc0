package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// These tests use the parts of a session one by one. The goroutine of the test owns them, and
// their log is in memory.

// memoryLog is a log in memory that can be full.
type memoryLog struct {
	gathered
	full bool
}

var errFull = errors.New("no space left on device")

func (l *memoryLog) Append(ctx context.Context, lines ...json.RawMessage) error {
	if l.full {
		return errFull
	}
	return l.gathered.Append(ctx, lines...)
}

// events collects the types of the events that a subscriber receives.
type events struct{ types []string }

func (*events) Away() bool { return false }

func (*events) May(api.Grant) bool { return true }

func (e *events) Deliver(event api.EventEnvelope, _ []byte) {
	e.types = append(e.types, event.Event.EventType())
}

func (e *events) take() []string {
	types := e.types
	e.types = nil
	return types
}

// oneModel is a configuration with one model, which is never called.
type oneModel struct{ info api.Model }

func (m oneModel) Model(string) (agent.Model, api.Model, error) { return nil, m.info, nil }
func (oneModel) Find(string, string) string                     { return "" }
func (oneModel) Default() string                                { return "m" }

// testCore is a core with an open log, a manager and a subscriber.
func testCore(t testing.TB, header string) (*core, *memoryLog, *events) {
	t.Helper()
	file, err := session.ReadFile([]byte(header + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	deps := Deps{Logger: slog.New(slog.DiscardHandler), Models: oneModel{}, OnSummary: func(api.SessionSummary) {}, OnDelete: func(string, string) {}}
	k := &known{header: file.Header, project: api.Project{ID: "p", Path: t.TempDir()}}
	others := newManager(t.Context(), nil, deps)
	others.register(k)
	c := newCore(k, deps, others)
	c.activity = func() activity { return activity{} }
	log := &memoryLog{gathered: gathered{file: file}}
	c.log, c.view, c.done = store.NewSession(log), window.NewView(), map[string]string{}
	c.stream.reset(0)
	watcher := &events{}
	c.subscribers[watcher] = []api.Grant{api.GrantPrompt}
	return c, log, watcher
}

const (
	plainHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/"}`
	childHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/","childOf":"parent"}`
)

func TestAnEntryIsPublishedOnceItIsStored(t *testing.T) {
	c, log, watcher := testCore(t, plainHeader)
	log.full = true
	if err := c.appendCustom(session.CustomMode, session.ModeRecord{Mode: "plan"}, ""); !errors.Is(err, errFull) {
		t.Fatalf("a full log gave %v", err)
	}
	if got := watcher.take(); len(got) != 0 || c.seq != 0 || c.digest.Mode != "" {
		t.Fatalf("after a failure: events %v, seq %d, mode %q", got, c.seq, c.digest.Mode)
	}
	log.full = false
	if err := c.appendCustom(session.CustomMode, session.ModeRecord{Mode: "plan"}, ""); err != nil {
		t.Fatal(err)
	}
	if got := watcher.take(); !slices.Equal(got, []string{api.EntryAppended{}.EventType()}) || c.seq != 1 || c.digest.Mode != "plan" {
		t.Errorf("events %v, seq %d, mode %q", got, c.seq, c.digest.Mode)
	}
	if len(log.lines) != 1 {
		t.Errorf("the log has %d lines", len(log.lines))
	}
}

// A session that is opened while the list is refreshed stays, whenever that is.
func TestDropKeepsAnOpenSession(t *testing.T) {
	c, _, _ := testCore(t, plainHeader)
	m := c.others.(*Manager)
	for range 200 {
		k := &known{}
		m.known = map[string]*known{"s": k}
		m.announcer.mu.Lock() // so that what drop decides first is old when it continues
		dropped := make(chan struct{})
		go func() { m.drop("s"); close(dropped) }()
		for range 20 {
			runtime.Gosched()
		}
		m.registry.mu.Lock()
		k.open = &Session{}
		m.registry.mu.Unlock()
		m.announcer.mu.Unlock()
		<-dropped
		if m.known["s"] == nil {
			t.Fatal("an open session was forgotten")
		}
	}
}

func TestStreamBeginsAgain(t *testing.T) {
	c, _, _ := testCore(t, plainHeader)
	seen := api.Anchors{Epoch: c.epoch}
	c.publish(api.AttendanceChanged{Unattended: true})
	if missed, ok := c.missed(seen); !ok || len(missed) != 1 || missed[0].Seq != 1 || !c.live.Unattended {
		t.Fatalf("missed %v, %t; unattended %t", missed, ok, c.live.Unattended)
	}
	c.stream.reset(7)
	if _, ok := c.missed(seen); ok || c.seq != 7 || c.live.Unattended {
		t.Errorf("the events of the old epoch are still there, seq %d", c.seq)
	}
	if !c.watched(api.GrantPrompt) || c.watched(api.GrantApprove) {
		t.Error("the subscriber may answer questions, and no approvals")
	}
}

func TestAttendanceIsPublishedWhenItChanges(t *testing.T) {
	c, _, watcher := testCore(t, plainHeader)
	var now activity
	c.activity = func() activity { return now }
	changed := []string{api.AttendanceChanged{}.EventType()}
	for i, step := range []struct {
		now        activity
		unattended bool
		events     []string
	}{
		{activity{questions: true}, false, nil}, // the subscriber may answer
		{activity{approvals: true}, true, changed},
		{activity{approvals: true, questions: true}, true, nil},
		{activity{}, false, changed},
	} {
		now = step.now
		c.updateAttendance()
		if got := watcher.take(); !slices.Equal(got, step.events) || c.live.Unattended != step.unattended {
			t.Errorf("step %d: events %v, unattended %t", i, got, c.live.Unattended)
		}
	}
}

func TestSteeringLowersTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		steer    string
		mode     string
		allowAll bool
	}{
		"with all rights":       {"", "", true},
		"of the highest mode":   {string(api.ModeBypass), string(api.ModeBypass), true},
		"of a mode that edits":  {string(api.ModeAcceptEdits), string(api.ModeAcceptEdits), true},
		"of one who cannot":     {string(api.ModeAsk), string(api.ModeAsk), false},
		"of one who only plans": {string(api.ModePlan), string(api.ModePlan), false},
	} {
		t.Run(name, func(t *testing.T) {
			core, _, _ := testCore(t, plainHeader)
			turns := &turns{core: core}
			turns.start("t", session.QueuedPrompt{ClientKey: "k", AllowAll: true}, false)
			turns.join(session.QueuedPrompt{MaxMode: c.steer})
			if prompt := turns.running.prompt; prompt.MaxMode != c.mode || prompt.AllowAll != c.allowAll || string(turns.lowest) != c.mode {
				t.Errorf("the turn runs up to %q, allows all: %t; lowest %q", prompt.MaxMode, prompt.AllowAll, turns.lowest)
			}
		})
	}
}

func TestATurnIsAnnouncedToEndOnce(t *testing.T) {
	core, _, watcher := testCore(t, plainHeader)
	turns := &turns{core: core}
	ctx := turns.start("t", session.QueuedPrompt{}, false)
	watcher.take()
	turns.announceCancel()
	turns.cancel()
	if got := watcher.take(); len(got) != 1 || ctx.Err() == nil {
		t.Errorf("events %v, context %v", got, ctx.Err())
	}
}

func TestModeIsBoundByParentAndPrompt(t *testing.T) {
	for name, c := range map[string]struct{ own, parent, prompt, want api.Mode }{
		"its own":             {api.ModePlan, api.ModeBypass, "", api.ModePlan},
		"that of the parent":  {api.ModeBypass, api.ModeAcceptEdits, "", api.ModeAcceptEdits},
		"that of the prompt":  {api.ModeBypass, api.ModeBypass, api.ModeAsk, api.ModeAsk},
		"a parent without":    {api.ModeBypass, "", "", api.ModeAsk},
		"none, so it asks":    {"", api.ModeBypass, "", api.ModeAsk},
		"the lowest of three": {api.ModeAuto, api.ModeAcceptEdits, api.ModePlan, api.ModePlan},
	} {
		t.Run(name, func(t *testing.T) {
			core, _, _ := testCore(t, childHeader)
			core.others.(*Manager).known["parent"] = &known{summary: api.SessionSummary{Mode: c.parent}}
			core.summary.Mode = c.own
			turns := &turns{core: core}
			turns.start("t", session.QueuedPrompt{MaxMode: string(c.prompt)}, false)
			core.summary.Mode = c.own // start renewed the summary from the empty log
			judge := &judge{core: core, turns: turns, tools: agent.Fixed{}}
			if got := judge.policy().Mode; got != c.want {
				t.Errorf("it is %q, not %q", got, c.want)
			}
		})
	}
}

func TestPromptsAreKnownWhereverTheyAre(t *testing.T) {
	core, _, _ := testCore(t, plainHeader)
	p := &prompts{core: core, turns: &turns{core: core}, images: &images{core}}
	p.restore()
	for i, key := range []string{"first", "second", "third"} {
		if err := p.add(session.QueuedPrompt{ClientKey: key, Text: fmt.Sprint(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	steer := session.QueuedPrompt{ClientKey: "steer", Text: "now", Mode: session.ModeSteer}
	if err := p.add(steer, nil); err != nil || p.live.Queue[0].ClientKey != "steer" {
		t.Fatalf("%v; the queue is %v", err, p.live.Queue)
	}
	if messages, err := p.takeSteering("t"); err != nil || len(messages) != 1 || !messages[0].Steer {
		t.Fatalf("%v, %v", messages, err)
	}
	p.leaveOne("first")
	p.taken["first"] = "entry"
	p.removed["gone"] = true
	for key, want := range map[string]api.PromptState{
		"steer": api.PromptTaken, "first": api.PromptTaken, "second": api.PromptQueued, "gone": api.PromptRemoved,
	} {
		if got, ok := p.known(key); !ok || got.State != want {
			t.Errorf("%s is %q, known: %t", key, got.State, ok)
		}
	}
	if _, ok := p.known("never"); ok {
		t.Error("a prompt that was never sent is known")
	}
	if got := core.digest.Queue; !slices.Equal(got, []string{"second", "third"}) {
		t.Errorf("the log has the queue %v", got)
	}
}

func TestAFullDiskKeepsTheQueue(t *testing.T) {
	core, log, _ := testCore(t, plainHeader)
	p := &prompts{core: core, turns: &turns{core: core}, images: &images{core}}
	p.restore()
	if err := p.add(session.QueuedPrompt{ClientKey: "a", Text: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	log.full = true
	if err := p.add(session.QueuedPrompt{ClientKey: "b", Text: "x"}, nil); err == nil || p.waits("b") {
		t.Errorf("%v; it waits: %t", err, p.waits("b"))
	}
	if p.leaveOne("a"); p.waits("a") { // its message is in the log, and with it its key
		t.Error("a prompt that was started still waits")
	}
}

func TestNotesWaitForTheLog(t *testing.T) {
	core, log, _ := testCore(t, plainHeader)
	n := &notes{core: core, tools: agent.Fixed{}}
	if n.writeForTurn("t") {
		t.Fatal("a turn was to begin without a note")
	}
	n.waiting = []session.Note{{Kind: session.NoteJobs, Text: "job 1 ended", Wakes: true}}
	log.full = true
	if n.writeForTurn("t") || len(n.waiting) != 1 || n.started != 0 {
		t.Fatalf("%d notes wait, %d turns started", len(n.waiting), n.started)
	}
	log.full = false
	if !n.wantTurn() || !n.writeForTurn("t") || len(n.waiting) != 0 || n.started != 1 {
		t.Fatalf("%d notes wait, %d turns started", len(n.waiting), n.started)
	}
	n.waiting, n.started = []session.Note{{Wakes: true}}, maxStarted
	if n.wantTurn() {
		t.Errorf("after %d turns without a person another one starts", maxStarted)
	}
}

func TestOneSummaryAtATime(t *testing.T) {
	core, _, watcher := testCore(t, plainHeader)
	w := &summaries{core: core, turns: &turns{core: core}, hooks: newHooks(core, nil, nil)}
	if err := w.checkIdle(); err != nil {
		t.Fatal(err)
	}
	ctx := w.announce(t.Context(), runningSummary{kind: api.WorkCompaction})
	if err := w.checkIdle(); err == nil || w.shownAsTurn() {
		t.Errorf("%v; shown as a turn: %t", err, w.shownAsTurn())
	}
	w.cancel()
	ended := w.finish(nil, func() error { t.Error("a canceled summary was kept"); return nil })
	if ended.Error == "" || ctx.Err() == nil || w.running != nil {
		t.Errorf("%+v, context %v", ended, ctx.Err())
	}
	want := []string{api.WorkStarted{}.EventType(), api.WorkEnded{}.EventType()}
	if got := watcher.take(); !slices.Equal(got, want) {
		t.Errorf("events %v", got)
	}
	core.closing = true
	if err := w.checkIdle(); !errors.Is(err, ErrClosed) {
		t.Errorf("a session that closes gave %v", err)
	}
}

func TestSubagentsAreStoredWhenTheyChange(t *testing.T) {
	core, log, watcher := testCore(t, plainHeader)
	owned(t, core)
	turns := &turns{core: core}
	turns.start("t", session.QueuedPrompt{}, false)
	g := &subagents{core: core, turns: turns}
	child := func(state session.ChildState) api.SubagentChild {
		return api.SubagentChild{SubagentMember: session.SubagentMember{State: state}}
	}
	batch := api.SubagentBatch{ToolCallID: "c", Children: []api.SubagentChild{child(session.ChildQueued), child(session.ChildQueued)}}
	if err := g.BeginSubagents(t.Context(), "t", batch); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		state session.ChildState
		lines int
	}{{session.ChildRunning, 2}, {session.ChildRunning, 2}, {session.ChildCompleted, 3}} {
		if err := g.UpdateSubagents(t.Context(), "c", 0, child(step.state)); err != nil {
			t.Fatal(err)
		}
		if len(log.lines) != step.lines {
			t.Errorf("after %s the log has %d lines, not %d", step.state, len(log.lines), step.lines)
		}
	}
	watcher.take()
	g.failOpen()
	if got := len(log.lines); got != 4 {
		t.Errorf("the log has %d lines after a crash", got)
	}
}

// owned has a goroutine run what methods for other goroutines send.
func owned(t *testing.T, c *core) {
	t.Helper()
	c.open = func(context.Context) error { return nil }
	done := make(chan struct{})
	t.Cleanup(func() { close(c.commands); <-done })
	go func() {
		defer close(done)
		for command := range c.commands {
			command()
		}
	}()
}
