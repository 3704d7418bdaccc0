package compact

import (
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Estimates of what a model counts.
const (
	charsPerToken = 4
	charsPerImage = 4800
)

// estimate returns about how many tokens a message has.
func (m Message) estimate() int {
	chars := length(m.summary) + length(m.command) + length(m.output)
	for _, block := range m.message.Content {
		switch block.Type {
		case session.BlockImage:
			chars += charsPerImage
		default:
			chars += length(block.Text) + length(block.Thinking) + length(block.Name) + length(string(block.Arguments))
		}
	}
	return TextTokens(chars)
}

func length(s string) int { return utf8.RuneCountInString(s) }

// TextTokens returns about how many tokens a text of so many characters has.
func TextTokens(chars int) int { return (chars + charsPerToken - 1) / charsPerToken }

// Tokens returns about how many tokens the context at the leaf has: what the
// provider counted last, and an estimate of what came after. A count from before
// the last compaction says nothing of the context now.
func Tokens(tree *session.Tree) int {
	if sum, ok := recentTokens(tree); ok {
		return sum
	}
	return tokensOf(tree, read(tree.LeafContext()))
}

// recentTokens is Tokens where nothing at the end of the session changes what came
// before it: then the messages up to the last count are enough. ok is false elsewhere.
func recentTokens(tree *session.Tree) (sum int, ok bool) {
	if tree.Leaf() == "" {
		return 0, false
	}
	for e := range tree.Up() {
		if e.Type == session.TypeCompaction || e.Type == session.TypeContextEdit {
			return 0, false
		}
		raw := e.ContextMessage()
		if raw == nil {
			continue
		}
		m := readOne(raw, e.ID)
		if m.role == session.RoleAssistant && m.counted() {
			return sum + total(m.message.Usage), true
		}
		sum += m.tokens
	}
	return sum, true
}

// tokensOf is Tokens of a context that was read.
func tokensOf(tree *session.Tree, messages []Message) int {
	sum := 0
	fresh := sinceCompaction(tree)
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.role == session.RoleAssistant && m.counted() && fresh[m.source] {
			return sum + total(m.message.Usage)
		}
		sum += m.tokens
	}
	return sum
}

func (m Message) counted() bool {
	stopped := m.message.StopReason == session.StopError || m.message.StopReason == session.StopAborted
	return !stopped && m.message.Usage != nil && total(m.message.Usage) > 0
}

func total(u *session.Usage) int {
	if u.TotalTokens > 0 {
		return u.TotalTokens
	}
	return u.Input + u.Output + u.CacheRead + u.CacheWrite
}

// sinceCompaction returns the ids of the entries on the active path after the last
// compaction or edit of the context.
func sinceCompaction(tree *session.Tree) map[string]bool {
	ids := map[string]bool{}
	for e := range tree.Up() {
		if e.Type == session.TypeCompaction || e.Type == session.TypeContextEdit {
			break
		}
		ids[e.ID] = true
	}
	return ids
}

// Due reports whether the context has grown over its limit of tokens by an answer
// that came after the last compaction: one that did not help is not made again.
func Due(tree *session.Tree, limit int) bool {
	if limit <= 0 {
		return false
	}
	for e := range tree.Up() {
		switch {
		case e.Type == session.TypeCompaction:
			return false
		case e.Role() == session.RoleAssistant:
			return Tokens(tree) > limit
		}
	}
	return false
}
