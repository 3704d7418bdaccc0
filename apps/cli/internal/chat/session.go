package chat

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/chat/transcript"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// shown is the session on the screen, with its transcript. Earlier entries are loaded when the
// view comes near them.
type shown struct {
	projection.Session
	opening    string // id of the session that is being loaded; "" if none is
	transcript *transcript.Model
	paging     bool // earlier entries were requested
	seek       sought
	notice     *notices
}

// target returns the session that a prompt is for; "" for a new one.
func (s *shown) target() string { return cmp.Or(s.opening, s.Summary.ID) }

// running reports whether the agent works.
func (s *shown) running() bool { return s.Live.Turn != nil || s.Live.Work != nil }

// steers is the mode of a prompt that joins the running turn, if there is one.
func (s *shown) steers() session.PromptMode {
	if s.Live.Turn == nil {
		return ""
	}
	return session.ModeSteer
}

// title names the session for people.
func (s *shown) title() string {
	if s.Summary.ID == "" {
		return "New session"
	}
	return cmp.Or(sanitize.Line(s.Summary.Name), "Untitled")
}

// open notes that another session is being loaded; "" is a new one.
func (s *shown) open(id string) { s.opening, s.seek = id, sought{} }

// clear forgets the session, but not the one that is being loaded.
func (s *shown) clear(t *theme.Theme) {
	s.Session, s.transcript, s.paging = projection.Session{}, transcript.New(t), false
}

// loaded takes the answer to a resync.
func (s *shown) loaded(r api.ResyncEventsResponse) {
	s.Load(r)
	s.paging = false
}

// happened takes an event.
func (s *shown) happened(event api.EventEnvelope) {
	id := s.Summary.ID
	switch e := event.Event.(type) {
	case api.SessionUpdated:
		if e.Session.ID == id {
			s.Summary = e.Session
		}
	case api.SessionDeleted:
		if e.ID == id {
			s.notice.say("This session was deleted")
		}
	default:
		if s.has(event) {
			s.Apply(event.Event)
		}
	}
}

// has reports whether an event is one of this session.
func (s *shown) has(event api.EventEnvelope) bool {
	return event.SessionID != "" && event.SessionID == s.Summary.ID
}

// sync shows what has changed.
func (s *shown) sync() {
	s.transcript.Sync(&s.Session)
	s.showSought()
}

// entries are earlier ones.
type entries struct {
	sessionID string
	response  api.GetEntriesResponse
	err       error
}

// pageBack requests earlier entries when the view comes near the first known one, or until the
// one that a search found is there.
func (s *shown) pageBack(r remote) tea.Cmd {
	id, before := s.Summary.ID, s.Before
	if s.paging || before == 0 || !r.connected || !s.transcript.NearStart() && !s.seek.goesOn(id) {
		return nil
	}
	s.paging = true
	return func() tea.Msg {
		response, err := ask(r, api.GetEntries, api.GetEntriesRequest{SessionID: id, Before: before})
		return entries{id, response, err}
	}
}

func (s *shown) earlier(msg entries) {
	if msg.sessionID != s.Summary.ID {
		return
	}
	if msg.err != nil {
		s.notice.fail(msg.err) // paging stays true: the next load tries again
		return
	}
	s.paging = false
	s.Earlier(msg.response.Entries, msg.response.Before)
	s.seek.pages++
	s.sync()
}

// sought is the entry that a search found, until it is on the screen.
type sought struct {
	sessionID, entryID string
	pages              int // of earlier entries that were loaded for it
}

// seekPages bounds how many pages of earlier entries are loaded to reach an entry.
const seekPages = 100

// goesOn reports whether earlier entries of a session are to be loaded.
func (s sought) goesOn(sessionID string) bool {
	return s.entryID != "" && s.sessionID == sessionID && s.pages < seekPages
}

// find shows an entry as soon as its session is loaded.
func (s *shown) find(sessionID, entryID string) {
	s.seek = sought{sessionID: sessionID, entryID: entryID}
	s.showSought()
}

// showSought shows the entry that a search found once it is loaded. The result of a call is a part
// of its card.
func (s *shown) showSought() {
	if s.seek.entryID == "" || s.seek.sessionID != s.Summary.ID {
		return
	}
	at := slices.IndexFunc(s.Path, func(entry session.Entry) bool { return entry.ID == s.seek.entryID })
	switch {
	case at >= 0:
		for ; at >= 0 && !s.transcript.Show(s.Path[at].ID); at-- {
		}
	case s.Before == 0:
		s.notice.say("The result is on another branch: /branches shows it")
	case s.seek.pages >= seekPages:
		s.notice.say("The result is further up: scroll up to load more")
	default:
		return
	}
	s.seek = sought{}
}
