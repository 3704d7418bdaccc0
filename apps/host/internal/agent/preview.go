package agent

import (
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// PreviewMessages returns the messages of a turn as its next model call would have them,
// with images named by their hash and an estimate of the tokens of each.
func PreviewMessages(messages []session.Message, images bool) []api.ContextMessage {
	r := &runner{Turn: Turn{Images: images}, history: newHistory(messages)}
	seen := r.seenImages(r.history.repaired())
	out := make([]api.ContextMessage, len(seen))
	for i, m := range seen {
		out[i] = api.ContextMessage{
			Role: m.Role, ToolCallID: m.ToolCallID, ToolName: m.ToolName, Content: m.Content.References(), Tokens: contentTokens(m.Content),
		}
	}
	return out
}

// PreviewSystem splits a system prompt at its headings. What follows the heading of
// the instructions is one part: their own headings are theirs.
func PreviewSystem(system string) []api.ContextPart {
	var parts []api.ContextPart
	add := func(text string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		part := api.ContextPart{Text: text, Tokens: len(text) / bytesPerToken}
		if heading, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(heading, "# ") {
			part.Name, part.Text = strings.TrimPrefix(heading, "# "), strings.TrimSpace(rest)
		}
		parts = append(parts, part)
	}
	for rest := system; ; {
		at := strings.Index(rest[min(1, len(rest)):], "\n# ")
		if at < 0 || strings.HasPrefix(strings.TrimSpace(rest), "# Instructions\n") {
			add(rest)
			return parts
		}
		add(rest[:at+1])
		rest = rest[at+2:]
	}
}

// PreviewTools describes tools as a model sees them.
func PreviewTools(tools []Tool) []api.ContextTool {
	out := make([]api.ContextTool, len(tools))
	for i, tool := range tools {
		spec := tool.Spec()
		out[i] = api.ContextTool{
			Name: spec.Name, Description: spec.Description, Parameters: spec.Parameters,
			Tokens: (len(spec.Name) + len(spec.Description) + len(spec.Parameters)) / bytesPerToken,
		}
	}
	return out
}
