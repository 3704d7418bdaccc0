package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// subagents records who works for the calls of a session, and how far they are. What runs them
// is package subagent. The session's goroutine owns it.
type subagents struct {
	*core
	turns *turns
}

// Caller is the place of a tool call that gives tasks to other agents.
type Caller struct {
	EntryID string // of the message that made the call; it is in the log
	TurnID  string
	Model   string // name in config.toml
	Rights  Rights
	// FreeTokens is what is left of the model's context window; -1 is not known.
	FreeTokens int
}

// Caller finds the place of a call of the running turn.
func (g *subagents) Caller(ctx context.Context, toolCallID string) (caller Caller, err error) {
	return inside(ctx, &g.owner, func() (Caller, error) { return g.caller(toolCallID) })
}

func (g *subagents) caller(toolCallID string) (Caller, error) {
	entryID := read.MessageOf(g.log.Tree(), toolCallID)
	if g.turns.running == nil || entryID == "" {
		return Caller{}, api.Errorf(api.KindNotFound, "no call %.64q is running in this session", toolCallID)
	}
	prompt := g.turns.running.prompt
	caller := Caller{
		EntryID: entryID, TurnID: g.turns.running.id, Model: g.summary.Model, FreeTokens: -1,
		Rights: Rights{AllowAll: prompt.AllowAll, AllowRules: slices.Clone(prompt.AllowRules), MaxMode: api.Mode(prompt.MaxMode)},
	}
	if window := g.window(); window > 0 {
		caller.FreeTokens = max(0, window-compact.Tokens(g.log.Tree()))
	}
	return caller, nil
}

// BeginSubagents stores which subagents work for a call, and then publishes it.
func (g *subagents) BeginSubagents(ctx context.Context, turnID string, batch api.SubagentBatch) error {
	return g.change(ctx, func() error {
		err := g.appendCustom(session.CustomSubagents, subagentRecord(turnID, batch), "")
		if err == nil {
			g.publish(api.SubagentStarted{Batch: batch})
		}
		return err
	})
}

// UpdateSubagents publishes the progress of one of them. A change of its state is stored first,
// however long the session is busy.
func (g *subagents) UpdateSubagents(ctx context.Context, toolCallID string, index int, child api.SubagentChild) error {
	return g.change(context.WithoutCancel(ctx), func() error {
		err := g.storeState(toolCallID, index, child)
		g.publish(api.SubagentUpdated{ToolCallID: toolCallID, Index: index, Child: child})
		g.updateSummary()
		return err
	})
}

// storeState stores a change of state, so that a crash loses neither when a subagent began nor
// what it did. EndSubagents stores the end of the last one.
func (g *subagents) storeState(toolCallID string, index int, child api.SubagentChild) error {
	i := slices.IndexFunc(g.live.Subagents, func(b api.SubagentBatch) bool { return b.ToolCallID == toolCallID })
	if i < 0 || g.turns.running == nil || index >= len(g.live.Subagents[i].Children) || g.live.Subagents[i].Children[index].State == child.State {
		return nil
	}
	batch := g.live.Subagents[i]
	batch.Children = slices.Clone(batch.Children)
	batch.Children[index] = child
	if !slices.ContainsFunc(batch.Children, func(c api.SubagentChild) bool { return !c.State.Ended() }) {
		return nil
	}
	return g.appendCustom(session.CustomSubagents, subagentRecord(g.turns.running.id, batch), "")
}

// EndSubagents stores how all of them ended, and then publishes it. It waits as UpdateSubagents
// does.
func (g *subagents) EndSubagents(ctx context.Context, turnID string, batch api.SubagentBatch) error {
	return g.change(context.WithoutCancel(ctx), func() error {
		record := subagentRecord(turnID, batch)
		err := g.appendCustom(session.CustomSubagents, record, "")
		g.publish(api.SubagentEnded{ToolCallID: batch.ToolCallID, Members: record.Members})
		g.updateSummary()
		return err
	})
}

func subagentRecord(turnID string, batch api.SubagentBatch) session.SubagentRecord {
	record := session.SubagentRecord{
		EntryID: batch.EntryID, ToolCallID: batch.ToolCallID, TurnID: turnID, StartedAt: batch.StartedAt,
		Members: make([]session.SubagentMember, 0, len(batch.Children)),
	}
	for _, child := range batch.Children {
		record.Members = append(record.Members, child.SubagentMember)
	}
	return record
}

// textHostStopped is the error of a subagent whose host ended while it worked.
const textHostStopped = "The host stopped while this agent worked."

// failOpen records that subagents failed whose host ended while they worked.
func (g *subagents) failOpen() {
	for _, record := range read.OpenSubagents(g.log.Tree()) {
		for i, member := range record.Members {
			if !member.State.Ended() {
				record.Members[i].State, record.Members[i].Error = session.ChildFailed, textHostStopped
				record.Members[i].EndedAt = nowMillis()
			}
		}
		if err := g.appendCustom(session.CustomSubagents, record, ""); err != nil {
			g.logger.Error("recording how subagents ended", "session", g.id, "error", err)
		}
	}
}
