package subagent

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// worker executes one task in its session.
type worker struct {
	index  int
	key    string // clientKey of the prompt in the child session
	task   tool.Task
	batch  *batch
	child  *sessions.Session
	ticket *ticket
	most   int                // limit of its agent definition; 0 means the host's limit
	op     *process.Operation // set by run
	nested nested             // set by run
}

// run waits for a slot, executes the task, and sends exactly one update with a final state.
func (w *worker) run(ctx context.Context) {
	defer w.batch.team.slots.leave(w.ticket)
	under, op := w.operation(ctx)
	w.op, w.nested = op, newNested(under)
	select {
	case <-w.ticket.granted:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		w.tell(update{state: session.ChildCancelled})
		return
	}
	w.tell(update{state: session.ChildRunning})
	end := w.work(ctx)
	w.nested.close()
	w.tell(end)
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

// follow returns when the task has ended. It forwards a cancellation and waits for its
// effect.
func (w *worker) follow(ctx context.Context, watch *watch) update {
	canceled := ctx.Done()
	for {
		select {
		case <-watch.changed:
		case <-w.child.Stopped():
			if now, _ := watch.state(); !now.ended {
				return update{state: session.ChildCancelled, errorText: "The host was shutting down.", text: now.text, work: now.work()}
			}
		case <-canceled:
			canceled = nil
			w.cancel(ctx)
		}
		w.nested.take(watch.operations())
		now, news := watch.state()
		switch {
		case now.ended:
			return now.outcome()
		case canceled == nil && !now.begun: // it was not sent, or was removed from the queue
			return update{state: session.ChildCancelled}
		case !news:
			continue
		}
		w.tell(update{state: session.ChildRunning, doing: now.doing, approvals: now.approvals, decided: now.decided, work: now.work()})
	}
}

// cancel cancels the task's turn, or keeps it from starting.
func (w *worker) cancel(ctx context.Context) {
	keep, stop := detached(ctx)
	defer stop()
	if err := w.child.CancelTask(keep, w.key); err != nil {
		w.batch.team.orchestrator.options.Logger.Error("canceling a subagent", "session", w.child.ID(), "error", err)
	}
}
