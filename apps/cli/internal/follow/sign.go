package follow

import (
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Signer signs the answer to an approval with the key of this machine's client.
type Signer func(sessionID string, approval api.Approval, verdict Verdict) (*session.AnswerSignature, error)

// signed returns the request that carries an answer. If it cannot be signed, it is sent
// without a signature, which the host accepts too, and the person is notified.
func (r *runner) signed(decided answer) api.AnswerApprovalRequest {
	request := api.AnswerApprovalRequest{
		SessionID: decided.sessionID, ApprovalID: decided.id(), Decision: decided.verdict.Decision, Feedback: decided.verdict.Feedback,
		Shown: decided.approval.Shown, Unattended: decided.verdict.Unattended,
	}
	if r.cfg.Sign == nil {
		return request
	}
	signature, err := r.cfg.Sign(decided.sessionID, *decided.approval, decided.verdict)
	if err != nil {
		r.cfg.View.Notice("the answer is not signed: " + err.Error())
		return request
	}
	request.Signature = signature
	return request
}
