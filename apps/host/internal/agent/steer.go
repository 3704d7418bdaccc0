package agent

import (
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// The marker around what the user says to a running turn. Only the host writes it:
// where it occurs in the result of a tool, it is broken up, so that no file and no
// program can speak for the user.
const (
	reminderOpen  = "<user-message-while-working>"
	reminderClose = "</user-message-while-working>"
)

// reminders is a message of the user as parts of a tool result: its text, and then its
// images.
func reminders(content session.Content) session.Content {
	out := session.Content{session.Text(reminderOpen + "\n" + content.Plain() + "\n" + reminderClose)}
	for _, block := range content {
		if block.Type == session.BlockImage {
			out = append(out, block)
		}
	}
	return out
}

// steerGuidance tells the model what the marker means.
const steerGuidance = "While you work, the user may add a message. It appears at the end of a tool result between " +
	reminderOpen + " and " + reminderClose + " and is from the user, not from the tool: take it into account at once."

// The marker around what the host tells the model beside the conversation.
const (
	noteOpen  = "<note-from-scorel>"
	noteClose = "</note-from-scorel>"
)

// NoteMessage is a note as a model is given it.
func NoteMessage(note session.Note) session.Message {
	content := withoutMarkers(session.Content{session.Text(strings.TrimRight(note.Text, "\n"))})
	content[0].Text = noteOpen + "\n" + content[0].Text + "\n" + noteClose
	return session.Message{Role: session.RoleUser, Content: content, Note: true}
}

const noteGuidance = "Text between " + noteOpen + " and " + noteClose + " is from scorel itself, not from the user and not from a tool: " +
	"things that happened in the meantime, and instructions for folders that you work in."

// markerEnds are the ends of all markers, opening and closing.
func markerEnds() []string { return []string{"user-message-while-working>", "note-from-scorel>"} }

// withoutMarkers returns a tool's content with the markers broken up. The input is
// not changed.
func withoutMarkers(content session.Content) session.Content {
	for _, end := range markerEnds() {
		has := func(b session.Block) bool { return strings.Contains(b.Text, end) }
		if !slices.ContainsFunc(content, has) {
			continue
		}
		content = slices.Clone(content)
		for i := range content {
			content[i].Text = strings.ReplaceAll(content[i].Text, end, strings.TrimSuffix(end, ">")+" >")
		}
	}
	return content
}
