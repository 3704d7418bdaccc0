package cli

import (
	"time"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// signAnswer signs a person's answer to an approval for the host that asks.
func (t *target) signAnswer(sessionID string, approval api.Approval, verdict follow.Verdict) (*session.AnswerSignature, error) {
	home, err := t.via.env.home()
	if err != nil {
		return nil, err
	}
	device, err := t.deviceID(home)
	if err != nil {
		return nil, err
	}
	keys, err := clientKeys(home)
	if err != nil {
		return nil, err
	}
	answer := proof.Answer{
		DeviceID: device, SessionID: sessionID, ApprovalID: approval.ID, Shown: proof.Shown(approval),
		Decision: verdict.Decision, Feedback: verdict.Feedback, Rules: proof.Kept(approval, verdict.Decision), At: time.Now().UnixMilli(),
	}
	return answer.Sign(keys), nil
}

// deviceID returns the id of the host that the command talks to.
func (t *target) deviceID(home string) (ident.ID, error) {
	if t.local() {
		run, err := host.ReadState(home)
		return run.DeviceID, err
	}
	device, err := findDevice(home, t.name())
	return device.ID, err
}
