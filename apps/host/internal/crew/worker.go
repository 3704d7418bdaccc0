package crew

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// worker is one task and the session that it is done in.
type worker struct {
	index  int
	key    string // of the prompt in the child
	task   tool.Task
	batch  *batch
	child  *sessions.Session
	ticket *ticket
	op     *process.Operation // set by run
}

// run waits for its turn, lets the child work, and ends with exactly one update
// whose state has ended.
func (w *worker) run(ctx context.Context) {
	defer w.batch.team.slots.leave(w.ticket)
	w.op = w.operation(ctx)
	select {
	case <-w.ticket.granted:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		w.tell(update{state: session.ChildCancelled})
		return
	}
	w.tell(update{state: session.ChildRunning})
	w.tell(w.work(ctx))
}

func (w *worker) tell(u update) {
	u.index = w.index
	report(w.op, u)
	w.batch.updates <- u
}

func failed(err error) update {
	return update{state: session.ChildFailed, errorText: plain(err).Error()}
}

// work sends the task and follows it to its end.
func (w *worker) work(ctx context.Context) update {
	watch := newWatch(w.key)
	if err := w.child.Resync(ctx, api.Anchors{}, watch, nil, func(api.ResyncEventsResponse) {}); err != nil {
		return failed(err)
	}
	defer func() {
		keep, cancel := detached(ctx)
		defer cancel()
		w.child.Unsubscribe(keep, watch)
	}()
	err := w.child.SendTask(ctx, sessions.Task{Key: w.key, Text: w.task.Prompt, Rights: w.batch.caller.Rights})
	if err != nil && ctx.Err() == nil {
		return failed(err)
	}
	return w.follow(ctx, watch)
}

// follow returns when the task has ended. A cancel is passed on, and waited for.
func (w *worker) follow(ctx context.Context, watch *watch) update {
	cancelled := ctx.Done()
	for {
		select {
		case <-watch.changed:
		case <-w.child.Stopped():
			if now := watch.state(); !now.ended {
				return update{state: session.ChildCancelled, errorText: "The host was ending.", text: now.text}
			}
		case <-cancelled:
			cancelled = nil
			w.cancel(ctx)
		}
		now := watch.state()
		switch {
		case now.ended:
			return now.outcome()
		case cancelled == nil && !now.begun: // it was not sent, or was taken out of the queue
			return update{state: session.ChildCancelled}
		}
		w.tell(update{state: session.ChildRunning, doing: now.doing, approvals: now.approvals})
	}
}

// cancel lets the turn of the task end, or keeps it from beginning.
func (w *worker) cancel(ctx context.Context) {
	keep, stop := detached(ctx)
	defer stop()
	if err := w.child.CancelTask(keep, w.key); err != nil {
		w.batch.team.orchestrator.options.Logger.Error("cancelling an agent", "session", w.child.ID(), "error", err)
	}
}
