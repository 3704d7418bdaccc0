package modeltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// ledger tracks which calls have no result yet.
type ledger struct {
	maxID int
	any   bool // ids may contain any character
	open  []string
	seen  map[string]bool
}

var plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// call records a call; raw is its arguments as JSON text.
func (l *ledger) call(id, name, raw string) error {
	var arguments map[string]json.RawMessage
	switch {
	case id == "" || !l.any && !plainID.MatchString(id):
		return fmt.Errorf("tool call id %q is empty or holds characters that are not allowed", id)
	case len(id) > l.maxID:
		return fmt.Errorf("tool call id %q is longer than %d", id, l.maxID)
	case l.seen[id]:
		return fmt.Errorf("tool call id %q occurs twice", id)
	case name == "":
		return fmt.Errorf("tool call %q has no name", id)
	case json.Unmarshal([]byte(raw), &arguments) != nil || arguments == nil:
		return fmt.Errorf("arguments of %q are not a JSON object: %q", id, raw)
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[id] = true
	l.open = append(l.open, id)
	return nil
}

// result records the result of a call.
func (l *ledger) result(id string) error {
	for i, open := range l.open {
		if open == id {
			l.open = append(l.open[:i:i], l.open[i+1:]...)
			return nil
		}
	}
	return fmt.Errorf("there is no open call for the result of %q", id)
}

// closed must be called before anything that is not a result.
func (l *ledger) closed() error {
	if len(l.open) > 0 {
		return fmt.Errorf("tool calls without a result directly after them: %s", strings.Join(l.open, ", "))
	}
	return nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// CheckAnswered returns an error that names a call without exactly one result, or nil.
func CheckAnswered(messages []session.Message) error {
	open := map[string]int{}
	for _, m := range messages {
		for _, call := range m.Content.ToolCalls() {
			open[call.ID]++
		}
		if m.Role == session.RoleToolResult {
			open[m.ToolCallID]--
		}
	}
	for id, n := range open {
		if n != 0 {
			return fmt.Errorf("the call %s lacks %d results", id, n)
		}
	}
	return nil
}
