package sessions

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// runningTurn is the turn under way.
type runningTurn struct {
	id     string
	prompt session.QueuedPrompt
	cancel context.CancelFunc
	// resumed: it waited for an approval or an answer when the host ended.
	resumed bool
	// kept are the approvals that waited then, by the id of their call. Each is taken out when
	// its call is judged again: from then on the session knows of it itself.
	kept map[string]read.WaitingCall
}

// startTurn puts the prompt's message on disk, behind what waits to be told, and then
// lets the agent work on it.
func (s *Session) startTurn(prompt session.QueuedPrompt) (entryID string, err error) {
	turnID := newTurnID()
	if _, err := s.tellWaiting(turnID); err != nil {
		return "", refuse(err)
	}
	mark := store.Mark{ClientID: prompt.ClientID, ClientKey: prompt.ClientKey, TurnID: turnID}
	entry, err := s.keepMessage(mark, session.Message{
		Role: session.RoleUser, Content: session.Content{session.Text(prompt.Text)}, Timestamp: nowMillis(),
	})
	if err != nil {
		return "", refuse(err)
	}
	s.keys[prompt.ClientKey] = entry.ID
	s.wakes = 0
	s.begin(turnID, prompt, false)
	return entry.ID, nil
}

func newTurnID() string { return "turn_" + randomHex(8) }

// begin lets the agent work in a goroutine of its own, which ends by sending its
// outcome as a command.
func (s *Session) begin(turnID string, prompt session.QueuedPrompt, resumed bool) {
	ctx, cancel := context.WithCancel(context.Background())
	s.turn = &runningTurn{id: turnID, prompt: prompt, cancel: cancel, resumed: resumed}
	if resumed {
		s.turn.kept = read.OpenApprovals(s.log.Tree())
	}
	s.lower(prompt.MaxMode)
	s.publish(api.TurnStarted{Turn: api.Turn{TurnID: turnID, ClientKey: prompt.ClientKey, StartedAt: nowMillis()}})
	s.touch()
	turn, err := s.prepareTurn()
	turn.Resume = resumed
	if s.isTask(prompt) {
		go s.routineTask(ctx, turn, err)
	} else {
		go s.routineTurn(ctx, turn, prompt.Text, err)
	}
}

func (s *Session) prepareTurn() (agent.Turn, error) {
	model, info, err := s.deps.Models.Model(s.summary.Model)
	if err != nil {
		return agent.Turn{}, err
	}
	now := read.Context(s.log.Tree())
	if s.noter != nil {
		s.noter.Began(now.Shown)
	}
	j := journal{s, s.turn.id, info}
	turn := agent.Turn{
		Model:    model,
		Journal:  j,
		Steer:    j.Steer,
		Tell:     j.Tell,
		Spent:    j.Spent,
		Gate:     asker{s},
		People:   people{s},
		Sink:     sink{s},
		Messages: now.Messages,
		Cwd:      s.project.Path,
		Provider: info.Provider,
		ModelID:  info.ID,
		MaxSteps: s.deps.MaxSteps,

		Thinking: agent.ThinkingLevel(s.summary.Thinking), CacheKey: s.id, ContextWindow: info.ContextWindow,
	}
	if share := s.deps.Summaries.Share; share > 0 {
		turn.RoomAt = int(share * float64(info.ContextWindow))
		turn.Compact = j.Compact
	}
	return turn, nil
}

// routineTurn is the goroutine of a turn. text is that of its prompt.
func (s *Session) routineTurn(ctx context.Context, turn agent.Turn, text string, err error) {
	outcome := s.runTurn(ctx, turn, text, err)
	// The session's goroutine lives until the turn has ended, so this arrives.
	s.commands <- func() { s.endTurn(outcome) }
}

func (s *Session) runTurn(ctx context.Context, turn agent.Turn, text string, err error) agent.Outcome {
	ctx = process.WithSink(ctx, s.process)
	outcome := agent.Outcome{StopReason: session.StopError}
	if err == nil {
		err = s.equip(ctx, &turn)
	}
	if err == nil && !turn.Resume {
		err = s.activate(ctx, &turn, text)
	}
	if err != nil {
		outcome.Error = err.Error()
	} else {
		outcome = agent.RunTurn(ctx, turn)
	}
	if outcome.StopReason == session.StopAborted && s.noter != nil {
		s.noter.Cancelled()
	}
	return outcome
}

// endTurn publishes the one terminal event of the prompt.
func (s *Session) endTurn(outcome agent.Outcome) {
	turn := s.turn
	turn.cancel()
	if outcome.Suspended {
		s.turn = nil
		return
	}
	if outcome.StopReason == session.StopError || outcome.StopReason == session.StopAborted {
		record := session.TurnRecord{TurnID: turn.id, StopReason: outcome.StopReason, Error: outcome.Error}
		if err := s.keepCustom(session.CustomTurn, record, ""); err != nil {
			s.deps.Logger.Error("noting how a turn ended", "session", s.id, "error", err)
		}
	}
	s.turn = nil
	s.giveName(outcome)
	s.publish(api.TurnEnded{
		TurnID: turn.id, ClientKey: turn.prompt.ClientKey, StopReason: outcome.StopReason, Error: outcome.Error,
	})
	if !s.closing {
		s.compactIfDue()
	}
	s.startNext(context.Background())
	s.touch()
}

// CancelTurn cancels the named turn; false when it is not running any more.
func (s *Session) CancelTurn(ctx context.Context, turnID string) (cancelled bool, err error) {
	err = s.do(ctx, func() {
		if s.work != nil && s.work.turnID == turnID && turnID != "" {
			cancelled = true
			s.cancelWork()
			return
		}
		if s.turn == nil || s.turn.id != turnID {
			return
		}
		cancelled = true
		if s.live.Turn != nil && !s.live.Turn.Cancelling {
			s.publish(api.TurnCancelling{TurnID: turnID})
		}
		s.turn.cancel()
	})
	return cancelled, refuse(err)
}

// journal is the agent's way to the log.
type journal struct {
	s      *Session
	turnID string
	model  api.Model
}

func (j journal) Append(ctx context.Context, message session.Message) error {
	if message.Timestamp == 0 {
		message.Timestamp = nowMillis()
	}
	var err error
	doErr := j.s.do(ctx, func() {
		_, err = j.s.keepMessage(store.Mark{TurnID: j.turnID}, message)
		j.s.touch()
	})
	return refuse(errors.Join(doErr, err))
}

// sink is the agent's way to the entries for what is not in the log.
type sink struct{ s *Session }

func (k sink) Emit(event api.Event) {
	// The session's goroutine lives until the turn has ended, so this arrives.
	k.s.commands <- func() { k.s.publish(event) }
}
