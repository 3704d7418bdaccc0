package sessions_test

import (
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestASecondPauseLeavesTheFirst: a session is to be moved twice at once. The second request
// fails, and the session stays paused for the first one.
func TestASecondPauseLeavesTheFirst(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("never")))
	m := f.manager(t)
	s := f.create(t, m)
	why := api.Errorf(api.KindUnavailable, "it is being moved")
	check(t, m.Handover.Pause(t.Context(), []string{s.ID()}, why, false))
	if m.Handover.Pause(t.Context(), []string{s.ID()}, why, true) == nil {
		t.Error("the session was paused twice")
	}
	if _, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k", Text: "hi"}); err == nil {
		t.Fatal("the session takes prompts while it is being moved")
	}
	m.Handover.Resume(t.Context(), []string{s.ID()})
	send(t, s, "k", "hi")
}

// away has all sessions on another host.
type away struct{}

func (away) Paused(string) error { return nil }
func (away) Gone(string) bool    { return true }

// TestASessionThatLeftIsForgottenAfterARestart: the host ends before it has removed a session
// that belongs to another host. What hangs on the session ends anyway.
func TestASessionThatLeftIsForgottenAfterARestart(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	s := f.create(t, m)
	check(t, m.Close())
	var forgotten []string
	f.deps.Moves, f.deps.OnDelete = away{}, func(_, id string) { forgotten = append(forgotten, id) }
	m = f.manager(t)
	check(t, m.Handover.Remove(t.Context(), []string{s.ID()}))
	if !slices.Equal(forgotten, []string{s.ID()}) {
		t.Errorf("forgotten: %q", forgotten)
	}
}
