package sessions

import (
	"cmp"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// State that is derived from a log and stored nowhere else.

// summarize builds the summary of a session for a list. damage says why the session cannot be
// written to, or is "".
func summarize(d *index.Digest, projectID string, header session.Header, damage string, models Models) api.SessionSummary {
	created := index.Millis(header.Timestamp)
	name := cmp.Or(models.Find(d.Provider, d.ModelID), models.Default())
	return api.SessionSummary{
		ID: header.ID, ProjectID: projectID, Name: cmp.Or(d.Name, d.Title),
		CreatedAt: created, UpdatedAt: max(created, d.Updated),
		MessageCount: d.Messages, Damaged: damage,
		Model: name, Thinking: thinkingOf(d.Thinking, name, models), Mode: modeOf(d.Mode), Backend: d.Backend,
		Archived: d.Archived, Pinned: d.Pinned, Meta: d.Meta,
		ParentSessionID: header.ChildOf,
		Usage:           api.TokenUsage(d.Usage), Auxiliary: api.TokenUsage(d.Auxiliary),
		Inherited: api.TokenUsage(d.Inherited), Uncounted: d.Uncounted,
	}
}

// thinkingOf returns the effective thinking level: the chosen one, or the nearest that the
// model supports; without a choice, the one of the configuration.
func thinkingOf(chosen, name string, models Models) string {
	_, model, err := models.Model(name)
	if err != nil || chosen == "" || len(model.ThinkingLevels) == 0 {
		return cmp.Or(chosen, model.Thinking)
	}
	rank := func(level string) int {
		if i := slices.Index(thinkingLevels[:], level); i >= 0 {
			return i
		}
		return len(thinkingLevels) - 1 // other programs may write levels above ours
	}
	want := rank(chosen)
	return slices.MinFunc(model.ThinkingLevels, func(a, b string) int {
		distance := func(level string) int { return max(rank(level)-want, want-rank(level)) }
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(rank(a), rank(b)))
	})
}

// thinkingLevels lists all levels in ascending order.
var thinkingLevels = [...]string{
	string(agent.ThinkingOff), string(agent.ThinkingMinimal), string(agent.ThinkingLow), string(agent.ThinkingMedium), string(agent.ThinkingHigh),
}

func nowMillis() int64 { return time.Now().UnixMilli() }
