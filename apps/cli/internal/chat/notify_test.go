package chat

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestNotificationsFitTheTerminal: each terminal gets what it understands, and a title cannot
// control it.
func TestNotificationsFitTheTerminal(t *testing.T) {
	const hostile = "Done: a\x07b\x1b]52;c;x\x1b\\;e"
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"unknown":      {[]string{"TERM=xterm-256color"}, "\a"},
		"nothing":      {nil, "\a"},
		"iTerm2":       {[]string{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}, "\x1b]9;scorel: Done: a\\x07b\\x1b]52;c;x\\x1b\\;e\a"},
		"kitty":        {[]string{"TERM=xterm-kitty"}, "\x1b]9;scorel: Done: a\\x07b\\x1b]52;c;x\\x1b\\;e\a"},
		"foot":         {[]string{"TERM=foot"}, "\x1b]777;notify;scorel;Done: a\\x07b\\x1b]52,c,x\\x1b\\,e\a"},
		"VTE":          {[]string{"TERM=xterm-256color", "VTE_VERSION=7800"}, "\x1b]777;notify;scorel;Done: a\\x07b\\x1b]52,c,x\\x1b\\,e\a\a"},
		"tmux in foot": {[]string{"TERM=tmux-256color", "TMUX=/tmp/x", "TERM_PROGRAM=tmux"}, "\a"},
	} {
		if got := notification(c.environ, hostile); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := notification([]string{"TERM=foot"}, strings.Repeat("界", 1000)); len(got) > 1000 {
		t.Errorf("a long title makes a notification of %d bytes", len(got))
	}
}

// rung returns what a command writes to the terminal; "" for nothing.
func rung(t *testing.T, cmd tea.Cmd) string {
	t.Helper()
	if cmd == nil {
		return ""
	}
	raw, ok := cmd().(tea.RawMsg)
	if !ok {
		t.Fatalf("the command makes %T", cmd())
	}
	return raw.Msg.(string)
}

// TestATerminalNotifiesOnce: of each card and end of a turn, and only while it has no focus.
func TestATerminalNotifiesOnce(t *testing.T) {
	a := attention{environ: []string{"TERM=foot"}}
	with := func(card, what string) sight { return sight{guest: true, title: "Fix it", card: card, what: what} }
	first := with("a1", "Approval needed")
	if got := rung(t, a.notify(first)); got != "" {
		t.Errorf("a focused terminal notifies: %q", got)
	}
	a.blurred(first)
	if got := rung(t, a.notify(first)); got != "" {
		t.Errorf("what was on the screen is notified: %q", got)
	}
	second := with("a2", "Approval needed")
	if got := rung(t, a.notify(second)); !strings.Contains(got, "Approval needed: Fix it") {
		t.Errorf("the new approval is not notified: %q", got)
	}
	if got := rung(t, a.notify(second)); got != "" {
		t.Errorf("the same approval is notified again: %q", got)
	}
	if got := rung(t, a.notify(with("q1", "Question"))); !strings.Contains(got, "Question: Fix it") {
		t.Errorf("the question is not notified: %q", got)
	}
	nothing := with("", "")
	for reason, want := range map[api.TurnEnded]string{
		{StopReason: session.StopAborted}:           "",
		{StopReason: session.StopEnd}:               "Done: Fix it",
		{StopReason: session.StopError, Error: "x"}: "Failed: Fix it",
	} {
		a.turnEnded(reason)
		if got := rung(t, a.notify(nothing)); (got != "") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("after %+v: %q, want %q", reason, got, want)
		}
	}
	a.turnEnded(api.TurnEnded{StopReason: session.StopEnd})
	a.focused()
	a.blurred(nothing)
	if got := rung(t, a.notify(nothing)); got != "" {
		t.Errorf("a turn is notified that a person saw end: %q", got)
	}
	a.silent = true
	if got := rung(t, a.notify(with("q2", "Question"))); got != "" {
		t.Errorf("--no-notify: %q", got)
	}
}

// TestATerminalOutOfSight tells the host that nobody looks, again after each reconnection, and
// that somebody does.
func TestATerminalOutOfSight(t *testing.T) {
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	m := w.model
	if m.look.told != "" {
		t.Fatalf("the host was told of %q", m.look.told)
	}
	w.send(tea.BlurMsg{})
	old := unseen{m.look.turns}
	w.send(tea.FocusMsg{})
	w.send(old) // the timer of a focus that returned
	if m.look.unseen {
		t.Error("an old timer makes a focused terminal unseen")
	}
	w.send(tea.BlurMsg{})
	w.send(unseen{m.look.turns})
	id := m.session.Summary.ID
	w.until("the host knows", func(string) bool { return m.look.told == id && !m.look.tellingIt })
	w.stop()
	w.until("the loss of the connection", func(string) bool { return !m.conn.connected })
	w.startHost()
	w.until("the host knows again", func(string) bool {
		return m.conn.connected && m.look.links == 2 && m.look.told == id && !m.look.tellingIt
	})
	w.send(tea.FocusMsg{})
	w.until("the host knows that somebody looks", func(string) bool { return m.look.told == "" && !m.look.tellingIt })
}

// TestATerminalFollowsThePolicy: levels, those of the session first, and quiet hours.
func TestATerminalFollowsThePolicy(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	approval, ended := notice{text: "Approval needed", card: "a1"}, notice{text: "Done", ended: true}
	failed := notice{text: "Failed"}
	policy := func(level api.PushLevel, own api.PushLevel, quiet int64) api.ListPushResponse {
		s := api.PushSettings{Level: level}
		if own != "" {
			s.Sessions = []api.PushSession{{SessionID: "other", Level: api.PushAll}, {SessionID: "s1", Level: own}}
		}
		return api.ListPushResponse{Settings: []api.PushSettings{s}, QuietUntil: quiet}
	}
	for name, c := range map[string]struct {
		notice  notice
		policy  api.ListPushResponse
		allowed bool
		after   time.Duration
	}{
		"all":                   {ended, policy(api.PushAll, "", 0), true, 0},
		"needs, ended":          {ended, policy(api.PushNeeds, "", 0), false, 0},
		"needs, failed":         {failed, policy(api.PushNeeds, "", 0), true, 0},
		"needs, approval":       {approval, policy(api.PushNeeds, "", 0), true, 0},
		"none":                  {approval, policy(api.PushNone, "", 0), false, 0},
		"the session has none":  {approval, policy(api.PushAll, api.PushNone, 0), false, 0},
		"the session has all":   {ended, policy(api.PushNone, api.PushAll, 0), true, 0},
		"quiet":                 {approval, policy(api.PushAll, "", 1_060_000), false, time.Minute},
		"quiet, but over":       {approval, policy(api.PushAll, "", 1_000), false, time.Second},
		"quiet, ended":          {ended, policy(api.PushAll, "", 1_060_000), false, 0},
		"quiet and not wanted":  {approval, policy(api.PushNone, "", 1_060_000), false, 0},
		"quiet, in the session": {approval, policy(api.PushNone, api.PushNeeds, 1_060_000), false, time.Minute},
	} {
		if allowed, after := (judged{c.notice, "s1", c.policy}).verdict(now); allowed != c.allowed || after != c.after {
			t.Errorf("%s: %v, after %s", name, allowed, after)
		}
	}
	a := attention{environ: []string{"TERM=foot"}, now: func() time.Time { return now }}
	waiting := sight{guest: true, card: "a1"}
	a.blurred(waiting)
	approval.turn = a.turns
	allow, refuse := judged{notice: approval}, judged{approval, "s1", policy(api.PushNone, "", 0)}
	if rung(t, a.wasJudged(allow, waiting)) == "" || rung(t, a.quietEnded(approval, waiting)) == "" {
		t.Error("what still waits is not notified")
	}
	if a.wasJudged(refuse, waiting) != nil {
		t.Error("what is not allowed is notified")
	}
	if a.quietEnded(approval, sight{guest: true, card: "a2"}) != nil {
		t.Error("what waits no more is notified after quiet hours")
	}
	a.focused()
	a.blurred(waiting)
	if a.wasJudged(allow, waiting) != nil || a.quietEnded(approval, waiting) != nil {
		t.Error("what a person has seen is notified")
	}
}

// TestATerminalAsksTheHost stores a policy on a real host, which then decides.
func TestATerminalAsksTheHost(t *testing.T) {
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	w.send(tea.BlurMsg{})
	judge := func() (allowed bool, after time.Duration) {
		t.Helper()
		got, ok := w.model.look.judge(notice{text: "Approval needed", card: "a1"}, w.model.sight())().(judged)
		if !ok {
			t.Fatal("the host was not asked")
		}
		return got.verdict(time.Now())
	}
	set := func(r api.SetPushRequest) {
		t.Helper()
		if _, err := feed.Do(t.Context(), w.model.conn.feed, api.SetPush, r); err != nil {
			t.Fatal(err)
		}
	}
	if allowed, _ := judge(); !allowed {
		t.Error("nothing is notified without settings")
	}
	now := time.Now().UTC()
	quiet := &api.PushQuiet{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(time.Hour).Format("15:04"), Zone: "UTC"}
	set(api.SetPushRequest{Quiet: quiet})
	if allowed, after := judge(); allowed || after < time.Minute || after > time.Hour {
		t.Errorf("in quiet hours: %v, after %s", allowed, after)
	}
	set(api.SetPushRequest{Quiet: &api.PushQuiet{}, SessionID: w.model.session.Summary.ID, Level: api.PushNone})
	if allowed, after := judge(); allowed || after != 0 {
		t.Errorf("with the level none: %v, after %s", allowed, after)
	}
}
