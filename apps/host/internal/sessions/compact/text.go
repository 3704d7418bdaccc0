package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// maxResult is how much of a tool's result a summary is made from, in runes.
const maxResult = 2000

// Conversation writes messages for a model that summarizes them. Of more than most
// bytes it leaves the oldest out.
func Conversation(messages []Message, most int) string {
	var parts []string
	size := 0
	for _, m := range slices.Backward(messages) {
		text := m.line()
		if text == "" {
			continue
		}
		if size += len(text) + 2; size > most && len(parts) > 0 {
			parts = append(parts, "[earlier messages are left out]")
			break
		}
		parts = append(parts, cut(text, most))
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n\n")
}

func (m Message) line() string {
	text := strings.TrimSpace(m.message.Content.Plain())
	switch m.role {
	case session.RoleAssistant:
		return m.said(text)
	case session.RoleToolResult:
		return tagged("Result of "+m.message.ToolName, cut(text, maxResult))
	case "bashExecution":
		return tagged("The user ran", m.command+"\n"+cut(m.output, maxResult))
	case "branchSummary", "compactionSummary":
		return tagged("Summary of an earlier part", m.summary)
	case "system":
		return ""
	}
	if m.note {
		return tagged("Note of the host", cut(text, maxResult))
	}
	return tagged("User", text)
}

func (m Message) said(text string) string {
	var lines []string
	if text != "" {
		lines = append(lines, tagged("Agent", text))
	}
	for _, call := range m.message.Content.ToolCalls() {
		lines = append(lines, tagged("Agent calls", call.Name+" "+cut(string(call.Arguments), maxResult)))
	}
	return strings.Join(lines, "\n")
}

func tagged(who, text string) string {
	if text == "" {
		return ""
	}
	return "[" + who + "] " + text
}

// cut returns the first most runes of a text, and says how many are missing.
func cut(text string, most int) string {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	return fmt.Sprintf("%s [%d more characters]", string([]rune(text)[:max(most, 0)]), n-max(most, 0))
}
