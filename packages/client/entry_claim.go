package client

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Claim has the relay store the binding with a device that was paired over another relay. The
// proof is the device's signature for this client. A relay that is too old to know claims does
// not answer.
func (e *Entry) Claim(ctx context.Context, device ident.ID, proof api.BindingProof) error {
	answer, err := e.ask(ctx, func(requestID string) wire.Frame {
		return wire.ClaimBinding{RequestID: requestID, DeviceID: device, SignedAt: proof.SignedAt, Proof: proof.Signature}
	})
	if err != nil {
		return err
	}
	claimed, ok := answer.frame.(*wire.BindingClaimed)
	if !ok || claimed.Peer.ID != device {
		return fmt.Errorf("the relay answered %s to a claim", answer.frame.FrameType())
	}
	e.bind(claimed.Peer)
	return nil
}
