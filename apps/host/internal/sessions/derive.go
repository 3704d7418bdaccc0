package sessions

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// What is derived from a log: nothing here is kept anywhere else.

// summarize makes the session's line for a list. damage is why it cannot be
// written to, or "".
func summarize(d *index.Digest, projectID string, header session.Header, damage string, models Models) api.SessionSummary {
	created := index.Millis(header.Timestamp)
	name := cmp.Or(models.Find(d.Provider, d.ModelID), models.Default())
	return api.SessionSummary{
		ID: header.ID, ProjectID: projectID, Name: cmp.Or(d.Name, d.Title),
		CreatedAt: created, UpdatedAt: max(created, d.Updated),
		MessageCount: d.Messages, Damaged: damage,
		Model: name, Thinking: thinkingOf(d.Thinking, name, models), Mode: modeOf(d.Mode),
		ParentSessionID: header.ChildOf,
		Usage:           api.TokenUsage(d.Usage), Auxiliary: api.TokenUsage(d.Auxiliary),
		Inherited: api.TokenUsage(d.Inherited), Uncounted: d.Uncounted,
	}
}

// thinkingOf is the level that counts: the one that was chosen, or the nearest that
// the model is known to take, and else what the configuration says.
func thinkingOf(chosen, name string, models Models) string {
	_, model, err := models.Model(name)
	if err != nil || chosen == "" || len(model.ThinkingLevels) == 0 {
		return cmp.Or(chosen, model.Thinking)
	}
	rank := func(level string) int {
		if i := slices.Index(thinkingLevels[:], level); i >= 0 {
			return i
		}
		return len(thinkingLevels) - 1 // files of other programs know levels above ours
	}
	want := rank(chosen)
	return slices.MinFunc(model.ThinkingLevels, func(a, b string) int {
		distance := func(level string) int { return max(rank(level)-want, want-rank(level)) }
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(rank(a), rank(b)))
	})
}

// thinkingLevels are all levels, from the least to the most.
var thinkingLevels = [...]string{
	string(agent.ThinkingOff), string(agent.ThinkingMinimal), string(agent.ThinkingLow), string(agent.ThinkingMedium), string(agent.ThinkingHigh),
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
// messages or done by now: a crash may come between the entry and the queue's rewrite.
func waitingPrompts(tree *session.Tree, taken, done map[string]string) []session.QueuedPrompt {
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
		_, isMessage := taken[q.ClientKey]
		_, isDone := done[q.ClientKey] // a command
		return isMessage || isDone
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
			(message.Message.Role != session.RoleAssistant || len(message.Message.Content.ToolCalls()) > 0)
	}
	return false
}

// decided finds an approval that was answered before.
func (s *Session) decided(id string) (session.ApprovalRecord, error) {
	for _, entry := range slices.Backward(s.log.Tree().Entries()) {
		custom, ok := entry.AsCustom()
		if !ok || custom.CustomType != session.CustomApproval {
			continue
		}
		var record session.ApprovalRecord
		if json.Unmarshal(custom.Data, &record) == nil && record.ApprovalID == id && record.Decision != "" {
			return record, nil
		}
	}
	return session.ApprovalRecord{}, api.Errorf(api.KindNotFound, "no such approval: it belonged to a turn that has ended")
}

func nowMillis() int64 { return time.Now().UnixMilli() }
