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

// runningWork is what the session does between turns.
type runningWork struct {
	kind   api.WorkKind
	key    string // clientKey of the request; "" where nobody asked
	cancel context.CancelFunc
}

// startWork lets a model write a summary in a goroutine of its own, which ends by
// sending the text as a command; "" where no model wrote one. finish runs in the
// session's goroutine.
func (s *Session) startWork(kind api.WorkKind, key, request string, finish func(summary string) error) {
	ctx, cancel := context.WithTimeout(context.Background(), summaryTimeout)
	s.work = &runningWork{kind: kind, key: key, cancel: cancel}
	s.publish(api.WorkStarted{Work: api.Work{Kind: kind, StartedAt: nowMillis()}})
	s.touch()
	go func() {
		summary := s.deps.Summaries.write(ctx, request)
		// The session's goroutine lives until the work has ended, so this arrives.
		s.commands <- func() { s.endWork(func() error { return finish(summary) }) }
	}()
}

func (s *Session) endWork(finish func() error) {
	work := s.work
	work.cancel()
	s.work = nil
	ended := api.WorkEnded{Kind: work.kind}
	if s.closing {
		ended.Error = "the host is ending"
	} else if err := finish(); err != nil {
		s.deps.Logger.Error("keeping a summary", "session", s.id, "error", err)
		ended.Error = refuse(err).Error()
	}
	s.publish(ended)
	s.touch()
	s.startNext(context.Background())
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

// write asks the model; "" where there is none, or it did not answer well.
func (m Summaries) write(ctx context.Context, request string) string {
	if m.Model == nil {
		return ""
	}
	message := m.Model.Stream(ctx, agent.Request{System: summarySystem, Messages: []session.Message{
		{Role: session.RoleUser, Content: session.Content{session.Text(request)}, Timestamp: nowMillis()},
	}}, func(agent.Delta) {})
	if message.StopReason != session.StopEnd || len(message.Content.ToolCalls()) > 0 {
		return ""
	}
	return message.Content.Plain()
}
