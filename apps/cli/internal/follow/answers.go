package follow

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// answer sends the pending decisions. It repeats each while the host cannot store it and
// ctx, which an interrupt ends, is alive. It is not an error if someone else was faster, or
// if the turn is over.
func (r *runner) answer(ctx, life context.Context, c *client.Client) error {
	for _, decided := range r.questions.answers() {
		if decided.err != nil {
			return decided.err
		}
		name := "answer_question"
		if decided.approval != nil {
			name = "answer_approval"
		}
		err := r.persist(ctx, c, name, func() error { return r.deliver(life, c, decided) })
		switch {
		case err == nil, isTooLate(err):
			r.questions.forget(decided.id())
		case ctx.Err() != nil && isUnavailable(err):
			return nil // the interrupt decides what happens to the call
		default:
			return err
		}
	}
	return nil
}

// isTooLate reports whether nothing waits for an answer any longer.
func isTooLate(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && (refused.Kind == api.KindNotFound || refused.Kind == api.KindConflict)
}

func (r *runner) deliver(ctx context.Context, c *client.Client, decided answer) error {
	if decided.approval != nil {
		got, err := client.Call(ctx, c, api.AnswerApproval, r.signed(decided))
		switch {
		case err != nil:
		case !got.Won:
			r.cfg.View.Notice("too late: " + Beforehand(got))
		case r.cfg.Unattended && decided.verdict.Decision == api.DecisionDeny:
			r.unasked++
		}
		return err
	}
	got, err := client.Call(ctx, c, api.AnswerQuestion, api.AnswerQuestionRequest{
		SessionID: decided.sessionID, QuestionID: decided.id(), Answer: decided.reply.Answer, Skip: decided.reply.Skip,
	})
	if err == nil && !got.Won {
		r.cfg.View.Notice("too late: " + Told(got.AnsweredBy, got.Outcome, got.Answer))
	}
	return err
}
