// Package projection is the state of one session as a terminal shows it: the entries on the
// path to its leaf, what is not in its log yet, and its todo list. Its rules are those of
// api.Live, so that a state built from events equals a fresh load.
package projection

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Session is the state of a session. The zero value is a session that is not loaded.
type Session struct {
	Summary api.SessionSummary
	Live    api.Live
	Before  uint64 // argument of get_entries for what precedes the entries; 0 if nothing does
	// Path holds the known entries from the oldest to the leaf. It is only ever appended to,
	// unless Moved changes.
	Path  []session.Entry
	Moved int // counts the times that Path was replaced
	Todos []Todo

	entries []session.Entry // of all branches, in log order
}

// Todo is an item of the agent's list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed or cancelled
}

// Load takes the answer to a resync, whose events follow one by one.
func (s *Session) Load(r api.ResyncEventsResponse) {
	s.Summary = r.Session
	switch r.Mode {
	case api.ResyncStream: // nothing was missed but the events
		return
	case api.ResyncPersistent:
		for _, entry := range r.Entries {
			s.add(entry)
		}
	default:
		s.entries, s.Before = slices.Clone(r.Entries), r.Before
		s.rebuild()
	}
	s.Live = r.Live.Clone()
}

// Apply takes an event of the session.
func (s *Session) Apply(event api.Event) {
	s.Live.Apply(event)
	if appended, ok := event.(api.EntryAppended); ok {
		s.add(appended.Entry)
	}
}

// Earlier adds entries that precede all known ones.
func (s *Session) Earlier(entries []session.Entry, before uint64) {
	s.entries, s.Before = append(slices.Clone(entries), s.entries...), before
	s.rebuild()
}

// Leaf returns the id of the last entry of the log, which a move of the leaf must name.
func (s *Session) Leaf() string {
	if n := len(s.entries); n > 0 {
		return s.entries[n-1].ID
	}
	return ""
}

// add appends one entry. Most extend the path; a move of the leaf replaces it.
func (s *Session) add(entry session.Entry) {
	if n := len(s.entries); n > 0 && entry.Seq != 0 && entry.Seq <= s.entries[n-1].Seq {
		return // known
	}
	s.entries = append(s.entries, entry)
	if n := len(s.Path); n > 0 && entry.ParentID == s.Path[n-1].ID && entry.ParentID != "" {
		s.Path = append(s.Path, entry)
		s.takeTodos(entry)
		return
	}
	s.rebuild()
}

// rebuild finds the path again.
func (s *Session) rebuild() {
	s.Moved++
	tree := session.NewTree(s.entries)
	path, _ := tree.PathToHole(tree.Leaf()) // it ends where the known entries begin
	s.Path, s.Todos = path, nil
	for i := range slices.Backward(s.Path) {
		if s.takeTodos(s.Path[i]) {
			return
		}
	}
}

// takeTodos reads the list from a result of the tool that keeps it.
func (s *Session) takeTodos(entry session.Entry) bool {
	if entry.Role() != session.RoleToolResult {
		return false
	}
	message, ok := entry.AsMessage()
	if !ok || message.Message.ToolName != "todo" {
		return false
	}
	var details struct {
		Todos *[]Todo `json:"todos"`
	}
	if json.Unmarshal(message.Message.Details, &details) != nil || details.Todos == nil {
		return false
	}
	s.Todos = *details.Todos
	return true
}
