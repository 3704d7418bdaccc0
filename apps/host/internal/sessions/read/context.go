package read

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// ModelContext is the context at the leaf as it is sent to a model.
type ModelContext struct {
	Messages []session.Message
	Shown    []string // files whose text is in a note of the context
	Skills   []string // skill files that a note of the context names
}

// Context builds the context at the leaf. Messages of people, models and tools stay as they
// are; summaries, messages of programs and commands that a person ran become user messages. It
// leaves out system messages, because the agent has its own and another program's name other
// tools, and messages that do not decode.
func Context(tree *session.Tree) ModelContext {
	context := tree.LeafContext()
	now := ModelContext{Messages: make([]session.Message, 0, len(context.Messages))}
	for i, raw := range context.Messages {
		message, ok := PromptMessage(raw)
		if !ok {
			continue
		}
		switch {
		case message.Note:
			now.Shown = append(now.Shown, notedPaths(raw, session.NoteInstructions)...)
			now.Skills = append(now.Skills, notedPaths(raw, session.NoteSkills)...)
		case message.Role == session.RoleUser:
			entry, _ := tree.Get(context.Sources[i])
			message.Steer = steered(entry)
		}
		now.Messages = append(now.Messages, message)
	}
	return now
}

// otherMessage has the additional fields of messages of programs.
type otherMessage struct {
	Role               session.Role    `json:"role"`
	Content            session.Content `json:"content"`
	Timestamp          json.Number     `json:"timestamp"`
	Summary            string          `json:"summary"`
	Command            string          `json:"command"`
	Output             string          `json:"output"`
	ExitCode           *int            `json:"exitCode"`
	Cancelled          bool            `json:"cancelled"`
	Truncated          bool            `json:"truncated"`
	FullOutputPath     string          `json:"fullOutputPath"`
	ExcludeFromContext bool            `json:"excludeFromContext"`
	CustomType         string          `json:"customType"`
}

// PromptMessage converts a message of the log to what a model receives; false if it is not
// meant for models or does not decode.
func PromptMessage(raw json.RawMessage) (message session.Message, ok bool) {
	message, err := session.DecodeMessage(raw)
	switch message.Role {
	case session.RoleUser, session.RoleAssistant, session.RoleToolResult:
		return message, err == nil
	}
	var other otherMessage
	if json.Unmarshal(raw, &other) != nil {
		return message, false
	}
	message = session.Message{Role: session.RoleUser}
	message.Timestamp, _ = other.Timestamp.Int64() // 0 if it is not an integer
	switch other.Role {
	case "custom":
		message.Content = other.Content
		if other.CustomType == session.CustomNote {
			note := agent.NoteMessage(session.Note{Text: other.Content.Plain()})
			note.Timestamp = message.Timestamp
			message = note
		}
	case "compactionSummary":
		message.Content = summary("The conversation before this point was compacted. This is what happened in it:", other.Summary)
	case "branchSummary":
		message.Content = summary("The conversation went another way for a while and came back here. This is what happened there:", other.Summary)
	case "bashExecution":
		message.Content = session.Content{session.Text(other.ran())}
		return message, !other.ExcludeFromContext
	default:
		return message, false
	}
	return message, true
}

func summary(preface, text string) session.Content {
	return session.Content{session.Text(preface + "\n\n<summary>\n" + text + "\n</summary>")}
}

// ran describes a command that a person ran without the agent.
func (m otherMessage) ran() string {
	var b strings.Builder
	fmt.Fprintf(&b, "I ran `%s`.", m.Command)
	if m.Output == "" {
		b.WriteString(" It printed nothing.")
	} else {
		fmt.Fprintf(&b, " It printed:\n\n```\n%s\n```", strings.TrimRight(m.Output, "\n"))
	}
	switch {
	case m.Cancelled:
		b.WriteString("\n\nI canceled it.")
	case m.ExitCode != nil && *m.ExitCode != 0:
		fmt.Fprintf(&b, "\n\nIt ended with code %d.", *m.ExitCode)
	}
	if m.Truncated && m.FullOutputPath != "" {
		fmt.Fprintf(&b, "\n\nThe output is cut; all of it is in %s.", m.FullOutputPath)
	}
	return b.String()
}

// notedPaths returns the files named by the message of a note of the given kind.
func notedPaths(raw json.RawMessage, kind session.NoteKind) []string {
	var note struct {
		Details session.NoteRecord `json:"details"`
	}
	if json.Unmarshal(raw, &note) != nil || note.Details.Kind != kind {
		return nil
	}
	return note.Details.Paths
}
