package backend_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// trusting is a world with programs that work without asking at first, and have an option that
// scorel does not know.
func trusting(t *testing.T) *world {
	w := newWorld(t)
	program := func(name, mode string, asks bool) backend.Definition {
		return backend.Definition{
			Name: name, Command: os.Args[0], Args: []string{fakeagent.Arg, "--home=" + w.home, "--mode=bypass", "--trusts"}, Mode: mode, Asks: asks,
		}
	}
	bold := program("bold", "bypass", false)
	bold.Asking = "ask"
	old := program("old", "careful", false)
	old.BuiltIn = true
	w.more = []backend.Definition{program("configured", "ask", false), program("unknown", "", false), program("trusted", "", true), old, bold}
	w.restart()
	return w
}

// runUpTo sends a prompt of someone who may use modes up to most, and returns how its turn ended.
func (o *opened) runUpTo(most api.Mode, text string) api.TurnEnded {
	o.w.t.Helper()
	before := len(o.ended)
	key := fmt.Sprintf("%s-%d-%p", most, before, o)
	if _, err := o.SendPromptUpTo(o.w.t.Context(), "cli_y", most, api.SendPromptRequest{SessionID: o.id, ClientKey: key, Text: text}); err != nil {
		o.w.t.Fatal(err)
	}
	o.until("the turn has ended", func() bool { return len(o.ended) > before })
	return o.ended[before]
}

func (o *opened) set(option, value string) {
	o.w.t.Helper()
	if err := o.SetBackendOption(o.w.t.Context(), "host", option, value, anyone); err != nil {
		o.w.t.Fatal(err)
	}
}

func (o *opened) setMode(mode api.Mode) {
	o.w.t.Helper()
	if err := o.SetMode(o.w.t.Context(), "host", mode); err != nil {
		o.w.t.Fatal(err)
	}
}

// cancel cancels the running turn, and waits for its end.
func (o *opened) cancel() {
	o.w.t.Helper()
	if _, err := o.CancelTurn(o.w.t.Context(), o.live.Turn.TurnID); err != nil {
		o.w.t.Fatal(err)
	}
	o.until("the turn has ended", func() bool { return o.live.Turn == nil })
}

// says checks the end of what the agent said, and that the turn ended well.
func (o *opened) says(ended api.TurnEnded, want string) {
	o.w.t.Helper()
	if ended.StopReason != session.StopEnd || !strings.HasSuffix(o.said(), want) {
		o.w.t.Errorf("%+v: said %q, want %q at the end", ended, o.said(), want)
	}
}

// TestAProgramAsksForOthers: people chose for a session that its program asks nothing. It asks in
// the turn of someone who may not choose that, and whatever else was chosen stays.
func TestAProgramAsksForOthers(t *testing.T) {
	for _, most := range []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAuto, "later"} {
		t.Run(string(most), func(t *testing.T) {
			s := trusting(t).session("configured")
			s.says(s.runUpTo(most, "mode"), "mode=ask model=small loud=false trust=false")
			for option, value := range map[string]string{"mode": "bypass", "trust": "true", "loud": "true", "model": "large"} {
				s.set(option, value)
			}
			s.says(s.runUpTo(api.ModeBypass, "mode"), "mode=bypass model=large loud=true trust=true")
			s.says(s.runUpTo("", "mode"), "mode=bypass model=large loud=true trust=true")
			s.says(s.runUpTo(most, "mode"), "mode=ask model=large loud=true trust=false")
			if now := s.valueOf("mode"); now != "bypass" {
				t.Errorf("people see the mode %q for the next turns", now)
			}
			s.says(s.run("mode"), "mode=bypass model=large loud=true trust=true")
			s.says(s.runUpTo(most, "mode"), "mode=ask model=large loud=true trust=false")
			s.w.restart()
			s = s.w.open(s.id)
			s.says(s.runUpTo(most, "mode"), "mode=ask model=large loud=true trust=false")
			s.says(s.run("mode"), "mode=bypass model=large loud=true trust=true")
			s.check()
		})
	}
}

// TestAProgramStaysAsking: in a turn that must ask, nobody changes that.
func TestAProgramStaysAsking(t *testing.T) {
	s := trusting(t).session("configured")
	s.ok("say begun")
	if _, err := s.SendPromptUpTo(t.Context(), "cli_y", api.ModeAuto, api.SendPromptRequest{SessionID: s.id, ClientKey: "waits", Text: "say waits\nwait"}); err != nil {
		t.Fatal(err)
	}
	s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
	for option, value := range map[string]string{"mode": "bypass", "trust": "true"} {
		var refused *api.Error
		if err := s.SetBackendOption(t.Context(), "host", option, value, anyone); !errors.As(err, &refused) || refused.Kind != api.KindConflict {
			t.Errorf("%s: %v", option, err)
		}
	}
	s.set("model", "large")
	s.cancel()
	s.set("mode", "bypass")
	s.says(s.run("mode"), "mode=bypass model=large loud=false trust=false")
}

// TestWhatIsChosenWhileAProgramAsks counts in later turns, too: only what was set aside comes back.
func TestWhatIsChosenWhileAProgramAsks(t *testing.T) {
	s := trusting(t).session("configured")
	s.ok("say begun")
	s.set("mode", "bypass")
	s.set("trust", "true")
	if _, err := s.SendPromptUpTo(t.Context(), "cli_y", api.ModeAuto, api.SendPromptRequest{SessionID: s.id, ClientKey: "waits", Text: "say waits\nwait"}); err != nil {
		t.Fatal(err)
	}
	s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
	s.set("model", "large")
	s.set("loud", "true")
	s.cancel()
	s.says(s.run("mode"), "mode=bypass model=large loud=true trust=true")
}

// TestAConfiguredModeComesBack: the first turn of a session is someone's who may not have the program
// work without asking, as config.toml says it does.
func TestAConfiguredModeComesBack(t *testing.T) {
	w := trusting(t)
	s := w.session("bold")
	s.says(s.runUpTo(api.ModeAuto, "mode"), "mode=ask model=small loud=false trust=false")
	s.says(s.run("mode"), "mode=bypass model=small loud=false trust=false")
}

// TestAProgramThatDoesNotAsk works for those who may have it act without asking, and for others if
// config.toml says that its own settings make it ask.
func TestAProgramThatDoesNotAsk(t *testing.T) {
	w := trusting(t)
	s := w.session("unknown")
	s.says(s.runUpTo(api.ModeBypass, "mode"), "mode=bypass model=small loud=false trust=false")
	for _, most := range []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAuto} {
		ended := s.runUpTo(most, "mode")
		if ended.StopReason != session.StopError || !strings.Contains(ended.Error, "set asks = true in its [backends.unknown]") {
			t.Errorf("%s: %+v", most, ended)
		}
	}
	s = w.session("old") // another version of the program has other modes
	if ended := s.runUpTo(api.ModeAuto, "mode"); !strings.Contains(ended.Error, `the mode "careful"`) {
		t.Errorf("%+v", ended)
	}
	s = w.session("trusted")
	s.says(s.runUpTo(api.ModeAuto, "mode"), "mode=bypass model=small loud=false trust=false")
	s.set("mode", "ask")
	s.set("trust", "true")
	s.says(s.runUpTo(api.ModeAuto, "mode"), "mode=ask model=small loud=false trust=false")
}

// TestAProgramInPlan: in the mode plan a program must ask, whoever sends the prompt.
func TestAProgramInPlan(t *testing.T) {
	w := trusting(t)
	s := w.session("configured")
	s.ok("say begun")
	s.set("mode", "bypass")
	s.setMode(api.ModePlan)
	s.says(s.runUpTo(api.ModeBypass, "mode"), "mode=ask model=small loud=false trust=false")
	s.setMode(api.ModeAsk)
	s.says(s.run("mode"), "mode=bypass model=small loud=false trust=false")
	s = w.session("unknown")
	s.setMode(api.ModePlan)
	if ended := s.runUpTo(api.ModeBypass, "mode"); ended.StopReason != session.StopError || !strings.Contains(ended.Error, `the mode "plan"`) {
		t.Errorf("%+v", ended)
	}
}

// TestPlanInARunningTurn: a program that works without asking asks as soon as the session is set to the
// mode plan, and nobody changes that in this turn.
func TestPlanInARunningTurn(t *testing.T) {
	s := trusting(t).session("configured")
	s.ok("say begun")
	s.set("mode", "bypass")
	s.set("trust", "true")
	s.send("say waits\nwait")
	s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
	s.setMode(api.ModeAsk)
	s.setMode(api.ModePlan)
	s.until("the agent asks", func() bool {
		custom, ok := s.entries[len(s.entries)-1].AsCustom()
		return ok && strings.Contains(string(custom.Data), `"value":"ask"`)
	})
	s.setMode(api.ModeBypass)
	var refused *api.Error
	if err := s.SetBackendOption(t.Context(), "host", "mode", "bypass", anyone); !errors.As(err, &refused) || refused.Kind != api.KindConflict {
		t.Errorf("in a turn that must ask: %v", err)
	}
	s.cancel()
	s.says(s.run("mode"), "mode=bypass model=small loud=false trust=true")
	s.check()
}

// TestPlanEndsAProgramThatDoesNotAsk: one that cannot be set to ask does not continue.
func TestPlanEndsAProgramThatDoesNotAsk(t *testing.T) {
	for backend, why := range map[string]string{"unknown": "has no mode in which it asks", "old": `the mode "careful"`} {
		t.Run(backend, func(t *testing.T) {
			s := trusting(t).session(backend)
			s.send("say waits\nwait")
			s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
			s.setMode(api.ModePlan)
			s.until("the turn has ended", func() bool { return len(s.ended) == 1 })
			if ended := s.ended[0]; ended.StopReason != session.StopError || !strings.Contains(ended.Error, why) || !strings.Contains(ended.Error, `the mode "plan"`) {
				t.Errorf("%+v", ended)
			}
		})
	}
}

// TestAPromptThatMoves: a prompt that waited on another machine runs on this one, where nobody has
// allowed that its program works without asking.
func TestAPromptThatMoves(t *testing.T) {
	for backend, want := range map[string]string{"configured": "", "unknown": "may act without asking"} {
		t.Run(backend, func(t *testing.T) {
			from := trusting(t)
			s := from.session(backend)
			s.ok("say begun")
			s.set("mode", "bypass")
			s.send("say waits\nwait")
			s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
			s.send("mode")
			moved := session.MovedRecord{MoveID: "mov_00000000000000000000000000000000", From: "dev_a", To: "dev_b"}
			left, err := from.manager.Handover.Leaving(t.Context(), s.id, moved)
			if err != nil {
				t.Fatal(err)
			}
			w := trusting(t)
			arrival := sessions.Arrival{SessionID: s.id, Read: func() ([]byte, error) { return left, nil }}
			if err := w.manager.Handover.Arrive(t.Context(), w.project.ID, []sessions.Arrival{arrival}, moved, "note"); err != nil {
				t.Fatal(err)
			}
			in := w.open(s.id)
			in.until("the prompt has run", func() bool { return in.live.Turn == nil && len(in.live.Queue) == 0 })
			if strings.Contains(in.said(), "mode=bypass") || want == "" && !strings.Contains(in.said(), "mode=ask") {
				t.Errorf("the agent says %q", in.said())
			}
			ends := 0
			for _, e := range in.entries {
				if custom, ok := e.AsCustom(); ok && custom.CustomType == session.CustomTurn && want != "" && strings.Contains(string(custom.Data), want) {
					ends++
				}
			}
			if want != "" && ends != 1 {
				t.Errorf("%d turns ended because the program does not ask", ends)
			}
		})
	}
}
