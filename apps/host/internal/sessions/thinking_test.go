package sessions_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
)

// How much the model thinks is what config.toml says until somebody sets it, from
// the next turn on and also after a restart. The session names its calls to the
// provider's cache.
func TestThinkingLevel(t *testing.T) {
	model := modeltest.New(modeltest.Say("a"), modeltest.Say("b"), modeltest.Say("c"))
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
	requests := model.Requests()
	for i, want := range []agent.ThinkingLevel{"", agent.ThinkingHigh, agent.ThinkingHigh} {
		if requests[i].Thinking != want || requests[i].CacheKey != id {
			t.Errorf("request %d: thinking %q, cache key %q", i, requests[i].Thinking, requests[i].CacheKey)
		}
	}
}
