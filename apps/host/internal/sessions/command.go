package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// slashWord splits a prompt of the form "/name words"; false where it has another one.
func slashWord(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], strings.TrimSpace(rest[end:]), end > 0
}

// compactCommand tells whether a prompt asks for a compaction, and what the summary is
// to look at.
func compactCommand(text string) (focus string, ok bool) {
	name, focus, ok := slashWord(text)
	return focus, ok && name == "compact"
}

// activate gives the turn the skill that its prompt calls by name. A prompt that calls
// none is just text.
func (s *Session) activate(ctx context.Context, turn *agent.Turn, text string) error {
	message, ok, err := activated(ctx, s.noter, turn.Tell, text)
	if ok && err == nil {
		turn.Messages = append(turn.Messages, message)
	}
	return err
}

func activated(
	ctx context.Context, noter agent.Noter, tell func(context.Context, session.Note) (session.Message, error), text string,
) (message session.Message, ok bool, err error) {
	name, args, ok := slashWord(text)
	if !ok || noter == nil {
		return message, false, nil
	}
	note, ok := noter.Activate(name, args)
	if !ok {
		return message, false, nil
	}
	message, err = tell(context.WithoutCancel(ctx), note)
	return message, true, err
}

// activateSteered puts the skills that messages to the running turn call behind them.
func (j journal) activateSteered(ctx context.Context, messages []session.Message) ([]session.Message, error) {
	var out []session.Message
	for _, message := range messages {
		out = append(out, message)
		if !message.Steer {
			continue
		}
		skill, ok, err := activated(ctx, j.s.noter, j.Tell, message.Content.Plain())
		if err != nil {
			return out, err
		}
		if ok {
			out = append(out, skill)
		}
	}
	return out, nil
}

// checkCommand refuses a /compact that has nothing to do, where that is known already.
func (s *Session) checkCommand(text string) error {
	focus, ok := compactCommand(text)
	switch {
	case !ok:
		return nil
	case len(focus) > api.MaxFocus:
		return api.Errorf(api.KindTooLarge, "the words behind /compact have %d bytes, the limit is %d", len(focus), api.MaxFocus)
	case s.turn != nil || s.work != nil || len(s.live.Queue) > 0:
		return nil
	}
	if what := s.log.Damage(); what != "" {
		return refuse(&store.DamageError{What: what})
	}
	if _, ok := compact.Prepare(s.log.Tree(), s.keepTokens()); !ok {
		return s.nothingToCompact()
	}
	return nil
}

func (s *Session) nothingToCompact() error {
	return api.Errorf(api.KindBadRequest, "there is nothing to compact: the session is shorter than the %d tokens that a compaction keeps", s.keepTokens())
}

// startCommand does what a waiting prompt asks of the host itself, and tells of it as of
// a turn. The prompt stays in the queue until that is done.
func (s *Session) startCommand(prompt session.QueuedPrompt, focus string) {
	turnID := newTurnID()
	s.publish(api.TurnStarted{Turn: api.Turn{TurnID: turnID, ClientKey: prompt.ClientKey, StartedAt: nowMillis()}})
	work := &runningWork{kind: api.WorkCompaction, key: prompt.ClientKey, turnID: turnID, cancel: func() {}}
	plan, ok := compact.Prepare(s.log.Tree(), s.keepTokens())
	if !ok {
		s.endCommand(work, api.WorkEnded{Error: s.nothingToCompact().Error()})
		s.startNext(context.Background())
		return
	}
	mark := store.Mark{ClientID: prompt.ClientID, ClientKey: prompt.ClientKey, TurnID: turnID}
	s.startWork(*work, plan.Request(focus, s.deps.Summaries.most()), func(summary string) error {
		return s.keepCompaction(mark, plan, summary)
	})
}

// endCommand takes the prompt out of the queue and tells how it ended.
func (s *Session) endCommand(work *runningWork, ended api.WorkEnded) {
	if s.closing { // it waits for the next start
		return
	}
	rest := slices.DeleteFunc(slices.Clone(s.live.Queue), func(q session.QueuedPrompt) bool { return q.ClientKey == work.key })
	if len(rest) < len(s.live.Queue) {
		if err := s.rewriteQueue(rest, ""); err != nil {
			s.deps.Logger.Error("rewriting the queue", "session", s.id, "error", err)
			s.publish(api.QueueChanged{Queue: rest})
		}
	}
	told := api.TurnEnded{TurnID: work.turnID, ClientKey: work.key, StopReason: session.StopEnd}
	switch {
	case work.cancelled:
		told.StopReason = session.StopAborted
	case ended.Error != "":
		told.StopReason, told.Error = session.StopError, ended.Error
	}
	s.publish(told)
	s.touch()
}
