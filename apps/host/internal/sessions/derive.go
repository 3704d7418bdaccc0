package sessions

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// What is derived from a log: nothing here is kept anywhere else.

// maxTitle is the length in runes of a name made from a prompt.
const maxTitle = 60

// digest is what a list shows of a session. It grows with each entry, so that a
// long session costs no more than a short one.
type digest struct {
	messages          int
	updated           int64 // Unix milliseconds
	title             string
	provider, modelID string
}

func (d *digest) add(entry session.Entry) {
	switch entry.Type {
	case session.TypeModelChange:
		d.provider, d.modelID = entry.Text("provider"), entry.Text("modelId")
	case session.TypeMessage:
		d.messages++
		d.updated = max(d.updated, parseMillis(entry.Timestamp))
		if d.title == "" && entry.Role() == session.RoleUser {
			if m, ok := entry.AsMessage(); ok {
				d.title = makeTitle(m.Message.Content.Plain())
			}
		}
	}
}

func digestOf(tree *session.Tree) digest {
	var d digest
	for _, entry := range tree.Entries() {
		d.add(entry)
	}
	return d
}

// summarize makes the session's line for a list. damage is why it cannot be
// written to, or "".
func (d *digest) summarize(projectID string, header session.Header, name, damage string, models Models) api.SessionSummary {
	created := parseMillis(header.Timestamp)
	return api.SessionSummary{
		ID: header.ID, ProjectID: projectID, Name: cmp.Or(name, d.title),
		CreatedAt: created, UpdatedAt: max(created, d.updated),
		MessageCount: d.messages, Damaged: damage,
		Model: cmp.Or(models.Find(d.provider, d.modelID), models.Default()),
	}
}

func makeTitle(prompt string) string {
	title := strings.Join(strings.Fields(prompt), " ")
	if utf8.RuneCountInString(title) <= maxTitle {
		return title
	}
	return strings.TrimSpace(string([]rune(title)[:maxTitle-1])) + "…"
}

func parseMillis(timestamp string) int64 {
	t, err := time.Parse(time.RFC3339Nano, timestamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// takenPrompts returns the keys of the prompts that are messages, with their entries.
func takenPrompts(tree *session.Tree) map[string]string {
	keys := map[string]string{}
	for _, entry := range tree.Entries() {
		if entry.Role() != session.RoleUser {
			continue
		}
		if key := entry.Text("clientKey"); key != "" {
			keys[key] = entry.ID
		}
	}
	return keys
}

// waitingPrompts returns the last queue in the log without the prompts that are
// messages by now: a crash may come between the message and the queue's rewrite.
func waitingPrompts(tree *session.Tree, taken map[string]string) []session.QueuedPrompt {
	var queue session.Queue
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.CustomType != session.CustomQueue {
			continue
		}
		if custom, ok := entry.AsCustom(); ok {
			_ = json.Unmarshal(custom.Data, &queue) // what does not decode is no queue
			break
		}
	}
	return slices.DeleteFunc(append([]session.QueuedPrompt{}, queue.Items...), func(q session.QueuedPrompt) bool {
		_, done := taken[q.ClientKey]
		return done
	})
}

// interrupted tells whether the log ends inside a turn: a prompt or tool result
// without an answer, or an answer whose tools have no results.
func interrupted(tree *session.Tree) bool {
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.Type == session.TypeCustom && entry.CustomType == session.CustomTurn {
			return false
		}
		message, ok := entry.AsMessage()
		if !ok {
			continue
		}
		return message.TurnID != "" &&
			(message.Message.Role != session.RoleAssistant || message.Message.StopReason == session.StopToolUse)
	}
	return false
}

// decided finds an approval that was answered before.
func (s *Session) decided(id string) (api.Decision, string, error) {
	for _, entry := range slices.Backward(s.log.Tree().Entries()) {
		custom, ok := entry.AsCustom()
		if !ok || custom.CustomType != session.CustomApproval {
			continue
		}
		var record session.ApprovalRecord
		if json.Unmarshal(custom.Data, &record) == nil && record.ApprovalID == id {
			return api.Decision(record.Decision), record.DecidedBy, nil
		}
	}
	return "", "", api.Errorf(api.KindNotFound, "no such approval: it belonged to a turn that has ended")
}

func nowMillis() int64 { return time.Now().UnixMilli() }
