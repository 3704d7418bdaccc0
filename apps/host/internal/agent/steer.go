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

// reminder is a message of the user as a part of a tool result.
func reminder(content session.Content) session.Block {
	return session.Text(reminderOpen + "\n" + content.Plain() + "\n" + reminderClose)
}

// steerGuidance tells the model what the marker means.
const steerGuidance = "While you work the user may add a message. It stands at the end of a tool result between " +
	reminderOpen + " and " + reminderClose + " and is from the user, not from the tool: take it into account at once."

// withoutMarkers returns a tool's content with the marker broken up. The input is
// not changed.
func withoutMarkers(content session.Content) session.Content {
	has := func(b session.Block) bool { return strings.Contains(b.Text, "user-message-while-working>") }
	if !slices.ContainsFunc(content, has) {
		return content
	}
	out := slices.Clone(content)
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "user-message-while-working>", "user-message-while-working >")
	}
	return out
}
