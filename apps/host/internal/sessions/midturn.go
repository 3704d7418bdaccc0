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

var errNothingToCompact = errors.New("sessions: there is nothing to leave out")

// Compact lets a summary stand for the older part of the session while its turn runs,
// and returns what the model is given then. The messages of the caller are those of the
// log, which is what is compacted.
func (j journal) Compact(ctx context.Context, _ []session.Message) (messages []session.Message, err error) {
	s := j.s
	var plan compact.Plan
	var workCtx context.Context
	ready := false
	if doErr := s.do(ctx, func() {
		if plan, ready = compact.Prepare(s.log.Tree(), s.keepTokens()); ready {
			workCtx = s.announceWork(ctx, runningWork{kind: api.WorkCompaction})
		}
	}); doErr != nil {
		return nil, doErr
	}
	if !ready {
		return nil, errNothingToCompact
	}
	summary, spent := s.deps.Summaries.write(workCtx, plan.Request("", s.deps.Summaries.most()))
	doErr := s.do(context.WithoutCancel(ctx), func() {
		s.work.cancelled = ctx.Err() != nil
		s.closeWork(spent, func() error {
			err = s.keepCompaction(store.Mark{TurnID: j.turnID}, plan, summary)
			messages = read.Context(s.log.Tree()).Messages
			return err
		})
	})
	return messages, errors.Join(doErr, err, context.Cause(ctx))
}
