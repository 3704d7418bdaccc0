package wire

import "github.com/scorel/scorel/packages/protocol/ident"

// Frame is a control frame. FrameType is its "type" on the wire.
type Frame interface{ FrameType() string }

// Peer is what each side of a binding or a pairing learns about the other.
type Peer struct {
	ID ident.ID `json:"id"` // of the other side
	ident.Public
	Label  string `json:"label"`  // as in a hello
	Online bool   `json:"online"` // devices only; always false for a client
}

// Frames from the relay during login.
type (
	// RelayHello is the first frame on every connection.
	RelayHello struct {
		Version int    `json:"version"` // highest version the relay speaks
		Nonce   []byte `json:"nonce"`   // NonceLen random bytes
		Limits  Limits `json:"limits"`  // what the relay accepts
	}
	// Welcome completes the login.
	Welcome struct {
		ID         ident.ID `json:"id"`         // the id that the relay authenticated; the peer checks that it is its own
		ServerTime int64    `json:"serverTime"` // Unix milliseconds
		Peers      []Peer   `json:"peers"`      // the valid bindings of this id, at most MaxBindings
	}
)

// Hello is the body of host_hello and entry_hello.
type Hello struct {
	Version int      `json:"version"` // 1
	ID      ident.ID `json:"id"`      // dev_ in host_hello, cli_ in entry_hello
	ident.Public
	// Authority is host[:port] as the peer dialed it, lower case, without the default
	// port of the scheme: 1 to MaxAuthority bytes.
	Authority string `json:"authority"`
	// Label is the name shown to people: UTF-8, 1 to MaxLabel bytes, no control
	// or format characters.
	Label string `json:"label"`
	// Proof is the Ed25519 signature of the login proof, 64 bytes (protocol.md, section 4).
	Proof []byte `json:"proof"`
	// Invite is an invite code from a relay's operator, for a relay that admits new
	// ids by invite: at most MaxInvite bytes, in upper or lower case, with or without
	// dashes and spaces. It is a secret.
	Invite string `json:"invite,omitempty"`
}

type (
	// HostHello logs in as a device.
	HostHello struct{ Hello }
	// EntryHello logs in as a client.
	EntryHello struct{ Hello }
)

// Frames of pairing. The creator requests a slot, the other side redeems it, and
// both then exchange pair_message frames until each accepts.
type (
	// CreatePairSession requests a pairing slot.
	CreatePairSession struct {
		RequestID string `json:"requestId"` // 1 to 64 bytes
	}
	// PairSession answers CreatePairSession.
	PairSession struct {
		RequestID string `json:"requestId"` // of the request
		Slot      string `json:"slot"`      // 4 Crockford base32 digits
		ExpiresAt int64  `json:"expiresAt"` // Unix milliseconds
	}
	// RedeemPair redeems a slot that the other side created. The redeeming device
	// or client is the one logged in on this connection; the frame cannot name
	// another.
	RedeemPair struct {
		RequestID string `json:"requestId"` // 1 to 64 bytes
		Slot      string `json:"slot"`      // 4 Crockford digits, upper case
	}
	// PairJoined sends each side the other's identity. RequestID is set for the
	// redeemer.
	PairJoined struct {
		RequestID string `json:"requestId,omitempty"` // of redeem_pair; absent for the creator
		Slot      string `json:"slot"`
		Peer      Peer   `json:"peer"` // the other side
	}
	// PairMessage is opaque to the relay, which forwards it to the other side.
	PairMessage struct {
		Slot string `json:"slot"`
		Body []byte `json:"body"` // at most MaxPairBody bytes
	}
	// PairAccept says that this side has verified the other. The binding is stored
	// when both sides have sent it.
	PairAccept struct {
		Slot string `json:"slot"`
	}
	// PairReject burns the slot.
	PairReject struct {
		Slot string `json:"slot"`
	}
	// PairComplete reports to both sides that the binding is stored.
	PairComplete struct {
		Slot string `json:"slot"`
		Peer Peer   `json:"peer"` // the other side
	}
	// PairClosed reports that the slot was closed without a binding. Kind is
	// KindPairUnknown for an expired slot, KindBadProof for a failed confirmation.
	PairClosed struct {
		Slot string `json:"slot"`
		// Kind is pair_unknown (expired, or a side disconnected), bad_proof (rejected), limit or
		// unavailable.
		Kind    Kind   `json:"kind"`
		Message string `json:"message"` // one sentence for people
	}
)

// Frames of channels.
type (
	// OpenChannel requests a channel to a bound device. Entries only.
	OpenChannel struct {
		RequestID string   `json:"requestId"` // 1 to 64 bytes
		DeviceID  ident.ID `json:"deviceId"`  // dev_
	}
	// ChannelOpened is sent to both ends. Channel is local to each connection and
	// not reused during its lifetime.
	ChannelOpened struct {
		RequestID string   `json:"requestId,omitempty"` // set for the requesting entry
		Channel   uint32   `json:"channel"`             // u32, local to this connection
		PeerID    ident.ID `json:"peerId"`              // the other end
	}
	// CloseChannel closes a channel from this end.
	CloseChannel struct {
		Channel uint32 `json:"channel"`          // u32
		Reason  Reason `json:"reason,omitempty"` // absent means "closed"
	}
	// ChannelClosed reports to an end that its channel has been closed.
	ChannelClosed struct {
		Channel uint32 `json:"channel"` // u32
		Reason  Reason `json:"reason"`
	}
)

// Frames for presence and bindings.
type (
	// DeviceOnline is sent to the connected entries with a binding.
	DeviceOnline struct {
		DeviceID ident.ID `json:"deviceId"` // dev_
	}
	// DeviceOffline is sent to the connected entries with a binding.
	DeviceOffline struct {
		DeviceID ident.ID `json:"deviceId"` // dev_
	}
	// RevokeBinding revokes the binding with PeerID. Either side may send it.
	RevokeBinding struct {
		RequestID string   `json:"requestId"` // 1 to 64 bytes
		PeerID    ident.ID `json:"peerId"`    // the other side
	}
	// BindingRevoked answers RevokeBinding and is also sent to the other side.
	BindingRevoked struct {
		RequestID string   `json:"requestId,omitempty"` // of the request; absent for all other connections
		PeerID    ident.ID `json:"peerId"`              // the other side
	}
	// ClaimBinding requests a binding that the device has signed for this client, which
	// was paired over another relay. Entries only.
	ClaimBinding struct {
		RequestID string   `json:"requestId"` // 1 to 64 bytes
		DeviceID  ident.ID `json:"deviceId"`  // dev_
		SignedAt  int64    `json:"signedAt"`  // Unix milliseconds, by the device's clock
		// Proof is the device's Ed25519 signature of BindMessage.
		Proof []byte `json:"proof"`
	}
	// BindingClaimed answers ClaimBinding: the binding is stored.
	BindingClaimed struct {
		RequestID string `json:"requestId"` // of the request
		Peer      Peer   `json:"peer"`      // the device
	}
	// PeerBound reports to a device that a client has claimed a binding with it.
	PeerBound struct {
		Peer Peer `json:"peer"` // the client
	}
)

// Frames about the connection itself.
type (
	// ErrorFrame answers a failed request or precedes a close.
	ErrorFrame struct {
		RequestID string `json:"requestId,omitempty"` // of the request; absent if there is none
		Kind      Kind   `json:"kind"`                // of wire.Kind
		Message   string `json:"message"`             // one sentence for people: what is wrong and what to do
	}
	// Goodbye is the last frame before the relay closes the connection.
	Goodbye struct {
		// Reason is "replaced", "shutdown", "login_failed", "bad_frame", "overloaded" or "protocol".
		Reason Reason `json:"reason"`
		// RetryAfter is how long to wait before dialing again, in milliseconds; 0
		// leaves it to the peer's own backoff.
		RetryAfter int64 `json:"retryAfter,omitempty"`
	}
)

func (RelayHello) FrameType() string        { return "relay_hello" }
func (Welcome) FrameType() string           { return "welcome" }
func (HostHello) FrameType() string         { return "host_hello" }
func (EntryHello) FrameType() string        { return "entry_hello" }
func (CreatePairSession) FrameType() string { return "create_pair_session" }
func (PairSession) FrameType() string       { return "pair_session" }
func (RedeemPair) FrameType() string        { return "redeem_pair" }
func (PairJoined) FrameType() string        { return "pair_joined" }
func (PairMessage) FrameType() string       { return "pair_message" }
func (PairAccept) FrameType() string        { return "pair_accept" }
func (PairReject) FrameType() string        { return "pair_reject" }
func (PairComplete) FrameType() string      { return "pair_complete" }
func (PairClosed) FrameType() string        { return "pair_closed" }
func (OpenChannel) FrameType() string       { return "open_channel" }
func (ChannelOpened) FrameType() string     { return "channel_opened" }
func (CloseChannel) FrameType() string      { return "close_channel" }
func (ChannelClosed) FrameType() string     { return "channel_closed" }
func (DeviceOnline) FrameType() string      { return "device_online" }
func (DeviceOffline) FrameType() string     { return "device_offline" }
func (RevokeBinding) FrameType() string     { return "revoke_binding" }
func (BindingRevoked) FrameType() string    { return "binding_revoked" }
func (ClaimBinding) FrameType() string      { return "claim_binding" }
func (BindingClaimed) FrameType() string    { return "binding_claimed" }
func (PeerBound) FrameType() string         { return "peer_bound" }
func (ErrorFrame) FrameType() string        { return "error" }
func (Goodbye) FrameType() string           { return "goodbye" }
