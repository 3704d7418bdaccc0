package agent

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// history is the path of a turn with what is known of it. It keeps what it has looked
// at, so that a model call costs what is new and not what is old. Where the past
// changes, in prune and replace, all is looked at anew.
type history struct {
	messages []session.Message // nobody else's; changed by the methods only
	repairer repairer
	size     size
}

// size estimates the prompt that messages make, in tokens, without the system prompt.
type size struct {
	all      int // of all messages
	reported int // what the last answer reports that reports anything; 0: none does
	since    int // of the messages behind that answer; of all where none reports
}

// newHistory copies messages.
func newHistory(messages []session.Message) *history {
	h := &history{}
	h.replace(messages)
	return h
}

// replace takes other messages in the place of all.
func (h *history) replace(messages []session.Message) {
	h.messages = append(make([]session.Message, 0, len(messages)+stepRoom), messages...)
	h.changed()
}

// changed begins anew with what is known of the messages.
func (h *history) changed() {
	h.repairer, h.size = repairer{}, size{}
	for i := range h.messages {
		h.size.add(&h.messages[i])
	}
}

func (h *history) add(messages ...session.Message) {
	h.messages = append(h.messages, messages...)
	for i := range messages {
		h.size.add(&messages[i])
	}
}

// repaired is RepairMessages of the messages. The caller does not change it.
func (h *history) repaired() []session.Message { return h.repairer.repair(h.messages) }

// prune puts a short text in the place of old tool results, newest first left
// alone up to kept tokens, and those of the last answer in any case. The log keeps
// them. It tells whether there were any.
func (h *history) prune(kept int) (found bool) {
	last := len(h.messages)
	for last > 0 && h.messages[last-1].Role != session.RoleAssistant {
		last--
	}
	sum := 0
	for i := last - 1; i >= 0; i-- {
		message := &h.messages[i]
		if message.Role != session.RoleToolResult {
			continue
		}
		size := contentTokens(message.Content)
		if sum += size; sum <= kept || size < minPruned {
			continue
		}
		message.Content = session.Content{session.Text(fmt.Sprintf(
			"[This result of about %d tokens was left out to make room. Make the call again if it is needed.]", size))}
		found = true
	}
	if found {
		h.changed()
	}
	return found
}

// unanswered returns the last answer and those of its calls that have no result; no
// calls where anything but results follows it.
func (h *history) unanswered() (answer session.Message, calls []session.Block) {
	last := len(h.messages) - 1
	results := 0
	for last-results >= 0 && h.messages[last-results].Role == session.RoleToolResult {
		results++
	}
	if last-results < 0 || h.messages[last-results].Role != session.RoleAssistant {
		return answer, nil
	}
	answer = h.messages[last-results]
	calls = answer.Content.ToolCalls()
	return answer, calls[min(results, len(calls)):]
}

func (s *size) add(m *session.Message) {
	tokens := contentTokens(m.Content)
	s.all += tokens
	s.since += tokens
	if u := m.Usage; u != nil && u.TotalTokens > 0 {
		s.reported, s.since = u.TotalTokens, 0
	}
}
