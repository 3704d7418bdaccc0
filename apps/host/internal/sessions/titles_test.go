package sessions_test

import (
	"context"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// names are the names that a watcher was notified of, in order.
func names(w *watcher) []string {
	return read(w, func() (names []string) {
		for _, e := range w.entries {
			if e.Type == session.TypeSessionInfo {
				names = append(names, e.Text("name"))
			}
		}
		return names
	})
}

// waitForNames waits until so many names were given.
func waitForNames(w *watcher, n int) {
	w.wait(func() bool {
		count := 0
		for _, e := range w.entries {
			if e.Type == session.TypeSessionInfo {
				count++
			}
		}
		return count >= n
	})
}

func TestTitles(t *testing.T) {
	failing := modeltest.New() // it has no step, so it answers with an error
	for name, test := range map[string]struct {
		titles agent.Model
		prompt string
		want   string
	}{
		"first sentence": {nil, "Fix the lamp in main.go. It flickers,\nand that is bad.", "Fix the lamp in main.go"},
		"question":       {nil, "Why does it flicker? Tell me.", "Why does it flicker?"},
		"without spaces": {nil, "東京の天気は？明日も。", "東京の天気は？"},
		"model":          {modeltest.New(modeltest.Say("Title: \"Flickering lamp repair.\"\nI hope this helps")), "Fix it", "Flickering lamp repair"},
		"model fails":    {failing, "Fix the lamp. Now", "Fix the lamp"},
		"model is mute":  {modeltest.New(modeltest.Say(" \"\" ")), "Fix the lamp", "Fix the lamp"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, modeltest.New(modeltest.Say("hello"), modeltest.Say("again")))
			f.deps.Titles = test.titles
			m := f.manager(t)
			s, w := f.create(t, m), newWatcher()
			subscribe(t, s, w)
			send(t, s, "k1", test.prompt)
			waitForNames(w, 1)
			send(t, s, "k2", "And more. Much more")
			w.wait(func() bool { return w.ended == 2 })
			if got := names(w); len(got) != 1 || got[0] != test.want {
				t.Errorf("the names are %q, want %q once", got, test.want)
			}
			if list := m.List(""); list[0].Name != test.want {
				t.Errorf("the list says %q", list[0].Name)
			}
		})
	}
}

func TestAPersonsNameStays(t *testing.T) {
	for name, given := range map[string]string{"given": "Mine", "taken off": ""} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			titles := &blocking{asked: asked, release: make(chan struct{})}
			f := newFixture(t, modeltest.New(modeltest.Say("hello"), modeltest.Say("again")))
			f.deps.Titles = titles
			m := f.manager(t)
			s, w := f.create(t, m), newWatcher()
			subscribe(t, s, w)
			send(t, s, "k1", "Fix the lamp")
			<-asked // the model is making a title, and a person is faster
			if err := s.Rename(t.Context(), "cli_x", given); err != nil {
				t.Fatal(err)
			}
			close(titles.release)
			send(t, s, "k2", "more")
			w.wait(func() bool { return w.ended == 2 })
			if err := m.Close(); err != nil { // after this nothing comes any more
				t.Fatal(err)
			}
			if got := names(w); len(got) != 1 || got[0] != given {
				t.Errorf("the names are %q", got)
			}
		})
	}
}

func TestClosingEndsAWaitingTitle(t *testing.T) {
	asked := make(chan struct{})
	f := newFixture(t, modeltest.New(modeltest.Say("hello")))
	f.deps.Titles = &blocking{asked: asked, release: make(chan struct{})}
	f.deps.IdleAfter = time.Hour
	m := f.manager(t)
	send(t, f.create(t, m), "k1", "Fix the lamp")
	<-asked
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if list := f.manager(t).List(""); len(list) != 1 || list[0].Name != "Fix the lamp" {
		t.Fatalf("%+v", list)
	}
}

// blocking is a model that answers when it is let go.
type blocking struct {
	asked   chan struct{}
	release chan struct{}
}

func (b *blocking) Stream(ctx context.Context, _ agent.Request, _ func(agent.Delta)) session.Message {
	close(b.asked)
	select {
	case <-b.release:
		return session.Message{Role: session.RoleAssistant, Content: session.Content{session.Text("Too late")}, StopReason: session.StopEnd}
	case <-ctx.Done():
		return session.Message{Role: session.RoleAssistant, StopReason: session.StopAborted}
	}
}
