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

// unseenAfter is how long the terminal is without the focus before the host learns that nobody
// looks here, and notifies people elsewhere.
const unseenAfter = 10 * time.Second

// maxNotice bounds the text of a notification, in cells.
const maxNotice = 200

// attention is whether a person looks at this terminal. A terminal that does not report its
// focus counts as looked at.
type attention struct {
	away   bool   // the terminal has not the focus
	unseen bool   // for so long that nobody looks here
	turns  int    // counts changes of the focus, so that an old timer means nothing
	card   string // the card that was notified of
	ended  string // what to notify of: how the last turn ended; "" for nothing

	told      string // the session of which the host knows that nobody sees it
	tellingIt bool
	links     int // counts connections, to each of which it is told again
}

// Messages about attention.
type (
	unseen   struct{ turn int }
	attended struct {
		hidden string
		link   int
	}
)

// focused notes that the terminal gained the focus.
func (m *Model) focused() {
	m.look.away, m.look.unseen, m.look.ended = false, false, ""
	m.look.turns++
}

// blurred notes that the terminal lost the focus.
func (m *Model) blurred() tea.Cmd {
	m.look.away, m.look.card = true, m.card.id // what is on the screen was seen
	m.look.turns++
	turn := m.look.turns
	return tea.Tick(unseenAfter, func(time.Time) tea.Msg { return unseen{turn} })
}

// attend tells the host whether somebody sees the session, one request after the other.
func (m *Model) attend() tea.Cmd {
	hidden := ""
	if m.look.unseen {
		hidden = m.session.Summary.ID
	}
	if m.look.tellingIt || !m.conn.connected || m.conn.to.Guest || hidden == m.look.told {
		return nil
	}
	m.look.tellingIt = true
	request := api.SetAttendanceRequest{Attended: true}
	if hidden != "" {
		request.Hidden = []string{hidden}
	}
	r, link := m.conn.remote(), m.look.links
	return func() tea.Msg {
		_, _ = ask(r, api.SetAttendance, request) // an older host does not know it
		return attended{hidden, link}
	}
}

// wasAttended notes what the host knows. After an error it is not asked again on this
// connection.
func (m *Model) wasAttended(msg attended) {
	m.look.tellingIt = false
	if m.look.told = msg.hidden; msg.link != m.look.links {
		m.look.told = "" // it may have been another connection that learned it
	}
}

// turnEnded notes how a turn ended, for a notification.
func (m *Model) turnEnded(e api.TurnEnded) {
	switch {
	case !m.look.away || e.StopReason == session.StopAborted:
	case e.Error != "":
		m.look.ended = "Failed"
	default:
		m.look.ended = done
	}
}

// notify notifies through the terminal what happened since it lost the focus.
func (m *Model) notify() tea.Cmd {
	what := m.look.ended
	m.look.ended = ""
	switch {
	case !m.look.away || m.cfg.NoNotify:
		return nil
	case m.card.id != "" && m.card.id != m.look.card && m.card.approval != nil:
		what = "Approval needed"
	case m.card.id != "" && m.card.id != m.look.card:
		what = "Question"
	}
	m.look.card = m.card.id
	if what == "" {
		return nil
	}
	return m.judge(notice{text: what + ": " + m.session.title(), card: m.card.id, ended: what == done, turn: m.look.turns})
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
		allowed bool
		after   time.Duration // when quiet hours end after which it is notified; 0 for never
	}
	quietOver struct{ notice }
)

// judge has a notice shown if the level and the quiet hours of this client allow that, which the
// host stores. Guests have none.
func (m *Model) judge(n notice) tea.Cmd {
	if m.conn.feed == nil || m.conn.to.Guest {
		return m.ring(n)
	}
	r, sessionID := m.conn.remote(), m.session.Summary.ID
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(r.ctx, policyTimeout)
		defer cancel()
		policy, err := ask(r.within(ctx), api.ListPush, api.ListPushRequest{})
		if err != nil || len(policy.Settings) == 0 { // an older host, or one that is away
			return judged{notice: n, allowed: true}
		}
		return n.under(policy, sessionID, time.Now())
	}
}

// under applies the policy of the host, as it does for other notifications: in quiet hours nothing
// is shown, and what still waits when they end is.
func (n notice) under(policy api.ListPushResponse, sessionID string, now time.Time) judged {
	settings := policy.Settings[0]
	level := settings.Level
	for _, own := range settings.Sessions {
		if own.SessionID == sessionID {
			level = own.Level
		}
	}
	wanted := level != api.PushNone && (level == api.PushAll || !n.ended)
	out := judged{notice: n, allowed: wanted && policy.QuietUntil == 0}
	if wanted && !out.allowed && n.card != "" {
		out.after = max(time.UnixMilli(policy.QuietUntil).Sub(now), time.Second)
	}
	return out
}

// wasJudged shows a notice that is allowed, unless somebody looks by now.
func (m *Model) wasJudged(j judged) tea.Cmd {
	switch {
	case !m.look.away || m.look.turns != j.turn:
		return nil
	case j.allowed:
		return m.ring(j.notice)
	case j.after > 0:
		return tea.Tick(j.after, func(time.Time) tea.Msg { return quietOver{j.notice} })
	}
	return nil
}

// quietEnded notifies of what still waits after quiet hours in which nobody looked.
func (m *Model) quietEnded(n notice) tea.Cmd {
	if !m.look.away || m.look.turns != n.turn || m.card.id != n.card {
		return nil
	}
	return m.judge(n)
}

func (m *Model) ring(n notice) tea.Cmd { return tea.Raw(notification(m.cfg.Environ, n.text)) }

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
