package agent

import (
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// RepairMessages returns messages as a provider accepts them: every tool call is
// answered exactly once, directly after the message that made it and in call
// order; results that answer nothing are dropped, and so are blank blocks and
// messages that say nothing (a canceled or failed model call). A call without a
// result, which a crashed host leaves behind, gets a stable text. Two answers in a
// row, and one at the front, get a prompt before them; an id that an earlier call
// has gets another form. Roles that are not sent to a model are dropped. What the
// user said to a running turn becomes a reminder at the end of the tool result
// before it, and so does a note of the host; markers of that form in the result itself
// are broken up. The input is not changed.
func RepairMessages(messages []session.Message) []session.Message {
	var r repairer
	return r.repair(messages)
}

// stepRoom is how many messages a repairer has room for besides those it begins with.
const stepRoom = 256

// repairer does the work of RepairMessages for a list that grows: messages that were
// repaired once are not examined again.
type repairer struct {
	out  []session.Message // the repaired messages[:seen]
	ids  callIDs           // of the calls in out
	seen int
	// lent is how many messages of out were returned: those do not change any more.
	lent   int
	looked int // how many messages were examined, also before a rebuild
	// open says that a call at the end has no result yet; out has one of ours for it.
	open bool
}

// repair returns the repaired form of messages, which must begin with those of the
// previous call. The caller must not change the result, and may keep it. If new messages
// change earlier results, as a late tool result does, everything is rebuilt.
func (r *repairer) repair(messages []session.Message) []session.Message {
	if r.open || !r.grow(messages) {
		*r = repairer{looked: r.looked}
		r.grow(messages)
	}
	r.lent = len(r.out)
	return slices.Clip(r.out)
}

// grow appends messages[seen:]. It returns false if that would change messages already
// returned; the repairer must then be replaced.
func (r *repairer) grow(messages []session.Message) bool {
	if r.out == nil {
		r.ids, r.out = newCallIDs(), make([]session.Message, 0, len(messages)+stepRoom)
	}
	for r.seen < len(messages) {
		message := messages[r.seen]
		r.seen++
		r.looked++
		switch message.Role {
		case session.RoleUser:
			if !r.prompt(message) {
				return false
			}
		case session.RoleAssistant:
			results := resultsAfter(messages[r.seen:])
			r.seen += len(results)
			complete := r.answer(message, results)
			r.open = !complete && r.seen == len(messages)
		}
	}
	return true
}

// prompt adds a message of the user or the host. It returns false as grow does.
func (r *repairer) prompt(message session.Message) bool {
	if message.Content = sendable(message.Content); len(message.Content) == 0 {
		return true
	}
	last := len(r.out) - 1
	if last < 0 || r.out[last].Role != session.RoleToolResult || !message.Steer && !message.Note {
		r.out = append(r.out, message)
		return true
	}
	if last < r.lent {
		return false
	}
	said := message.Content
	if message.Steer {
		said = reminders(said)
	}
	r.out[last].Content = append(r.out[last].Content, said...)
	return true
}

// answer adds what the model said, with the results that follow; complete is false
// where a call has none.
func (r *repairer) answer(message session.Message, results []session.Message) (complete bool) {
	message.Content = sendable(message.Content)
	if !speaks(message.Content) {
		return true
	}
	if last := len(r.out) - 1; last < 0 || r.out[last].Role == session.RoleAssistant {
		r.out = append(r.out, goOn(message))
	}
	results, complete = answers(message, results)
	message.Content, results = uniqueIDs(message.Content, results, r.ids)
	r.out = append(append(r.out, message), results...)
	return complete
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
// and is returned as it is, without spare capacity: appending copies it.
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

// speaks reports whether a message holds more than thinking, which providers
// refuse on its own.
func speaks(content session.Content) bool {
	for _, block := range content {
		if block.Type != session.BlockThinking {
			return true
		}
	}
	return false
}

// answers returns one result for each call, in their order; complete is false where one
// of them is ours.
func answers(message session.Message, results []session.Message) (out []session.Message, complete bool) {
	complete = true
	for _, block := range message.Content {
		if block.Type != session.BlockToolCall {
			continue
		}
		// The first of two results counts.
		i := slices.IndexFunc(results, func(r session.Message) bool { return r.ToolCallID == block.ID })
		if i < 0 {
			out = append(out, interrupted(message, block))
			complete = false
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
	return out, complete
}

// goOn is a prompt before an answer that lacks one.
func goOn(answer session.Message) session.Message {
	return session.Message{Role: session.RoleUser, Content: session.Content{session.Text(TextGoOn)}, Timestamp: answer.Timestamp}
}

// uniqueIDs renames calls whose id an earlier message has used, together with
// their results: some servers count calls from 0 in every answer, and others
// refuse an id that occurs twice. results are in the order of the calls.
func uniqueIDs(content session.Content, results []session.Message, used callIDs) (session.Content, []session.Message) {
	at := 0
	for i, block := range content {
		if block.Type != session.BlockToolCall {
			continue
		}
		id := used.take(block.ID)
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
