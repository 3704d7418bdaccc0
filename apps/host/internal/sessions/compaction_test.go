package sessions_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// windowed is oneModel with a context window.
type windowed struct{ oneModel }

func (m windowed) Model(name string) (agent.Model, api.Model, error) {
	model, info, err := m.oneModel.Model(name)
	info.ContextWindow = 1000
	return model, info, err
}

func compactions(w *watcher) []session.Entry {
	return compactionsOf(read(w, func() []session.Entry { return w.entries[:len(w.entries):len(w.entries)] }))
}

func compactionsOf(entries []session.Entry) []session.Entry {
	var list []session.Entry
	for _, e := range entries {
		if e.Type == session.TypeCompaction {
			list = append(list, e)
		}
	}
	return list
}

// A session over its share of the window is compacted between its turns, once for
// each answer that brought it there; prompts that come in the meantime wait.
func TestCompactsByItself(t *testing.T) {
	long := strings.Repeat("word ", 400) // 500 tokens
	for name, c := range map[string]struct {
		model agent.Model
		want  string
	}{
		"writes":         {modeltest.New(modeltest.Say("In short."), modeltest.Say("In shorter.")), "In short."},
		"fails":          {modeltest.New(modeltest.Step{Stop: session.StopError, Error: "HTTP 500"}), "- question one"},
		"is talkative":   {modeltest.New(modeltest.Say(strings.Repeat("blah ", 4000))), "- question one"},
		"is cut":         {modeltest.New(modeltest.Step{Content: session.Content{session.Text("In sh")}, Stop: session.StopLength}), "- question one"},
		"calls a tool":   {modeltest.New(modeltest.Calls(modeltest.Call("c", "echo", `{}`))), "- question one"},
		"says nothing":   {modeltest.New(modeltest.Say(" ")), "- question one"},
		"broken request": {modeltest.New(), "- question one"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			model := modeltest.New(modeltest.Say(long), modeltest.Say(long), modeltest.Say("short"), modeltest.Say("end"))
			f.deps.Models = windowed{oneModel{model}}
			f.deps.Summaries = sessions.Summaries{Share: 0.8, Model: c.model}
			m := f.manager(t)
			s, w := f.create(t, m), newWatcher()
			subscribe(t, s, w)
			for i, text := range []string{"question one", "question two", "question three", "question four"} {
				send(t, s, text, text)
				w.wait(func() bool { return w.ended == i+1 })
			}
			w.wait(func() bool { return w.live.Work == nil })
			if now, err := s.Snapshot(t.Context()); err != nil || now.RuntimeContext.CompactAt != now.RuntimeContext.ContextWindow*8/10 {
				t.Errorf("it says that it compacts at %d tokens of %d, %v", now.RuntimeContext.CompactAt, now.RuntimeContext.ContextWindow, err)
			}
			made := compactions(w)
			if len(made) != 1 || !strings.Contains(made[0].Text("summary"), c.want) {
				t.Fatalf("%d compactions: %+v", len(made), made)
			}
			requests := model.Requests()
			first := requests[2].Messages[0].Content.Plain() // after question three
			if !strings.Contains(first, "<summary>") || !strings.Contains(first, c.want) {
				t.Errorf("after the compaction the model was given first\n%s", first)
			}
		})
	}
}

// summarizer counts the summaries that it writes.
type summarizer struct {
	calls   atomic.Int64
	writing func(call int64) // called for each
}

func (s *summarizer) Stream(context.Context, agent.Request, func(agent.Delta)) session.Message {
	s.writing(s.calls.Add(1))
	return session.Message{Role: session.RoleAssistant, Content: session.Content{session.Text("In short.")}, StopReason: session.StopEnd}
}

// outgrown is a session whose context is over its share after two turns, with a log that can
// refuse lines with a text.
func outgrown(t *testing.T, refused string, writing func(*fullProvider, *sessions.Session, int64)) (*summarizer, *fullProvider, *sessions.Session, *watcher) {
	t.Helper()
	long := strings.Repeat("word ", 400)
	f := newFixture(t, nil)
	f.deps.Models = windowed{oneModel{modeltest.New(modeltest.Say(long), modeltest.Say(long), modeltest.Say("short"), modeltest.Say("end"))}}
	provider := newFullProvider(f, refused)
	var s *sessions.Session
	model := &summarizer{}
	model.writing = func(call int64) {
		if call > 5 { // so that a test ends that has failed
			provider.full.Store(false)
		}
		writing(provider, s, call)
	}
	f.deps.Summaries = sessions.Summaries{Share: 0.8, Model: model}
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s = f.create(t, m)
	w := newWatcher()
	subscribe(t, s, w)
	for i, text := range []string{"question one", "question two"} {
		send(t, s, text, text)
		w.wait(func() bool { return w.ended == i+1 })
	}
	return model, provider, s, w
}

// A compaction that the log refuses was paid for: the prompts that wait for it start without it,
// and the next attempt waits.
func TestARefusedCompactionIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model, _, s, w := outgrown(t, `"type":"compaction"`, func(p *fullProvider, _ *sessions.Session, call int64) {
			p.full.Store(call <= 5)
		})
		synctest.Wait()
		send(t, s, "k3", "question three")
		w.wait(func() bool { return w.ended == 3 })
		synctest.Wait()
		if calls := model.calls.Load(); calls != 1 {
			t.Fatalf("%d summaries were written for one pause", calls)
		}
		<-time.After(time.Minute)
		send(t, s, "k4", "question four")
		w.wait(func() bool { return w.ended == 4 })
		synctest.Wait()
		if calls := model.calls.Load(); calls != 2 {
			t.Errorf("%d summaries were written, want one more after the pause", calls)
		}
	})
}

// While the log takes nothing at all, no summary is paid for again, however long a prompt waits.
func TestAFullLogIsNotSummarizedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model, provider, _, w := outgrown(t, "", func(p *fullProvider, s *sessions.Session, call int64) {
			if call == 1 {
				send(t, s, "k3", "question three") // waits for the summary
				p.full.Store(true)
			}
		})
		<-time.After(time.Hour)
		if calls, ended := model.calls.Load(), read(w, func() int { return w.ended }); calls != 1 || ended != 2 {
			t.Fatalf("%d summaries were written in an hour, %d turns ended", calls, ended)
		}
		provider.full.Store(false)
		w.wait(func() bool { return w.ended == 3 && len(w.live.Queue) == 0 })
	})
}

// Without a model of its own for summaries the session's model writes them; only where
// that fails they are extracted: here the extract is cut to nearly nothing.
func TestTheSessionsModelSummarizes(t *testing.T) {
	for name, c := range map[string]struct {
		step modeltest.Step
		want string
	}{
		"writes": {modeltest.Say("In my own words."), "In my own words."},
		"fails":  {modeltest.Step{Stop: session.StopError, Error: "HTTP 500"}, "more characters]"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, 3, c.step, modeltest.Say("on"))
			k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4}
			k.restart(t)
			if _, err := k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c1"}); err != nil {
				t.Fatal(err)
			}
			k.w.wait(func() bool { return k.w.live.Work == nil })
			made := compactions(k.w)
			if len(made) != 1 || !strings.Contains(made[0].Text("summary"), c.want) {
				t.Fatalf("%d compactions: %+v", len(made), made)
			}
			if got := k.asked(t); !strings.Contains(got, "<conversation>") || !strings.Contains(got, "question a") {
				t.Errorf("the model was asked\n%s", got)
			}
		})
	}
}

func TestCompactByHand(t *testing.T) {
	k := newTalk(t, 3, modeltest.Say("on"))
	k.f.deps.Summaries.KeepTokens = 4
	k.restart(t)
	r := api.CompactSessionRequest{ClientKey: "c1"}
	if _, err := k.s.Compact(t.Context(), "cli_x", r); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.live.Work == nil })
	for range 2 {
		done, err := k.s.Compact(t.Context(), "cli_x", r)
		if err != nil || len(compactions(k.w)) != 1 || done.EntryID != compactions(k.w)[0].ID {
			t.Fatalf("a retry: %+v, %v; %d compactions", done, err, len(compactions(k.w)))
		}
		k.restart(t)
	}
	first, leaf := k.node(t, "answer a"), k.tree(t).LeafID
	_, err := k.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: "r", ExpectedLeaf: leaf, TargetEntryID: first})
	wantKind(t, err, api.KindBadRequest, "which rewind cannot cross")
	if _, err := k.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{ClientKey: "n", ExpectedLeaf: leaf, TargetEntryID: first}); err != nil {
		t.Fatal(err)
	}
	send(t, k.s, "kx", "anew")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := k.asked(t); got != "user: question a\nassistant: answer a\nuser: anew" {
		t.Errorf("before the compaction the model was given\n%s", got)
	}

	short := newTalk(t, 1)
	_, err = short.s.Compact(t.Context(), "cli_x", r)
	wantKind(t, err, api.KindBadRequest, "there is nothing to compact")
	_, err = short.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c", Instructions: strings.Repeat("x", api.MaxFocus+1)})
	wantKind(t, err, api.KindTooLarge, "the limit is 4096")
}

// A host that ends while a model writes a summary leaves the session as it was; what
// waited continues at the next start.
func TestCompactionIsCutByTheEnd(t *testing.T) {
	k := newTalk(t, 2, modeltest.Say("on"))
	k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4, Model: modeltest.New(modeltest.Step{Stall: true})}
	k.restart(t)
	if _, err := k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c"}); err != nil {
		t.Fatal(err)
	}
	if got := send(t, k.s, "kc", "later"); got.State != api.PromptQueued {
		t.Fatalf("%+v", got)
	}
	_, err := k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c2"})
	wantKind(t, err, api.KindConflict, "is summarizing")
	k.restart(t)
	k.w.wait(func() bool { return k.w.live.Turn == nil && len(k.w.live.Queue) == 0 })
	if len(compactions(k.w)) != 0 || !strings.HasSuffix(k.asked(t), "user: later") {
		t.Errorf("%d compactions; the model was given\n%s", len(compactions(k.w)), k.asked(t))
	}
}
