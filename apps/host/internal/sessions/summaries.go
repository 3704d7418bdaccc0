package sessions

import (
	"cmp"
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
	// Model writes the summaries; with nil the session's own model does. If that fails,
	// they are extracted from the messages.
	Model agent.Model
	// Window is Model's context window in tokens; 0 is not known.
	Window int
}

// maker returns how this session's summaries are made. The demo model, which is no AI, writes
// none.
func (w *summaries) maker() Summaries {
	made := w.deps.Summaries
	if made.Model != nil {
		return made
	}
	if own, listed, err := w.deps.Models.Model(w.summary.Model); err == nil && !listed.Demo {
		made.Model = named{own, listed}
		made.Window = listed.ContextWindow
	}
	return made
}

// named is a model whose messages say which model they are of.
type named struct {
	agent.Model
	listed api.Model
}

// Stream implements agent.Model.
func (n named) Stream(ctx context.Context, request agent.Request, emit func(agent.Delta)) session.Message {
	message := n.Model.Stream(ctx, request, emit)
	message.Provider, message.Model = cmp.Or(message.Provider, n.listed.Provider), cmp.Or(message.Model, n.listed.ID)
	return message
}

// summaryTimeout bounds the making of one summary by a model.
const summaryTimeout = 3 * time.Minute

// runningSummary is a summary that is being made, between turns or in the middle of one.
type runningSummary struct {
	kind   api.WorkKind
	key    string // clientKey of the request; "" if no client requested it
	turnID string // if a prompt asked for it: the turn that clients are shown
	cancel context.CancelFunc
	// canceled: a person does not want it any more.
	canceled bool
}

// summaries makes one summary at a time: a compaction, or that of a branch that is left. The
// session's goroutine owns it; prompts wait while it works.
type summaries struct {
	*core
	turns   *turns
	notes   *notes
	hooks   *hooks
	running *runningSummary
	refused refusal // the last compaction that could not be stored
	// ended is called after the end of a summary that was made between turns.
	ended func(*runningSummary, api.WorkEnded)
}

// start has a model write a summary in a goroutine of its own, which delivers the text to that
// of the session; "" if no model wrote one. keep runs there.
func (w *summaries) start(work runningSummary, request func(most int) string, keep func(summary string) error) {
	made := w.maker()
	text := request(made.most())
	ctx := w.announce(context.Background(), work)
	go func() {
		summary, spent := made.write(ctx, text)
		w.deliver(func() {
			work := w.running
			w.ended(work, w.finish(spent, func() error { return keep(summary) }))
		})
	}()
}

// announce publishes that a summary is being made, and returns the context that ends it.
func (w *summaries) announce(ctx context.Context, work runningSummary) context.Context {
	ctx, work.cancel = context.WithTimeout(ctx, summaryTimeout)
	w.running = &work
	w.publish(api.WorkStarted{Work: api.Work{Kind: work.kind, StartedAt: nowMillis()}})
	if work.kind == api.WorkCompaction {
		w.hooks.compacts(work.key != "")
	}
	w.updateSummary()
	return ctx
}

// finish ends what announce began, and stores the result.
func (w *summaries) finish(spent *session.Message, keep func() error) api.WorkEnded {
	work := w.running
	work.cancel()
	w.running = nil
	w.appendUsage(string(work.kind), spent)
	ended := api.WorkEnded{Kind: work.kind}
	switch {
	case w.closing:
		ended.Error = "the host is shutting down"
	case work.canceled:
		ended.Error = "it was canceled"
	default:
		if err := keep(); err != nil {
			w.logger.Error("storing a summary", "session", w.id, "error", err)
			ended.Error = clientError(err).Error()
		}
	}
	w.publish(ended)
	w.updateSummary()
	return ended
}

// cancel ends the running summary without a result. If it is shown as a turn, that turn is
// announced to end.
func (w *summaries) cancel() {
	w.running.canceled = true
	w.running.cancel()
	if w.live.Turn != nil && !w.live.Turn.Cancelling {
		w.publish(api.TurnCancelling{TurnID: w.running.turnID})
	}
}

// shownAsTurn reports whether a prompt asked for the running summary, so that clients are shown
// a turn.
func (w *summaries) shownAsTurn() bool { return w.running != nil && w.running.turnID != "" }

// checkIdle refuses a change of the tree while the session works on something.
func (w *summaries) checkIdle() error {
	switch {
	case w.closing:
		return ErrClosed
	case w.paused != nil:
		return w.paused
	case w.turns.running != nil:
		return api.Errorf(api.KindConflict, "a turn is running: wait until it ends or cancel it, then repeat this")
	case w.running != nil:
		return api.Errorf(api.KindConflict, "the host is summarizing this session: wait until it has finished, then repeat this")
	}
	return nil
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
	total := spent.Plus(message.Usage)
	message.Usage = &total
	if message.StopReason != session.StopEnd || len(message.Content.ToolCalls()) > 0 {
		return "", &message
	}
	return message.Content.Plain(), &message
}
