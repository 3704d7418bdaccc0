package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// held reports whether someone has the session open, by trying to open it.
func held(t *testing.T, f *fixture, id string) bool {
	t.Helper()
	log, err := file.New(f.dir, f.deps.Logger).Open(t.Context(), id)
	if errors.Is(err, store.ErrInUse) {
		return true
	}
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// TestAnIdleSessionSleeps: an unused one releases its file and comes back
// from the log with all it had; one that someone uses stays.
func TestAnIdleSessionSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, modeltest.New(modeltest.Say("one"), modeltest.Say("two")))
		f.deps.IdleAfter = time.Minute
		m := f.manager(t)
		s, w := f.create(t, m), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k1", "hi")
		w.wait(func() bool { return w.ended == 1 })
		id := m.List("")[0].ID
		<-time.After(10 * time.Minute)
		if !held(t, f, id) {
			t.Fatal("a session with a subscriber fell asleep")
		}
		s.Unsubscribe(t.Context(), w)
		<-time.After(10 * time.Minute)
		if held(t, f, id) {
			t.Fatal("an idle session did not sleep")
		}
		if summary, err := s.Summary(t.Context()); err != nil || summary.MessageCount != 2 || held(t, f, id) {
			t.Fatalf("a sleeping session tells %+v, %v, or woke for it", summary, err)
		}
		before := w.anchors
		if mode := subscribe(t, s, w); mode != api.ResyncPersistent || w.anchors.Epoch == before.Epoch {
			t.Fatalf("after the sleep the resync was %s, the epoch %s", mode, w.anchors.Epoch)
		}
		if again := send(t, s, "k1", "hi"); again.State != api.PromptTaken {
			t.Fatalf("after the sleep a retry was %+v", again)
		}
		send(t, s, "k2", "more")
		w.wait(func() bool { return w.ended == 2 })
		fresh := newWatcher()
		subscribe(t, s, fresh)
		if len(fresh.entries) != len(w.entries) || !sameEntry(fresh.entries[4], w.entries[4]) {
			t.Fatalf("%d entries, a fresh load has %d", len(w.entries), len(fresh.entries))
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestASleepingSessionThatIsGone: a session that cannot be reopened is reported, and nothing
// of it is lost.
func TestASleepingSessionThatIsGone(t *testing.T) {
	f := finished(t)
	m := f.manager(t)
	id := m.List("")[0].ID
	path := f.file(t)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	s := open(t, m, id)
	_, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k9", Text: "go on"})
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindNotFound {
		t.Fatalf("got %v, want not_found", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	send(t, s, "k9", "go on")
}

// TestAVeryLongSession opens a log of 100 000 entries, one of them too long to send:
// an entry gets its end, and the rest as far as it asks.
func TestAVeryLongSession(t *testing.T) {
	const entries, tooLong = 100_000, 99_900
	f := newFixture(t, modeltest.New(modeltest.Say("still here")))
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"long","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n")
	parent := "null"
	for i := range entries {
		text := "some words that a person said"
		if i == tooLong {
			text = strings.Repeat("x", api.MaxEntryBytes)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"%s","timestamp":1}}`+"\n", i, parent, text)
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	folder := filepath.Join(f.dir, f.project.ID)
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "x_long.jsonl"), []byte(b.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, w := open(t, f.manager(t), "long"), newWatcher()
	subscribe(t, s, w)
	if n := len(w.entries); n != api.WindowEntries || w.before != entries-api.WindowEntries+1 {
		t.Fatalf("%d entries, before %d", n, w.before)
	}
	stand := w.entries[tooLong-entries+api.WindowEntries]
	if stand.CustomType != session.CustomOmitted || stand.ID != fmt.Sprint("e", tooLong) || stand.ParentID != fmt.Sprint("e", tooLong-1) {
		t.Fatalf("the entry that is too long was replaced by %s", stand.Raw)
	}
	r, err := s.Entries(t.Context(), api.GetEntriesRequest{Before: w.before, Limit: 3})
	if err != nil || len(r.Entries) != 3 || r.Entries[2].ID != w.entries[0].ParentID || r.Before != w.before-3 {
		t.Fatalf("before %d: %+v, %v", w.before, r, err)
	}
	if r, err = s.Entries(t.Context(), api.GetEntriesRequest{Before: 3}); err != nil || len(r.Entries) != 2 || r.Before != 0 {
		t.Fatalf("at the beginning: %+v, %v", r, err)
	}
	send(t, s, "k1", "hello")
	w.wait(func() bool { return w.ended == 1 })
}

// TestTheModelSeesTheContext: what a compaction left out is not sent to the model,
// and what programs said is.
func TestTheModelSeesTheContext(t *testing.T) {
	model := modeltest.New(modeltest.Say("ok"))
	f := newFixture(t, model)
	m := f.manager(t)
	f.create(t, m)
	id := m.List("")[0].ID
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := file.New(f.dir, f.deps.Logger).Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewSession(log)
	add := func(_ session.Entry, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	user := func(text string) []byte { return fmt.Appendf(nil, `{"role":"user","content":%q,"timestamp":1}`, text) }
	add(s.AppendMessage(t.Context(), store.Mark{}, user("left out")))
	kept, err := s.AppendMessage(t.Context(), store.Mark{}, user("kept"))
	add(kept, err)
	add(s.AppendCompaction(t.Context(), store.Mark{}, session.Compaction{Summary: "it was summed up", FirstKeptEntryID: kept.ID}))
	add(s.AppendCustomMessage(t.Context(), store.Mark{}, store.CustomMessage{CustomType: "x", Content: []byte(`"a program said"`)}))
	add(s.AppendMessage(t.Context(), store.Mark{}, []byte(`{"role":"bashExecution","command":"ls -l","output":"two files","exitCode":3,"timestamp":1}`)))
	add(s.AppendMessage(t.Context(), store.Mark{}, []byte(`{"role":"bashExecution","command":"secret","output":"","excludeFromContext":true,"timestamp":1}`)))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t)
	opened, w := open(t, m, id), newWatcher()
	subscribe(t, opened, w)
	send(t, opened, "k1", "and now?")
	w.wait(func() bool { return w.ended == 1 })
	var seen strings.Builder
	for _, message := range model.Requests()[0].Messages {
		seen.WriteString(string(message.Role) + ": " + message.Content.Plain() + "\n")
	}
	for _, want := range []string{"it was summed up", "kept", "a program said", "ls -l", "two files", "code 3", "and now?"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("the model does not see %q:\n%s", want, seen.String())
		}
	}
	for _, not := range []string{"left out", "secret"} {
		if strings.Contains(seen.String(), not) {
			t.Errorf("the model sees %q:\n%s", not, seen.String())
		}
	}
}

// fullProvider refuses lines that hold a text while it is full.
type fullProvider struct {
	store.Provider
	text    string
	full    atomic.Bool
	refused chan struct{} // holds one
}

func newFullProvider(f *fixture, text string) *fullProvider {
	return &fullProvider{Provider: file.New(f.dir, f.deps.Logger), text: text, refused: make(chan struct{}, 1)}
}

type fullLog struct {
	store.Log
	provider *fullProvider
}

func (p *fullProvider) Create(ctx context.Context, project string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	log, err := p.Provider.Create(ctx, project, header, lines...)
	return fullLog{log, p}, err
}

func (l fullLog) Append(ctx context.Context, lines ...json.RawMessage) error {
	if l.provider.full.Load() && bytes.Contains(lines[0], []byte(l.provider.text)) {
		select {
		case l.provider.refused <- struct{}{}:
		default:
		}
		return fmt.Errorf("appending: %w", store.ErrFull)
	}
	return l.Log.Append(ctx, lines...)
}

// TestWaitingWorkContinuesWithTheDisk: a prompt that comes on a full disk is refused
// with what to do; one that waits, and cannot be started, is started later.
func TestWaitingWorkContinuesWithTheDisk(t *testing.T) {
	model := &steppedModel{inner: modeltest.New(modeltest.Say("one"), modeltest.Say("two")), at: make(chan struct{}), goOn: make(chan struct{})}
	f := newFixture(t, model)
	f.deps.IdleAfter = 20 * time.Millisecond // also how long a prompt waits that could not be started
	provider := newFullProvider(f, `"role":"user"`)
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	provider.full.Store(true)
	_, err = s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k1", Text: "hi"})
	if err == nil || !strings.Contains(err.Error(), "free some") {
		t.Fatalf("on a full disk: %v", err)
	}
	<-provider.refused
	provider.full.Store(false)
	send(t, s, "k1", "hi")
	<-model.at
	send(t, s, "k2", "later")
	provider.full.Store(true)
	go func() {
		for range 3 { // the deltas of both answers that are to come
			model.goOn <- struct{}{}
			<-model.at
		}
		model.goOn <- struct{}{}
	}()
	<-provider.refused
	provider.full.Store(false)
	w.wait(func() bool { return w.ended == 2 && len(w.live.Queue) == 0 })
}

// TestAnAnswerThatIsNotSaved: the turn says so, and a fork does not wait for a turn that has ended.
func TestAnAnswerThatIsNotSaved(t *testing.T) {
	model := &steppedModel{inner: modeltest.New(modeltest.Say("one"), modeltest.Say("two")), at: make(chan struct{}), goOn: make(chan struct{})}
	f := newFixture(t, model)
	provider := newFullProvider(f, "")
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s, w := f.create(t, m), newWatcher()
	var why string
	w.onEvent = func(envelope api.EventEnvelope) {
		if ended, ok := envelope.Event.(api.TurnEnded); ok {
			why = ended.Error
		}
	}
	subscribe(t, s, w)
	send(t, s, "k1", "hi")
	<-model.at // the prompt is stored
	provider.full.Store(true)
	close(model.goOn)
	go func() {
		for { // it ends with the deltas of the test
			select {
			case <-model.at:
			case <-t.Context().Done():
				return
			}
		}
	}()
	w.wait(func() bool { return w.ended == 1 })
	if want := "the last step of this turn was not saved: the session could not be written: appending: there is no space left: free some space"; read(w, func() string { return why }) != want {
		t.Errorf("the turn ended with %q, want %q", why, want)
	}
	provider.full.Store(false)
	fork := api.ForkSessionRequest{SessionID: s.ID(), ClientKey: "fork"}
	if _, err := m.Fork(t.Context(), fork); err == nil || !strings.Contains(err.Error(), "the end of the last turn was not saved: fork at an earlier entry") {
		t.Errorf("a fork: %v", err)
	}
	send(t, s, "k2", "once more")
	w.wait(func() bool { return w.ended == 2 })
	if _, err := m.Fork(t.Context(), fork); err != nil {
		t.Errorf("a fork after another turn: %v", err)
	}
}

// TestAClientThatAsksDoesNotDelayWaitingWork: a prompt that could not be started is tried again in
// time, however often clients ask for something meanwhile.
func TestAClientThatAsksDoesNotDelayWaitingWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, modeltest.New(modeltest.Step{Stall: true}, modeltest.Say("two")))
		provider := newFullProvider(f, `"role":"user"`)
		m, err := sessions.NewManager(t.Context(), provider, f.deps)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		s, w := f.create(t, m), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k1", "hi")
		synctest.Wait() // its turn runs
		send(t, s, "k2", "later")
		provider.full.Store(true)
		if _, err := s.CancelTurn(t.Context(), read(w, func() string { return w.live.Turn.TurnID })); err != nil {
			t.Fatal(err)
		}
		<-provider.refused
		provider.full.Store(false)
		for range 20 {
			<-time.After(time.Second)
			if _, err := s.Summary(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if ended := read(w, func() int { return w.ended }); ended != 2 {
			t.Errorf("%d turns ended: the prompt still waits", ended)
		}
	})
}
