package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

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
func (s *Session) Caller(ctx context.Context, toolCallID string) (caller Caller, err error) {
	doErr := s.do(ctx, func() { caller, err = s.caller(toolCallID) })
	if doErr != nil {
		return caller, refuse(doErr)
	}
	return caller, err
}

func (s *Session) caller(toolCallID string) (Caller, error) {
	entryID := read.MessageOf(s.log.Tree(), toolCallID)
	if s.turn == nil || entryID == "" {
		return Caller{}, api.Errorf(api.KindNotFound, "no call %.64q runs in this session", toolCallID)
	}
	prompt := s.turn.prompt
	caller := Caller{
		EntryID: entryID, TurnID: s.turn.id, Model: s.summary.Model, FreeTokens: -1,
		Rights: Rights{AllowAll: prompt.AllowAll, AllowRules: slices.Clone(prompt.AllowRules), MaxMode: api.Mode(prompt.MaxMode)},
	}
	if window := s.window(); window > 0 {
		caller.FreeTokens = max(0, window-compact.Tokens(s.log.Tree()))
	}
	return caller, nil
}

// BeginCrew puts on disk who works for a call, and then tells.
func (s *Session) BeginCrew(ctx context.Context, turnID string, batch api.CrewBatch) (err error) {
	doErr := s.do(ctx, func() {
		if err = s.keepCustom(session.CustomCrew, crewRecord(turnID, batch), ""); err == nil {
			s.publish(api.CrewStarted{Batch: batch})
		}
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

// UpdateCrew tells how one of them stands.
func (s *Session) UpdateCrew(ctx context.Context, toolCallID string, index int, child api.CrewChild) error {
	return refuse(s.do(ctx, func() {
		s.publish(api.CrewUpdated{ToolCallID: toolCallID, Index: index, Child: child})
		s.touch()
	}))
}

// EndCrew puts on disk how all of them ended, and then tells.
func (s *Session) EndCrew(ctx context.Context, turnID string, batch api.CrewBatch) (err error) {
	doErr := s.do(ctx, func() {
		err = s.keepCustom(session.CustomCrew, crewRecord(turnID, batch), "")
		s.publish(api.CrewEnded{ToolCallID: batch.ToolCallID})
		s.touch()
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

func crewRecord(turnID string, batch api.CrewBatch) session.CrewRecord {
	record := session.CrewRecord{
		EntryID: batch.EntryID, ToolCallID: batch.ToolCallID, TurnID: turnID,
		Members: make([]session.CrewMember, 0, len(batch.Children)),
	}
	for _, child := range batch.Children {
		record.Members = append(record.Members, child.CrewMember)
	}
	return record
}

// textHostStopped is why an agent did not complete whose host ended under it.
const textHostStopped = "The host stopped while this agent worked."

// closeCrews notes of agents that a crash of the host cut off that they failed.
func (s *Session) closeCrews() {
	for _, record := range read.OpenCrews(s.log.Tree()) {
		for i, member := range record.Members {
			if !member.State.Ended() {
				record.Members[i].State, record.Members[i].Error = session.ChildFailed, textHostStopped
				record.Members[i].EndedAt = nowMillis()
			}
		}
		if err := s.keepCustom(session.CustomCrew, record, ""); err != nil {
			s.deps.Logger.Error("noting how agents ended", "session", s.id, "error", err)
		}
	}
}
