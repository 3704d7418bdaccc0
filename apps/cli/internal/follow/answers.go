package follow

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// answer sends the decisions that are there. That another was faster, or the turn
// over, is no failure.
func (r *runner) answer(ctx context.Context, c *client.Client) error {
	for _, decided := range r.questions.answers() {
		if decided.err != nil {
			return decided.err
		}
		err := r.deliver(ctx, c, decided)
		var refused *api.Error
		if err != nil && (!errors.As(err, &refused) || refused.Kind == api.KindNotAllowed) {
			return err
		}
		r.questions.forget(decided.id())
	}
	return nil
}

func (r *runner) deliver(ctx context.Context, c *client.Client, decided answer) error {
	if decided.approval != nil {
		got, err := client.Call[api.AnswerApprovalResponse](ctx, c, "answer_approval", api.AnswerApprovalRequest{
			SessionID: decided.sessionID, ApprovalID: decided.id(), Decision: decided.verdict.Decision, Feedback: decided.verdict.Feedback,
		})
		if err == nil && !got.Won {
			r.cfg.View.Notice("too late: " + beforehand(got))
		}
		return err
	}
	got, err := client.Call[api.AnswerQuestionResponse](ctx, c, "answer_question", api.AnswerQuestionRequest{
		SessionID: decided.sessionID, QuestionID: decided.id(), Answer: decided.reply.Answer, Skip: decided.reply.Skip,
	})
	if err == nil && !got.Won {
		r.cfg.View.Notice("too late: " + told(got.AnsweredBy, got.Outcome, got.Answer))
	}
	return err
}
