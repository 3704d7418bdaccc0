package chat

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// unseenAfter is how long the terminal is without the focus before the host learns that nobody
// looks here, and notifies people elsewhere.
const unseenAfter = 10 * time.Second

// attention is whether a person looks at this terminal, and what it notifies them of. A terminal
// that does not report its focus counts as looked at.
type attention struct {
	now     func() time.Time
	environ []string // TERM and others decide how the terminal notifies
	silent  bool     // it notifies of nothing

	away   bool   // the terminal has not the focus
	unseen bool   // for so long that nobody looks here
	turns  int    // counts changes of the focus, so that an old timer means nothing
	card   string // the card that was notified of
	ended  string // what to notify of: how the last turn ended; "" for nothing

	told      string // the session of which the host knows that nobody sees it
	tellingIt bool
	links     int // counts connections, to each of which it is told again
}

// sight is what a person who looks at the terminal sees.
type sight struct {
	remote  remote
	guest   bool   // the host is told nothing, and decides nothing
	session string // id; "" for a new one
	title   string // of the session
	card    string // id of what waits; "" if nothing does
	what    string // waits
}

// Messages about attention.
type (
	unseen   struct{ turn int }
	attended struct {
		hidden string
		link   int
	}
)

// update takes a message about the focus or about a notice.
func (a *attention) update(msg tea.Msg, s sight) tea.Cmd {
	switch msg := msg.(type) {
	case tea.FocusMsg:
		a.focused()
	case tea.BlurMsg:
		return a.blurred(s)
	case unseen:
		a.unseen = msg.turn == a.turns
	case attended:
		a.wasAttended(msg)
	case judged:
		return a.wasJudged(msg, s)
	case quietOver:
		return a.quietEnded(msg.notice, s)
	}
	return a.attend(s)
}

// connected notes a new connection, whose host knows nothing yet.
func (a *attention) connected() {
	a.told = ""
	a.links++
}

// focused notes that the terminal gained the focus.
func (a *attention) focused() {
	a.away, a.unseen, a.ended = false, false, ""
	a.turns++
}

// blurred notes that the terminal lost the focus.
func (a *attention) blurred(s sight) tea.Cmd {
	a.away, a.card = true, s.card // what is on the screen was seen
	a.turns++
	return after(s.remote.ctx, unseenAfter, unseen{a.turns})
}

// attend tells the host whether somebody sees the session, one request after the other.
func (a *attention) attend(s sight) tea.Cmd {
	hidden := ""
	if a.unseen {
		hidden = s.session
	}
	if a.tellingIt || !s.remote.connected || s.guest || hidden == a.told {
		return nil
	}
	a.tellingIt = true
	request := api.SetAttendanceRequest{Attended: true}
	if hidden != "" {
		request.Hidden = []string{hidden}
	}
	link := a.links
	return func() tea.Msg {
		_, _ = ask(s.remote, api.SetAttendance, request) // an older host does not know it
		return attended{hidden, link}
	}
}

// wasAttended notes what the host knows. After an error it is not asked again on this
// connection.
func (a *attention) wasAttended(msg attended) {
	a.tellingIt = false
	if a.told = msg.hidden; msg.link != a.links {
		a.told = "" // it may have been another connection that learned it
	}
}
