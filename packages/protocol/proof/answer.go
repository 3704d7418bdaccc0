// Package proof verifies what the log of a session proves and builds the bytes that
// clients sign when they answer an approval (docs/protocol.md). The chain itself
// and its heads are in package session.
//
// The package is pure: bytes in, findings out.
package proof

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	answerDomain = "scorel approval v1\x00"
	shownDomain  = "scorel shown v1\x00"
)

// Digest is the SHA-256 of an approval as it was shown to a person.
type Digest [sha256.Size]byte

// String returns the digest as unpadded base64url.
func (d Digest) String() string { return base64.RawURLEncoding.EncodeToString(d[:]) }

// fields builds what is signed or hashed: each text is prefixed with its length in
// four bytes, so that no two lists of fields give the same bytes.
type fields []byte

func (f fields) text(s string) fields {
	return append(binary.BigEndian.AppendUint32(f, uint32(len(s))), s...)
}

func (f fields) list(texts []string) fields {
	f = binary.BigEndian.AppendUint32(f, uint32(len(texts)))
	for _, s := range texts {
		f = f.text(s)
	}
	return f
}

// Shown returns the digest of an approval as it is shown.
func Shown(a api.Approval) Digest { return shown(a, sha256.Sum256([]byte(a.Detail))) }

// DetailHash returns the hash that replaces an approval's detail in a log that
// stores only part of the detail.
func DetailHash(detail string) string {
	sum := sha256.Sum256([]byte(detail))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func shown(a api.Approval, detail [sha256.Size]byte) Digest {
	f := fields(shownDomain).text(a.ID).text(a.ToolCallID).text(a.ToolName).text(a.Title).text(string(detail[:])).
		text(a.Cwd).text(a.Command).list(a.Paths).text(a.Reason)
	risk := api.Risk{}
	if a.Risk != nil {
		risk = *a.Risk
	}
	f = f.text(string(risk.Level)).list(risk.Reasons).list(a.ProposedRules).text(a.Shown)
	return sha256.Sum256(f)
}

// decodeExactly decodes base64url text that must fill out exactly.
func decodeExactly(out []byte, text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && copy(out, raw) == len(out) && len(raw) == len(out)
}

// Answer is a client's answer to an approval.
type Answer struct {
	DeviceID   ident.ID // of the host
	SessionID  string   // of the session with the approval
	ApprovalID string
	Shown      Digest
	Decision   api.Decision
	Feedback   string
	Rules      []string // rules that the answer adds
	At         int64    // Unix milliseconds
}

// Message returns the bytes that the client with the given id signs.
func (a Answer) Message(clientID ident.ID) []byte {
	f := fields(answerDomain).text(a.DeviceID.String()).text(clientID.String()).text(a.SessionID).text(a.ApprovalID).
		text(string(a.Shown[:])).text(string(a.Decision)).text(a.Feedback).list(a.Rules)
	return binary.BigEndian.AppendUint64(f, uint64(a.At))
}

// Sign returns the signature of an answer as it is sent and stored.
func (a Answer) Sign(keys *ident.Private) *session.AnswerSignature {
	public := keys.Public()
	return &session.AnswerSignature{
		DeviceID: a.DeviceID.String(), SessionID: a.SessionID, SignKey: public.Sign.String(), SealKey: public.Seal.String(), At: a.At,
		Value: base64.RawURLEncoding.EncodeToString(keys.Sign(a.Message(keys.ID()))),
	}
}

// ErrSignature is returned for a signature that does not match its answer.
var ErrSignature = errors.New("the signature does not match")

// Verify verifies a signature of the answer and returns the client that made it. If
// the answer names a device or a session, the signature must name the same one.
func (a Answer) Verify(s session.AnswerSignature) (client ident.ID, err error) {
	var keys ident.Public
	if err := errors.Join(keys.Sign.UnmarshalText([]byte(s.SignKey)), keys.Seal.UnmarshalText([]byte(s.SealKey))); err != nil {
		return client, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	device, err := ident.ParseDeviceID(s.DeviceID)
	if err != nil {
		return client, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if !a.DeviceID.IsZero() && a.DeviceID != device || a.SessionID != "" && a.SessionID != s.SessionID {
		return client, fmt.Errorf("%w: it is for another machine or session", ErrSignature)
	}
	value, err := base64.RawURLEncoding.Strict().DecodeString(s.Value)
	if err != nil {
		return client, fmt.Errorf("%w: its value is not base64url", ErrSignature)
	}
	a.DeviceID, a.SessionID, a.At = device, s.SessionID, s.At
	client = ident.NewID(ident.KindClient, keys)
	if !keys.Sign.Verify(a.Message(client), value) {
		return ident.ID{}, fmt.Errorf("%w: it was made for something else, or with another key", ErrSignature)
	}
	return client, nil
}

// Kept returns the rules that a decision adds.
func Kept(a api.Approval, decision api.Decision) []string {
	if decision == api.DecisionAlways {
		return slices.Clone(a.ProposedRules)
	}
	return nil
}
