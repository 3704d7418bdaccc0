package backend

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxQuoted is how much of one message or tool result is repeated to another agent, in bytes.
const maxQuoted = 8 << 10

// rebuilt tells an agent what happened in the session without it; "" if nothing did. The newest
// messages are kept where not all fit.
func rebuilt(missed []session.Message) string {
	var parts []string
	size, left := 0, 0
	for i := len(missed) - 1; i >= 0; i-- {
		part := quoted(missed[i])
		if part == "" {
			continue
		}
		if size += len(part); size > MaxRebuilt {
			left = i + 1
			break
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("This conversation began with another agent. What follows in <transcript> is what was said and done before, for your information. " +
		"Do not repeat it. The request of the user is after it.\n<transcript>\n")
	if left > 0 {
		fmt.Fprintf(&b, "[%d earlier messages are left out.]\n", left)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	b.WriteString("</transcript>")
	return b.String()
}

// quoted is a message as another agent reads it.
func quoted(m session.Message) string {
	var b strings.Builder
	name := map[session.Role]string{session.RoleUser: "User", session.RoleAssistant: "Agent", session.RoleToolResult: "Result of " + m.ToolName}[m.Role]
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			if text := strings.TrimSpace(block.Text); text != "" {
				fmt.Fprintf(&b, "%s: %s\n", name, clipped(text))
			}
		case session.BlockToolCall:
			fmt.Fprintf(&b, "%s called %s: %s\n", name, block.Name, clipped(string(block.Arguments)))
		case session.BlockImage:
			fmt.Fprintf(&b, "%s: [image]\n", name)
		}
	}
	// The end of the quotation cannot be part of it.
	return strings.NewReplacer("<transcript>", "[transcript]", "</transcript>", "[/transcript]").Replace(b.String())
}

func clipped(text string) string { return clip(text, maxQuoted) }

// clip returns the beginning of a text, and says how much is missing.
func clip(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "�")
	}
	head := visible.Head(text, most)
	return fmt.Sprintf("%s\n[%d bytes were left out]", strings.ToValidUTF8(head, "�"), len(text)-len(head))
}
