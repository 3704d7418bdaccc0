package backend_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/packages/protocol/session"
)

// fewCalls is the limit of calls in TestTrouble: each writes two entries.
const fewCalls = 200

// TestTrouble has the agent do what agents should not do: each turn ends once, the host lives,
// and the next prompt works.
func TestTrouble(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"crash at once", "crash", "ended unexpectedly"},
		{"crash after text", "say half a sen\ncrash", "ended unexpectedly"},
		{"crash in a call", "call c1 execute make\nrun c1\ncrash", "ended unexpectedly"},
		{"error", "say hm\nerror the model is gone", "the model is gone"},
		{"runaway calls", fmt.Sprintf("calls %d", fewCalls+10), "more than 200"},
		{"too many open calls", fmt.Sprintf("open %d", backend.MaxOpenCalls+10), "at once"},
		{"too much", "line 1\nline 1\nline 1\nline 1", "more than 3 MiB"},
		{"garbage without end", "garbage 2000\nwait", "no messages"},
		{"refusal", "stop refusal", "refused"},
		{"unknown reason", "stop because", "because"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.stop()
			w.options.MaxTurnBytes, w.options.MaxCalls = 3<<20, fewCalls
			w.start()
			s := w.session("fake")
			ended := s.run(c.script)
			if ended.StopReason != session.StopError || !strings.Contains(ended.Error, c.want) {
				t.Errorf("the turn ended with %s: %q, want %q", ended.StopReason, ended.Error, c.want)
			}
			complete(t, s)
			s.check()
			s.ok("say back again")
			if !strings.HasSuffix(s.said(), "back again") {
				t.Errorf("said %q", s.said())
			}
			if len(s.ended) != 2 {
				t.Errorf("%d turns ended, want 2", len(s.ended))
			}
		})
	}
}

// complete checks that every call has exactly one result.
func complete(t *testing.T, s *opened) {
	t.Helper()
	open := map[string]int{}
	for _, m := range s.messages() {
		for _, call := range m.Content.ToolCalls() {
			open[call.ID]++
		}
		if m.Role == session.RoleToolResult {
			open[m.ToolCallID]--
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("the call %s has %d results too few", id, n)
		}
	}
}

// TestMuch has the agent send much, which is no fault.
func TestMuch(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok(fmt.Sprintf("flood %d", manyUpdates))
	said, last := s.said(), fmt.Sprintf(" %d ", manyUpdates-1)
	if !strings.HasPrefix(said, "0 1 2 ") || !strings.HasSuffix(said, last) || strings.Count(said, " ") != manyUpdates {
		t.Errorf("%d bytes were kept", len(said))
	}
	if s.deltas > manyUpdates/5 {
		t.Errorf("%d chunks were sent as %d events", manyUpdates, s.deltas)
	}
	s.ok("garbage 50\npicture 20\nsay fine")
	kept := s.records(session.BackendUpdate)
	if len(kept) != 1 || !strings.HasPrefix(kept[0].Text, `{"sessionUpdate":"agent_message_chunk","content":{"type":"image"`) || len(kept[0].Text) > backend.MaxRecord+100 {
		t.Errorf("of a line of 20 MiB were kept %d records: %.300s", len(kept), fmt.Sprint(kept))
	}
	s.check()
}

// TestLongMessage has the agent send a message that is longer than one of the log may be.
func TestLongMessage(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok("line 2\nsay end")
	if said := s.said(); len(said) != 2<<20+len("end") || !strings.HasSuffix(said, "0123456789abcdefend") {
		t.Errorf("%d bytes of a message of 2 MiB were kept", len(said))
	}
	var reasons []session.StopReason
	for _, m := range s.messages() {
		if n := len(m.Content.Plain()); n > backend.MaxMessage+100 {
			t.Errorf("a message of the log has %d bytes", n)
		}
		if m.Role == session.RoleAssistant {
			reasons = append(reasons, m.StopReason)
		}
	}
	for i, reason := range reasons { // a host that is killed between two parts must find a turn to end
		if last := i == len(reasons)-1; (reason == session.StopEnd) != last {
			t.Errorf("part %d of %d ends with %s", i+1, len(reasons), reason)
		}
	}
	s.check()
}

// TestSilence cancels an agent that does not react: it is ended, and the next prompt starts it.
func TestSilence(t *testing.T) {
	for _, script := range []string{"say a\nsilent", "call c1 execute sleep\nrun c1\nsilent"} {
		w := newWorld(t)
		s := w.session("fake")
		s.send(script)
		s.until("something came", func() bool { return len(s.live.Partial) > 0 || len(s.live.Tools) > 0 })
		if ok, err := s.CancelTurn(t.Context(), s.live.Turn.TurnID); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s.until("the turn has ended", func() bool { return len(s.ended) == 1 })
		if s.ended[0].StopReason != session.StopAborted {
			t.Errorf("%+v", s.ended[0])
		}
		complete(t, s)
		s.check()
		s.ok("recall")
		if !strings.Contains(s.said(), "silent") { // it has loaded its session
			t.Errorf("said %q", s.said())
		}
	}
}

// TestRestart continues the agent's session after a restart of the host.
func TestRestart(t *testing.T) {
	for _, args := range [][]string{nil, {"--no-resume"}} {
		w := newWorld(t, args...)
		s := w.session("fake")
		s.ok("say one")
		w.restart()
		s = w.open(s.id)
		s.ok("recall")
		if all := s.records(session.BackendSession); len(all) != 2 || all[0].AgentSession != all[1].AgentSession || all[1].Rebuilt != 0 {
			t.Errorf("%v: %+v", args, all)
		}
		if said := s.said(); !strings.Contains(said, "say one") || strings.Contains(said, "<transcript>") {
			t.Errorf("%v: said %q", args, said)
		}
		s.check()
	}
}

// TestModeStays: a program that was started again continues in the session's mode, not in its own
// default, in which it would ask less; an imported session begins in that of config.toml.
func TestModeStays(t *testing.T) {
	for _, args := range [][]string{nil, {"--no-resume"}} {
		w := newWorld(t, args...)
		s := w.session("asking")
		s.ok("mode")
		w.restart()
		s = w.open(s.id)
		s.ok("mode")
		if said := s.said(); strings.Count(said, "mode=ask") != 2 {
			t.Errorf("%v: it worked in %q", args, said)
		}
		imported := w.importTranscript("mine-2", "asking", "say from the terminal")
		if err := imported.SetBackend(t.Context(), "cli_x", "asking"); err != nil {
			t.Fatal(err)
		}
		imported.ok("mode")
		if said := imported.said(); !strings.Contains(said, "mode=ask") {
			t.Errorf("%v: an imported session worked in %q", args, said)
		}
		if all := s.records(session.BackendOptions); len(all) != 1 || all[0].Decides {
			t.Errorf("%v: %+v", args, all)
		}
	}
}

// TestForgetful gives an agent that cannot load sessions the context as text.
func TestForgetful(t *testing.T) {
	w := newWorld(t, "--no-load")
	s := w.session("fake")
	s.ok("say the secret word is plum")
	w.restart()
	s = w.open(s.id)
	s.ok("recall")
	all := s.records(session.BackendSession)
	if len(all) != 2 || all[0].AgentSession == all[1].AgentSession || all[1].Rebuilt != 2 {
		t.Errorf("%+v", all)
	}
	if said := s.said(); !strings.Contains(said, "Agent: the secret word is plum") {
		t.Errorf("said %q", said)
	}
}

// TestHostEnds ends the host in the middle of a turn, with a permission that waits: the turn has
// one end, and nothing waits afterwards.
func TestHostEnds(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.send("call c1 execute make\nask c1\nwait")
	s.until("an approval waits", func() bool { return len(s.live.Approvals) == 1 })
	w.restart()
	s = w.open(s.id)
	if len(s.live.Approvals) != 0 || s.live.Turn != nil {
		t.Errorf("after the restart: %+v", s.live)
	}
	complete(t, s)
	s.check()
	s.ok("say on")
}

// TestIdle ends a program that is not used, and starts it again.
func TestIdle(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.options.IdleAfter = time.Millisecond
	w.start()
	s := w.session("fake")
	s.ok("say one")
	for end := time.Now().Add(patience); w.backends.Running() > 0; {
		if time.Now().After(end) {
			t.Fatal("the program was not ended")
		}
		<-time.After(time.Millisecond)
	}
	s.ok("recall")
	if said := s.said(); !strings.Contains(said, "say one") {
		t.Errorf("said %q", said)
	}
}
