package sessions

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var errCannotCompact = errors.New("sessions: nothing can be left out now")

// Compact implements agent.Turn.Compact: it replaces the older part of the session by a
// summary and returns what the model is given then. The messages of the caller are those of
// the log, which is what is compacted.
func (j journal) Compact(ctx context.Context, _ []session.Message) (messages []session.Message, err error) {
	var plan compact.Plan
	var workCtx context.Context
	var made Summaries
	ready := false
	if doErr := j.do(ctx, func() {
		if j.summaries.refused.recently(j.log) {
			return
		}
		if plan, ready = compact.Prepare(j.log.Tree(), j.summaries.keepTokens()); ready {
			made = j.summaries.maker()
			workCtx = j.summaries.announce(ctx, runningSummary{kind: api.WorkCompaction})
		}
	}); doErr != nil {
		return nil, doErr
	}
	if !ready {
		return nil, errCannotCompact
	}
	summary, spent := made.write(workCtx, plan.Request("", made.most()))
	doErr := j.do(context.WithoutCancel(ctx), func() {
		j.summaries.running.canceled = ctx.Err() != nil
		j.summaries.finish(spent, func() error {
			err = j.summaries.appendCompaction(store.Mark{TurnID: j.turnID}, plan, summary)
			messages = read.Context(j.log.Tree()).Messages
			return err
		})
	})
	return messages, errors.Join(doErr, err, context.Cause(ctx))
}
