package backend_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// anyone allows every change of an option.
func anyone(string, bool) error { return nil }

// valueOf returns the value of an option in the log, as a client reads it.
func (o *opened) valueOf(id string) string {
	o.w.t.Helper()
	now, err := o.Backend(o.w.t.Context())
	if err != nil {
		o.w.t.Fatal(err)
	}
	i := slices.IndexFunc(now.Options, func(option session.BackendOption) bool { return option.ID == id })
	if i < 0 {
		o.w.t.Fatalf("there is no option %q: %+v", id, now)
	}
	return now.Options[i].Value
}

// TestOptions changes options of an agent that waits, that does not run and in the middle of a turn.
func TestOptions(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	if now, err := s.Backend(t.Context()); err != nil || len(now.Options) != 0 || now.Backend != "fake" {
		t.Errorf("before the first turn: %+v, %v", now, err)
	}
	s.ok("say begun")
	set := func(option, value string) {
		t.Helper()
		if err := s.SetBackendOption(t.Context(), "cli_x", option, value, anyone); err != nil {
			t.Fatal(err)
		}
		if got := s.valueOf(option); got != value {
			t.Errorf("the option %s is %q, want %q", option, got, value)
		}
	}
	says := func(want string) {
		t.Helper()
		if s.ok("mode"); !strings.HasSuffix(s.said(), want) {
			t.Errorf("said %q, want %q at the end", s.said(), want)
		}
	}
	says("mode=ask model=small loud=false")
	set("mode", "bypass")
	set("model", "large")
	set("loud", "true")
	says("mode=bypass model=large loud=true")
	if now, err := s.Backend(t.Context()); err != nil || !now.Decides {
		t.Errorf("it works without asking: %+v, %v", now, err)
	}
	w.restart() // nothing runs
	s = w.open(s.id)
	set("mode", "ask")
	says("mode=ask model=large loud=true")
	s.send("say waits\nwait\nmode")
	s.until("the turn runs", func() bool { return len(s.live.Partial) > 0 })
	set("model", "small")
	if ok, err := s.CancelTurn(t.Context(), s.live.Turn.TurnID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.until("the turn has ended", func() bool { return s.live.Turn == nil })
	says("mode=ask model=small loud=true")
	s.ok(`update {"sessionUpdate":"config_option_update","configOptions":[]}`)
	if s.valueOf("mode") != "ask" || s.valueOf("model") != "small" {
		t.Error("an update of the options dropped the mode and the model")
	}
	s.check()
}

// TestOptionNotAnswered: a program that does not answer a change may be in any mode, so the next turn
// starts it again, in the mode of the log.
func TestOptionNotAnswered(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.options.OptionTimeout = 50 * time.Millisecond
	w.start()
	s := w.session("fake")
	s.ok("mute\nmode")
	if err := s.SetBackendOption(t.Context(), "cli_x", "mode", "bypass", anyone); err == nil {
		t.Error("an option was changed without an answer")
	}
	if s.ok("mode"); !strings.HasSuffix(s.said(), "mode=ask model=small loud=false") {
		t.Errorf("said %q", s.said())
	}
	if s.valueOf("mode") != "ask" {
		t.Errorf("the log has the mode %s", s.valueOf("mode"))
	}
}

// TestOptionsRefused changes nothing that does not exist or is not allowed.
func TestOptionsRefused(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok("say begun")
	before := len(s.records(session.BackendOptions))
	denied := errors.New("denied")
	for _, c := range []struct{ option, value, want string }{
		{"none", "x", "no option"}, {"mode", "none", "no value"}, {"mode", "bypass", "denied"}, {"loud", "maybe", "no value"},
	} {
		err := s.SetBackendOption(t.Context(), "cli_x", c.option, c.value, func(category string, decides bool) error {
			if category != "mode" || !decides {
				t.Errorf("asked about %q, %v", category, decides)
			}
			return denied
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SetBackendOption(ctx, "cli_x", "mode", "bypass", anyone); err == nil {
		t.Error("a canceled request was made")
	}
	if s.ok("mode"); !strings.HasSuffix(s.said(), "mode=ask model=small loud=false") {
		t.Errorf("said %q", s.said())
	}
	if n := len(s.records(session.BackendOptions)); n != before {
		t.Errorf("%d records of options were added", n-before)
	}
}

// TestCommands: what an agent names can be called, also where scorel's own agent has such a command.
func TestCommands(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok(`update {"sessionUpdate":"available_commands_update","availableCommands":[{"name":"compact","description":"Shorten","input":{"hint":"focus"}}]}`)
	now, err := s.Backend(t.Context())
	if err != nil || len(now.Commands) != 1 || now.Commands[0] != (session.BackendCommand{Name: "compact", Description: "Shorten", Hint: "focus"}) {
		t.Errorf("%+v, %v", now, err)
	}
	s.ok("/compact the parser\nrecall")
	if said := s.said(); !strings.Contains(said, "/compact the parser") {
		t.Errorf("the agent did not get its command: %q", said)
	}
}
