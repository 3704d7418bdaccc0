package sessions_test

import (
	"strings"
	"testing"

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
