package chat

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxNotice bounds the text of a notification, in cells.
const maxNotice = 200

// turnEnded notes how a turn ended, for a notification.
func (a *attention) turnEnded(e api.TurnEnded) {
	switch {
	case !a.away || e.StopReason == session.StopAborted:
	case e.Error != "":
		a.ended = "Failed"
	default:
		a.ended = done
	}
}

// notify notifies through the terminal what happened since it lost the focus.
func (a *attention) notify(s sight) tea.Cmd {
	what := a.ended
	a.ended = ""
	if !a.away || a.silent {
		return nil
	}
	if s.card != "" && s.card != a.card {
		what = s.what
	}
	a.card = s.card
	if what == "" {
		return nil
	}
	return a.judge(notice{text: what + ": " + s.title, card: s.card, ended: what == done, turn: a.turns}, s)
}

const (
	// done is what a turn that ended well is notified with.
	done = "Done"
	// policyTimeout bounds how long the host may take to say what this client is notified of.
	policyTimeout = 5 * time.Second
)

// notice is what the terminal is to notify of.
type notice struct {
	text  string
	card  string // of the approval or question; "" for the end of a turn
	ended bool   // it is the end of a turn that went well
	turn  int    // of the focus
}

// Messages about a notice.
type (
	judged struct {
		notice
		sessionID string
		policy    api.ListPushResponse // without settings if the host is older, or away
	}
	quietOver struct{ notice }
)

// judge has a notice shown if the level and the quiet hours of this client allow that, which the
// host stores. Guests have none.
func (a *attention) judge(n notice, s sight) tea.Cmd {
	if s.guest {
		return a.ring(n)
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.remote.ctx, policyTimeout)
		defer cancel()
		policy, err := ask(s.remote.within(ctx), api.ListPush, api.ListPushRequest{})
		if err != nil {
			policy = api.ListPushResponse{}
		}
		return judged{n, s.session, policy}
	}
}

// verdict applies the policy of the host, as it does for other notifications: in quiet hours nothing
// is shown, and what still waits when they end is, after the returned time; 0 means never.
func (j judged) verdict(now time.Time) (allowed bool, after time.Duration) {
	if len(j.policy.Settings) == 0 {
		return true, 0
	}
	settings := j.policy.Settings[0]
	level := settings.Level
	for _, own := range settings.Sessions {
		if own.SessionID == j.sessionID {
			level = own.Level
		}
	}
	wanted := level != api.PushNone && (level == api.PushAll || !j.ended)
	switch quiet := j.policy.QuietUntil; {
	case quiet == 0:
		return wanted, 0
	case wanted && j.card != "":
		return false, max(time.UnixMilli(quiet).Sub(now), time.Second)
	}
	return false, 0
}

// wasJudged shows a notice that is allowed, unless somebody looks by now.
func (a *attention) wasJudged(j judged, s sight) tea.Cmd {
	if !a.away || a.turns != j.turn {
		return nil
	}
	switch allowed, pause := j.verdict(a.now()); {
	case allowed:
		return a.ring(j.notice)
	case pause > 0:
		return after(s.remote.ctx, pause, quietOver{j.notice})
	}
	return nil
}

// quietEnded notifies of what still waits after quiet hours in which nobody looked.
func (a *attention) quietEnded(n notice, s sight) tea.Cmd {
	if !a.away || a.turns != n.turn || s.card != n.card {
		return nil
	}
	return a.judge(n, s)
}

func (a *attention) ring(n notice) tea.Cmd { return tea.Raw(notification(a.environ, n.text)) }

// notification returns what has a terminal notify a person. Terminals that are known to show
// notifications get one, the others ring their bell, as do multiplexers, which pass on nothing
// else.
func notification(environ []string, text string) string {
	text = ansi.Truncate(sanitize.Line(text), maxNotice, "…")
	env := func(name string) string {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	term, program := env("TERM"), strings.ToLower(env("TERM_PROGRAM"))
	bell := string(rune(ansi.BEL))
	urxvt := ansi.URxvtExt("notify", "scorel", strings.ReplaceAll(text, ";", ","))
	switch {
	case env("TMUX") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux"):
		return bell
	case program == "iterm.app" || program == "wezterm" || program == "ghostty" || term == "xterm-kitty" || term == "xterm-ghostty":
		return ansi.Notify("scorel: " + text)
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return urxvt
	case env("VTE_VERSION") != "": // only some of its builds show notifications
		return urxvt + bell
	}
	return bell
}
