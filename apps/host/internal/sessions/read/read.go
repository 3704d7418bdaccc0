// Package read derives state from the log of a session: its context for a model, an outline of
// its tree, and pending requests with their outcomes. Each function takes the tree and changes
// nothing; the owner of the log calls it while nothing is appended.
//
// Entries of other programs and of damaged files may contain anything. Entries that do not
// decode are ignored.
package read

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// ScheduledOutside reports whether a session is a run of a schedule with text from outside.
func ScheduledOutside(tree *session.Tree) bool {
	var record session.ScheduleRecord
	return LastCustom(tree, session.CustomSchedule, &record) && record.Outside
}

// FromOutside reports whether a prompt of a session has text from outside: of a schedule, or of a
// channel server, whose messages are marked.
func FromOutside(tree *session.Tree) bool {
	return ScheduledOutside(tree) || slices.ContainsFunc(tree.Entries(), func(e session.Entry) bool {
		if e.Role() != session.RoleUser {
			return false
		}
		m, ok := e.AsMessage()
		return ok && strings.Contains(m.Message.Content.Plain(), "\n<<<outside-")
	})
}

// LastCustom decodes the last entry of a custom type; false if there is none.
func LastCustom(tree *session.Tree, customType string, into any) bool {
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.CustomType != customType {
			continue
		}
		if custom, ok := entry.AsCustom(); ok && json.Unmarshal(custom.Data, into) == nil {
			return true
		}
	}
	return false
}
