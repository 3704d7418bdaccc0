package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// RepairMessages returns messages as a provider accepts them: every tool call is
// answered exactly once, directly after the message that made it and in call
// order; results that answer nothing are dropped, and so are blank blocks and
// messages that say nothing (a cancelled or failed model call). A call without a
// result, which a crashed host leaves behind, gets a stable text. Two answers in a
// row, and one at the front, get a prompt before them; an id that an earlier call
// has gets another form. Roles that are not sent to a model are dropped. What the
// user said to a running turn becomes a reminder at the end of the tool result
// before it, and so does a note of the host; what looks like one in the result itself
// is no longer one. The input is not changed.
func RepairMessages(messages []session.Message) []session.Message {
	out := make([]session.Message, 0, len(messages))
	ids := map[string]bool{}
	for i := 0; i < len(messages); i++ {
		message := messages[i]
		switch message.Role {
		case session.RoleUser:
			if message.Content = sendable(message.Content); len(message.Content) == 0 {
				continue
			}
			if last := len(out) - 1; message.Steer && last >= 0 && out[last].Role == session.RoleToolResult {
				out[last].Content = append(out[last].Content, reminder(message.Content))
				continue
			}
			if last := len(out) - 1; message.Note && last >= 0 && out[last].Role == session.RoleToolResult {
				out[last].Content = append(out[last].Content, message.Content...)
				continue
			}
			out = append(out, message)
		case session.RoleAssistant:
			results := resultsAfter(messages[i+1:])
			i += len(results)
			message.Content = sendable(message.Content)
			if !speaks(message.Content) {
				continue
			}
			if len(out) == 0 || out[len(out)-1].Role == session.RoleAssistant {
				out = append(out, goOn(message))
			}
			results = answers(message, results)
			message.Content, results = uniqueIDs(message.Content, results, ids)
			out = append(append(out, message), results...)
		}
	}
	return out
}

// resultsAfter returns the tool results at the front of messages.
func resultsAfter(messages []session.Message) []session.Message {
	n := 0
	for n < len(messages) && messages[n].Role == session.RoleToolResult {
		n++
	}
	return messages[:n]
}

// sendable drops blocks that are blank; providers refuse them. Most content has none
// and is returned as it is, without room behind it: what is appended goes elsewhere.
func sendable(content session.Content) session.Content {
	if !slices.ContainsFunc(content, isBlank) {
		return slices.Clip(content)
	}
	return slices.DeleteFunc(slices.Clone(content), isBlank)
}

func isBlank(block session.Block) bool {
	switch block.Type {
	case session.BlockText:
		return strings.TrimSpace(block.Text) == ""
	case session.BlockThinking:
		return block.Thinking == "" && block.ThinkingSignature == ""
	}
	return false
}

// speaks tells whether a message holds more than thinking, which providers
// refuse on its own.
func speaks(content session.Content) bool {
	for _, block := range content {
		if block.Type != session.BlockThinking {
			return true
		}
	}
	return false
}

func answers(message session.Message, results []session.Message) []session.Message {
	var out []session.Message
	for _, block := range message.Content {
		if block.Type != session.BlockToolCall {
			continue
		}
		// The first of two results counts.
		i := slices.IndexFunc(results, func(r session.Message) bool { return r.ToolCallID == block.ID })
		if i < 0 {
			out = append(out, interrupted(message, block))
			continue
		}
		result := results[i]
		if result.Content = sendable(result.Content); len(result.Content) == 0 {
			result.Content = session.Content{session.Text(TextNoOutput)}
		}
		result.Content = withoutMarkers(result.Content)
		result.ToolName = block.Name
		out = append(out, result)
	}
	return out
}

// goOn is a prompt before an answer that lacks one.
func goOn(answer session.Message) session.Message {
	return session.Message{Role: session.RoleUser, Content: session.Content{session.Text(TextGoOn)}, Timestamp: answer.Timestamp}
}

// uniqueIDs renames calls whose id an earlier message has used, together with
// their results: some servers count calls from 0 in every answer, and others
// refuse an id that occurs twice. results are in the order of the calls.
func uniqueIDs(content session.Content, results []session.Message, used map[string]bool) (session.Content, []session.Message) {
	at := 0
	for i, block := range content {
		if block.Type != session.BlockToolCall {
			continue
		}
		id := block.ID
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s_%d", block.ID, n)
		}
		used[id] = true
		if id != block.ID {
			content = slices.Clone(content) // it may be the log's own
			content[i].ID, results[at].ToolCallID = id, id
		}
		at++
	}
	return content, results
}

// interrupted answers a call that has no result. It takes the time of the
// message, so that the same log gives the same prompt.
func interrupted(message session.Message, call session.Block) session.Message {
	isError := true
	return session.Message{
		Role: session.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, IsError: &isError,
		Content: session.Content{session.Text(TextInterrupted)}, Timestamp: message.Timestamp,
	}
}
