// Package signing signs the heads of sessions with the key of the device, and checks the
// signed answers of clients to approvals.
package signing

import (
	"errors"
	"io/fs"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Signing has the keys of the device, and the lists of clients and tokens that may have
// decided an approval.
type Signing struct {
	// Set by the owner before first use.
	Keys    *ident.Private
	Label   func() string // of the device
	Entry   string        // path of the keys of the command line on this machine
	Clients *state.Clients
	Tokens  *state.Tokens
}

// SignHead signs the head of a session with the key of the device.
func (s *Signing) SignHead(message []byte) session.Head {
	public := s.Keys.Public()
	return session.Head{SignKey: public.Sign, SealKey: public.Seal, Signature: [64]byte(s.Keys.Sign(message))}
}

// CheckAnswer refuses a signed answer that its client did not sign for this approval. The
// id of a client is the hash of its keys, so a signature of that id is one of the keys
// that were pinned.
func (s *Signing) CheckAnswer(clientID string, approval api.Approval, r api.AnswerApprovalRequest) error {
	want, err := s.signerOf(clientID)
	if err != nil {
		return err
	}
	answer := proof.Answer{
		DeviceID: s.Keys.ID(), SessionID: r.SessionID, ApprovalID: approval.ID, Shown: proof.Shown(approval),
		Decision: r.Decision, Feedback: r.Feedback, Rules: proof.Kept(approval, r.Decision),
	}
	signer, err := answer.Verify(*r.Signature)
	switch {
	case err != nil:
		return api.Errorf(api.KindBadRequest, "nothing was decided: %v. The request may have changed since it was shown; review it again", err)
	case signer != want:
		return api.Errorf(api.KindNotAllowed, "nothing was decided: the answer is signed by %s, but this is a connection of %s", signer, want)
	}
	return nil
}

// signerOf returns the client whose key signs the answers of a connection. On this
// machine that is the client of the command line, which keeps its keys in the home.
func (s *Signing) signerOf(clientID string) (ident.ID, error) {
	if clientID != dispatch.LocalID {
		id, err := ident.ParseClientID(clientID)
		if err != nil {
			return id, api.Errorf(api.KindBadRequest, "a token has no key to sign with: answer without a signature")
		}
		return id, nil
	}
	keys, err := keyfile.Load(s.Entry, ident.KindClient)
	if errors.Is(err, fs.ErrNotExist) {
		return ident.ID{}, api.Errorf(api.KindBadRequest, "the answer is signed, and the command line of this machine has no key: answer without a signature")
	}
	if err != nil {
		return ident.ID{}, err
	}
	return keys.ID(), nil
}

// NameDeciders adds the labels of the clients and tokens that the host still knows.
func (s *Signing) NameDeciders(approvals []api.ProofApproval) {
	labels := map[string]string{dispatch.LocalID: s.Label()}
	for _, c := range s.Clients.List() {
		labels[c.ID.String()] = c.Label
	}
	for _, t := range s.Tokens.List() {
		labels[t.ID] = t.Label
	}
	for i := range approvals {
		approvals[i].Label = labels[approvals[i].DecidedBy]
	}
}
