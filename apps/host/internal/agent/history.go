package agent

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// history is the path of a turn with what is known of it. It keeps what it has looked
// at, so that a model call costs what is new and not what is old. Only prune and replace
// change the past.
type history struct {
	messages []session.Message // not shared; changed by the methods only
	repairer repairer
	size     size

	// The results before messages[from] are left out, or are too small to be.
	from   int
	live   int // estimate of the results from there on, in tokens
	looked int // how many messages were looked at, those of the repairer apart
}

// size estimates the prompt that messages make, in tokens, without the system prompt.
type size struct {
	all      int // of all messages
	reported int // what the last answer reports that reports anything; 0: none does
	at       int // index of that answer
	since    int // of the messages behind that answer; of all where none reports

	images int // in all messages
}

// newHistory copies messages.
func newHistory(messages []session.Message) *history {
	h := &history{messages: make([]session.Message, 0, len(messages)+stepRoom)}
	h.add(messages...)
	return h
}

// replace takes other messages in the place of all. What their answers report is of
// other prompts, so it does not count.
func (h *history) replace(messages []session.Message) {
	looked := h.looked
	*h = *newHistory(messages)
	h.looked += looked
	h.size.reported, h.size.since = 0, h.size.all
}

func (h *history) add(messages ...session.Message) {
	h.messages = append(h.messages, messages...)
	for i := range messages {
		h.size.add(&messages[i], len(h.messages)-len(messages)+i)
		if messages[i].Role == session.RoleToolResult {
			h.live += contentTokens(messages[i].Content)
		}
	}
	h.looked += len(messages)
}

// repaired is RepairMessages of the messages. The caller does not change it.
func (h *history) repaired() []session.Message { return h.repairer.repair(h.messages) }

// prune puts a short text in the place of old tool results, newest first left
// alone up to kept tokens, and those of the last answer in any case. The log keeps
// them. It reports whether there were any. It looks at what was not left out before.
func (h *history) prune(kept int) (found bool) {
	last := len(h.messages)
	live := 0
	for last > 0 && h.messages[last-1].Role != session.RoleAssistant {
		last--
		live += h.resultTokens(last)
	}
	from, sum := last, 0
	for i := last - 1; i >= h.from; i-- {
		size := h.resultTokens(i)
		if sum += size; sum <= kept {
			from, live = i, live+size
			continue
		}
		if size >= minPruned {
			h.leaveOut(i, size)
			found = true
		}
	}
	h.from, h.live = from, live
	if found {
		h.repairer = repairer{looked: h.repairer.looked}
	}
	return found
}

// resultTokens returns about how many tokens a message has if it is a result, else 0.
func (h *history) resultTokens(i int) int {
	h.looked++
	if h.messages[i].Role != session.RoleToolResult {
		return 0
	}
	return contentTokens(h.messages[i].Content)
}

func (h *history) leaveOut(i, tokens int) {
	message := &h.messages[i]
	h.size.countImages(message.Content, -1)
	message.Content = session.Content{session.Text(fmt.Sprintf(
		"[This result of about %d tokens was left out to make room. If it is needed, make the call again.]", tokens))}
	freed := tokens - contentTokens(message.Content)
	h.size.all -= freed
	if h.size.reported > 0 && i < h.size.at {
		h.size.reported = max(1, h.size.reported-freed)
	} else {
		h.size.since -= freed
	}
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

// countImages adds the images of content to the count, or takes them off it.
func (s *size) countImages(content session.Content, sign int) {
	for i := range content {
		if content[i].Type == session.BlockImage {
			s.images += sign
		}
	}
}

func (s *size) add(m *session.Message, at int) {
	tokens := contentTokens(m.Content)
	s.countImages(m.Content, 1)
	s.all += tokens
	s.since += tokens
	if u := m.Usage; u != nil && u.TotalTokens > 0 {
		s.reported, s.at, s.since = u.TotalTokens, at, 0
	}
}
