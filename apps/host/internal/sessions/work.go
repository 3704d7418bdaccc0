package sessions

import (
	"context"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Summaries is how a host makes summaries of sessions.
type Summaries struct {
	// Share of a model's context window over which a session is compacted by itself;
	// 0 leaves it to people.
	Share float64
	// KeepTokens is how much of the recent context a compaction keeps, as far as the
	// window allows; 0 is compact.DefaultKeepTokens.
	KeepTokens int
	// Model writes the summaries; with nil, and where it fails, they are extracted
	// from the messages.
	Model agent.Model
	// Window is Model's context window in tokens; 0 is not known.
	Window int
}

// summaryTimeout bounds the making of one summary by a model.
const summaryTimeout = 3 * time.Minute

// runningWork is a summary that is being made: between turns, or in the middle of one.
type runningWork struct {
	kind   api.WorkKind
	key    string // clientKey of the request; "" where nobody asked
	turnID string // where a prompt asked for it, which is told of as a turn
	cancel context.CancelFunc
	// cancelled: a person does not want it any more.
	cancelled bool
}

// startWork lets a model write a summary in a goroutine of its own, which ends by
// sending the text as a command; "" where no model wrote one. finish runs in the
// session's goroutine.
func (s *Session) startWork(work runningWork, request string, finish func(summary string) error) {
	ctx := s.announceWork(context.Background(), work)
	go func() {
		summary, spent := s.deps.Summaries.write(ctx, request)
		// The session's goroutine lives until the work has ended, so this arrives.
		s.commands <- func() { s.endWork(spent, func() error { return finish(summary) }) }
	}()
}

// announceWork tells of work that begins, and returns the context that ends it.
func (s *Session) announceWork(ctx context.Context, work runningWork) context.Context {
	ctx, work.cancel = context.WithTimeout(ctx, summaryTimeout)
	s.work = &work
	s.publish(api.WorkStarted{Work: api.Work{Kind: work.kind, StartedAt: nowMillis()}})
	s.touch()
	return ctx
}

func (s *Session) endWork(spent *session.Message, finish func() error) {
	work := s.work
	ended := s.closeWork(spent, finish)
	if work.turnID != "" {
		s.endCommand(work, ended)
	}
	s.startNext(context.Background())
}

// closeWork ends what announceWork began, and keeps what came of it.
func (s *Session) closeWork(spent *session.Message, finish func() error) api.WorkEnded {
	work := s.work
	work.cancel()
	s.work = nil
	s.keepUsage(string(work.kind), spent)
	ended := api.WorkEnded{Kind: work.kind}
	switch {
	case s.closing:
		ended.Error = "the host is ending"
	case work.cancelled:
		ended.Error = "it was cancelled"
	default:
		if err := finish(); err != nil {
			s.deps.Logger.Error("keeping a summary", "session", s.id, "error", err)
			ended.Error = refuse(err).Error()
		}
	}
	s.publish(ended)
	s.touch()
	return ended
}

func (s *Session) cancelWork() {
	s.work.cancelled = true
	s.work.cancel()
	if s.live.Turn != nil && !s.live.Turn.Cancelling {
		s.publish(api.TurnCancelling{TurnID: s.work.turnID})
	}
}

// conversationBytes bounds what a summary is made from where the window of the model
// is not known.
const conversationBytes = 400_000

func (m Summaries) most() int {
	if m.Window == 0 {
		return conversationBytes
	}
	return m.Window * 2 // about half of the window
}

// write asks the model; "" where there is none, or it did not answer well. The
// message is nil where there is none.
func (m Summaries) write(ctx context.Context, request string) (string, *session.Message) {
	if m.Model == nil {
		return "", nil
	}
	var spent session.Usage
	message := m.Model.Stream(ctx, agent.Request{System: summarySystem, Messages: []session.Message{
		{Role: session.RoleUser, Content: session.Content{session.Text(request)}, Timestamp: nowMillis()},
	}}, countAttempts(&spent))
	message.Usage = plus(spent, message.Usage)
	if message.StopReason != session.StopEnd || len(message.Content.ToolCalls()) > 0 {
		return "", &message
	}
	return message.Content.Plain(), &message
}
