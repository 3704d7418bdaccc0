package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of what a session is given of the notes when it begins.
const (
	maxWhole   = 2 << 10  // bytes of a note that is given with its text
	maxGiven   = 12 << 10 // bytes of the texts and titles together
	maxLine    = 160      // characters of a title
	maxDays    = 2        // days of the journal: today and the day before
	maxEvents  = 20       // lines of the journal
	titleExtra = 24       // bytes that a title costs beyond its text and name
)

// Given returns what a session in a project is given of the notes: those that were changed
// last with their text as long as they fit, the others with their titles, and the end of the
// project's journal. Notes that cannot be read are left out; so is everything beyond the bounds.
func (n *Notes) Given(path string) (session.Memory, error) {
	given := session.Memory{Notes: []session.MemoryNote{}}
	var all []scoped
	for _, from := range []struct {
		folder Folder
		scope  string
	}{{n.Project(path), session.ScopeProject}, {n.User(), session.ScopeUser}} {
		list, err := from.folder.List()
		if err != nil {
			return given, err
		}
		for _, note := range list {
			all = append(all, scoped{note, from.scope})
		}
	}
	slices.SortStableFunc(all, func(a, b scoped) int { return cmp.Compare(b.Modified, a.Modified) })
	room := maxGiven
	for _, note := range all {
		part := note.given(room)
		size := len(part.Name) + len(part.Title) + len(part.Text) + titleExtra
		if size > room {
			given.Omitted++
			continue
		}
		room -= size
		given.Notes = append(given.Notes, part)
	}
	var err error
	given.Journal, err = n.Project(path).Journal().Last(maxDays, maxEvents)
	return given, err
}

type scoped struct {
	Note
	scope string
}

// given returns the note with its text if it is short and there is room for it, else with its title.
func (s scoped) given(room int) session.MemoryNote {
	part := session.MemoryNote{Name: s.Name, Scope: s.scope}
	text := strings.TrimSpace(s.Text)
	if s.Whole && len(text) <= maxWhole && len(text)+len(s.Name)+titleExtra <= room {
		part.Text = text
		return part
	}
	part.Title = visible.Shorten(s.Title(), maxLine)
	return part
}
