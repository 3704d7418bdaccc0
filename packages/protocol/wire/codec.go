package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// ErrUnknownType is wrapped by DecodeControl's error for a frame of a newer
// version, which a logged-in peer skips.
var ErrUnknownType = errors.New("wire: unknown frame type")

// frameDefinition is one control frame: its name on the wire and its constructor.
type frameDefinition struct {
	name  string
	empty func() Frame
}

// defineFrame defines a control frame. A name is never reused for another frame.
func defineFrame[T any, P interface {
	*T
	Frame
}]() frameDefinition {
	return frameDefinition{P(new(T)).FrameType(), func() Frame { return P(new(T)) }}
}

// frames lists every control frame of this version.
var frames = []frameDefinition{
	defineFrame[RelayHello](),
	defineFrame[Welcome](),
	defineFrame[HostHello](),
	defineFrame[EntryHello](),
	defineFrame[CreatePairSession](),
	defineFrame[PairSession](),
	defineFrame[RedeemPair](),
	defineFrame[PairJoined](),
	defineFrame[PairMessage](),
	defineFrame[PairAccept](),
	defineFrame[PairReject](),
	defineFrame[PairComplete](),
	defineFrame[PairClosed](),
	defineFrame[OpenChannel](),
	defineFrame[ChannelOpened](),
	defineFrame[CloseChannel](),
	defineFrame[ChannelClosed](),
	defineFrame[DeviceOnline](),
	defineFrame[DeviceOffline](),
	defineFrame[RevokeBinding](),
	defineFrame[BindingRevoked](),
	defineFrame[ClaimBinding](),
	defineFrame[BindingClaimed](),
	defineFrame[PeerBound](),
	defineFrame[ErrorFrame](),
	defineFrame[Goodbye](),
}

// newFrame returns an empty frame of the given type, or nil.
func newFrame(frameType string) Frame {
	for _, d := range frames {
		if d.name == frameType {
			return d.empty()
		}
	}
	return nil
}

// EncodeControl returns the frame as one JSON object whose first key is "type".
// Byte strings are standard base64, as encoding/json writes them.
func EncodeControl(f Frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("wire: encoding %s: %w", f.FrameType(), err)
	}
	var out bytes.Buffer
	out.Grow(len(body) + len(f.FrameType()) + 12)
	fmt.Fprintf(&out, `{"type":%q`, f.FrameType())
	if len(body) > 2 { // not just {}
		out.WriteByte(',')
	}
	out.Write(body[1:])
	return out.Bytes(), nil
}

// DecodeControl decodes one control frame of at most limit bytes and returns a
// pointer to one of the frame types. Errors are *Error of KindBadFrame or wrap
// ErrUnknownType.
func DecodeControl(data []byte, limit int) (Frame, error) {
	if len(data) > limit {
		return nil, Errorf(KindBadFrame, "control frame of %d bytes is over the limit of %d", len(data), limit)
	}
	if exactjson.DeeperThan(data, exactjson.MaxDepth) {
		return nil, Errorf(KindBadFrame, "control frame nests more than %d deep", exactjson.MaxDepth)
	}
	if !utf8.Valid(data) {
		return nil, Errorf(KindBadFrame, "control frame is not UTF-8")
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := exactjson.Unmarshal(data, &head); err != nil {
		return nil, Errorf(KindBadFrame, "control frame is not a JSON object with a type")
	}
	if head.Type == "" {
		return nil, Errorf(KindBadFrame, "control frame has no type")
	}
	f := newFrame(head.Type)
	if f == nil {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, clip(head.Type))
	}
	if err := exactjson.Unmarshal(data, f); err != nil {
		return nil, Errorf(KindBadFrame, "%s: %s", head.Type, describe(err))
	}
	if err := validate(f); err != nil {
		return nil, Errorf(KindBadFrame, "%s: %s", head.Type, err)
	}
	return f, nil
}

// describe returns the error without external values.
func describe(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return "field " + typeErr.Field + " has the wrong type"
	}
	return clip(err.Error())
}

func validate(f Frame) error {
	switch f := f.(type) {
	case *RelayHello:
		return checkNonce(f.Nonce)
	case *Welcome:
		return f.check()
	case *HostHello:
		return f.check(ident.KindDevice)
	case *EntryHello:
		return f.check(ident.KindClient)
	case *CreatePairSession:
		return checkRequestID(f.RequestID)
	case *PairSession:
		return errors.Join(checkRequestID(f.RequestID), checkSlot(f.Slot))
	case *RedeemPair:
		return errors.Join(checkRequestID(f.RequestID), checkSlot(f.Slot))
	case *PairJoined:
		return errors.Join(checkSlot(f.Slot), f.Peer.check())
	case *PairMessage:
		return errors.Join(checkSlot(f.Slot), checkPairBody(f.Body))
	case *PairAccept:
		return checkSlot(f.Slot)
	case *PairReject:
		return checkSlot(f.Slot)
	case *PairComplete:
		return errors.Join(checkSlot(f.Slot), f.Peer.check())
	case *OpenChannel:
		return errors.Join(checkRequestID(f.RequestID), checkDevice(f.DeviceID))
	case *ChannelOpened:
		return checkID(f.PeerID)
	case *DeviceOnline:
		return checkDevice(f.DeviceID)
	case *DeviceOffline:
		return checkDevice(f.DeviceID)
	case *RevokeBinding:
		return errors.Join(checkRequestID(f.RequestID), checkID(f.PeerID))
	case *BindingRevoked:
		return checkID(f.PeerID)
	}
	return validateClaim(f)
}

// validateClaim is validate for the frames about bindings that a device has signed.
func validateClaim(f Frame) error {
	switch f := f.(type) {
	case *ClaimBinding:
		return errors.Join(checkRequestID(f.RequestID), checkDevice(f.DeviceID), checkSignature(f.Proof))
	case *BindingClaimed:
		return errors.Join(checkRequestID(f.RequestID), f.Peer.check())
	case *PeerBound:
		return f.Peer.check()
	}
	return nil
}

func (h *Hello) check(kind ident.Kind) error {
	switch {
	case h.ID.Kind() != kind:
		return fmt.Errorf("id is not a %s_ id", kind)
	case ident.NewID(kind, h.Public) != h.ID:
		return errors.New("id does not match the keys")
	case len(h.Authority) == 0 || len(h.Authority) > MaxAuthority:
		return errors.New("authority is missing or too long")
	case checkSignature(h.Proof) != nil:
		return checkSignature(h.Proof)
	case len(h.Invite) > MaxInvite:
		return fmt.Errorf("invite is longer than %d bytes", MaxInvite)
	}
	return CheckLabel(h.Label)
}

func (w *Welcome) check() error {
	if err := checkID(w.ID); err != nil {
		return err
	}
	for i := range w.Peers {
		if err := w.Peers[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Peer) check() error {
	if p.ID.IsZero() || ident.NewID(p.ID.Kind(), p.Public) != p.ID {
		return errors.New("peer id does not match the peer keys")
	}
	return CheckLabel(p.Label)
}

// CheckLabel returns what is wrong with a label, or nil.
func CheckLabel(label string) error {
	if label == "" || len(label) > MaxLabel {
		return fmt.Errorf("label must have 1 to %d bytes", MaxLabel)
	}
	for _, r := range label {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return errors.New("label contains a control character")
		}
	}
	return nil
}

func checkNonce(nonce []byte) error {
	if len(nonce) != NonceLen {
		return fmt.Errorf("nonce must have %d bytes", NonceLen)
	}
	return nil
}

func checkSignature(proof []byte) error {
	if len(proof) != ed25519.SignatureSize {
		return fmt.Errorf("proof must have %d bytes", ed25519.SignatureSize)
	}
	return nil
}

func checkRequestID(id string) error {
	if id == "" || len(id) > MaxRequestID {
		return fmt.Errorf("requestId must have 1 to %d bytes", MaxRequestID)
	}
	return nil
}

func checkSlot(slot string) error {
	if !ValidSlot(slot) {
		return fmt.Errorf("slot must be %d Crockford base32 digits", SlotLen)
	}
	return nil
}

func checkPairBody(body []byte) error {
	if len(body) == 0 || len(body) > MaxPairBody {
		return fmt.Errorf("body must have 1 to %d bytes", MaxPairBody)
	}
	return nil
}

func checkID(id ident.ID) error {
	if id.IsZero() {
		return errors.New("id is missing")
	}
	return nil
}

func checkDevice(id ident.ID) error {
	if id.Kind() != ident.KindDevice {
		return errors.New("deviceId is not a device id")
	}
	return nil
}

func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
