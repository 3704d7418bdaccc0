package sessions_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// How much the model thinks is what config.toml says until someone sets it, from
// the next turn on and also after a restart. The session names its calls to the
// provider's cache.
func TestThinkingLevel(t *testing.T) {
	model := modeltest.New(modeltest.Say("a"), modeltest.Say("b"), modeltest.Say("c"), modeltest.Say("d"))
	f := newFixture(t, model)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "one")
	w.wait(func() bool { return w.ended == 1 })
	if err := s.SetThinking(t.Context(), "cli_x", "high"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetThinking(t.Context(), "cli_x", "deep"); err == nil {
		t.Error("an unknown level was accepted")
	}
	send(t, s, "k2", "two")
	w.wait(func() bool { return w.ended == 2 })
	id := m.List("")[0].ID
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = f.manager(t)
	s, err := m.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	w = newWatcher()
	subscribe(t, s, w)
	send(t, s, "k3", "three")
	w.wait(func() bool { return w.ended == 1 })
	if err := s.SetThinking(t.Context(), "cli_x", ""); err != nil {
		t.Fatal(err)
	}
	send(t, s, "k4", "four")
	w.wait(func() bool { return w.ended == 2 })
	requests := model.Requests()
	for i, want := range []agent.ThinkingLevel{"", agent.ThinkingHigh, agent.ThinkingHigh, ""} {
		if requests[i].Thinking != want || requests[i].CacheKey != id {
			t.Errorf("request %d: thinking %q, cache key %q", i, requests[i].Thinking, requests[i].CacheKey)
		}
	}
}

// leveled is a configuration whose model knows some levels.
type leveled struct {
	oneModel
	levels []string
	own    string // what the configuration says
}

func (m leveled) Model(name string) (agent.Model, api.Model, error) {
	made, listed, err := m.oneModel.Model(name)
	listed.ThinkingLevels, listed.Thinking = m.levels, m.own
	return made, listed, err
}

// The list says what counts: the level that was chosen or the nearest that the model
// knows. It is announced to all, and known after a restart without opening the session.
func TestThinkingInTheList(t *testing.T) {
	for _, c := range []struct {
		levels            []string
		own, chosen, want string
	}{
		{[]string{"low", "high"}, "low", "", "low"}, {[]string{"low", "high"}, "low", "high", "high"}, {[]string{"low", "high"}, "", "off", "low"},
		{[]string{"low", "high"}, "", "medium", "low"}, {[]string{"off", "low"}, "", "high", "low"}, {nil, "", "high", "high"}, {nil, "", "", ""},
	} {
		f := newFixture(t, modeltest.New())
		f.deps.Models = leveled{oneModel{modeltest.New()}, c.levels, c.own}
		told := ""
		f.deps.OnSummary = func(summary api.SessionSummary) { told = summary.Thinking }
		m := f.manager(t)
		s := f.create(t, m)
		if c.chosen != "" {
			if err := s.SetThinking(t.Context(), "cli_x", c.chosen); err != nil {
				t.Fatal(err)
			}
		}
		if got := m.List("")[0].Thinking; got != c.want || c.chosen != "" && told != c.want {
			t.Errorf("%+v: listed %q, announced %q", c, got, told)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if got := f.manager(t).List("")[0].Thinking; got != c.want {
			t.Errorf("%+v: after a restart %q", c, got)
		}
	}
}
