package wire

import "fmt"

// Kind numbers an error on the wire. Texts are for people, kinds are for code. New
// kinds are only ever appended.
type Kind int

const (
	KindUnknown          Kind = 0  // a kind from a newer peer
	KindBadFrame         Kind = 1  // not decodable, over a limit, or out of order; ends the connection
	KindBadVersion       Kind = 2  // no common protocol version
	KindBadProof         Kind = 3  // the proof of a login, or the confirmation of a pairing, does not verify
	KindWrongAuthority   Kind = 4  // the login was signed for another relay
	KindLoginTimeout     Kind = 5  // no hello in time
	KindUnauthorized     Kind = 6  // no binding between the two
	KindDeviceOffline    Kind = 7  // the device has no connection
	KindLimit            Kind = 8  // a limit of the relay is reached
	KindRateLimited      Kind = 9  // too many attempts; wait
	KindPairUnknown      Kind = 10 // no such code: mistyped, used or expired
	KindPairSelf         Kind = 11 // a device cannot pair with a device, nor a client with a client
	KindPairBusy         Kind = 12 // another peer is redeeming the code
	KindNotFound         Kind = 13 // the named thing does not exist
	KindUnavailable      Kind = 14 // temporarily unavailable: store or bus is down
	KindShuttingDown     Kind = 15 // the relay is shutting down; try again later
	KindNotAllowed       Kind = 16 // this role may not send that frame
	KindUnknownChannel   Kind = 17 // a record or close for a channel that was never open
	KindUnknownFrameType Kind = 18 // before login only; later unknown types are skipped
	KindInviteRequired   Kind = 19 // the relay admits new ids by invite only, and the hello has no valid invite
	KindNotAdmitted      Kind = 20 // the relay does not admit this id
	KindStaleProof       Kind = 21 // the device's signature in a claim is too old, from the future, or not newer than a revocation
)

var kindNames = map[Kind]string{
	KindUnknown:          "unknown",
	KindBadFrame:         "bad_frame",
	KindBadVersion:       "bad_version",
	KindBadProof:         "bad_proof",
	KindWrongAuthority:   "wrong_authority",
	KindLoginTimeout:     "login_timeout",
	KindUnauthorized:     "unauthorized",
	KindDeviceOffline:    "device_offline",
	KindLimit:            "limit",
	KindRateLimited:      "rate_limited",
	KindPairUnknown:      "pair_unknown",
	KindPairSelf:         "pair_self",
	KindPairBusy:         "pair_busy",
	KindNotFound:         "not_found",
	KindUnavailable:      "unavailable",
	KindShuttingDown:     "shutting_down",
	KindNotAllowed:       "not_allowed",
	KindUnknownChannel:   "unknown_channel",
	KindUnknownFrameType: "unknown_frame_type",
	KindInviteRequired:   "invite_required",
	KindNotAdmitted:      "not_admitted",
	KindStaleProof:       "stale_proof",
}

// String returns the kind's name, as metrics and logs use it.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind_%d", int(k))
}

// Error is an error frame as a Go error, and vice versa.
type Error struct {
	Kind    Kind
	Message string // one sentence for people: what is wrong and what to do
}

func (e *Error) Error() string { return e.Kind.String() + ": " + e.Message }

// Errorf returns an Error.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Reason is why a connection or a channel ended. It is sent if possible and always
// counted.
type Reason string

const (
	// Reasons of channels.
	ReasonClosed         Reason = "closed"          // the other end closed it
	ReasonPeerGone       Reason = "peer_gone"       // the other end's connection is gone
	ReasonSlowConsumer   Reason = "slow_consumer"   // the receiver's queue is full
	ReasonRevoked        Reason = "revoked"         // the binding was revoked
	ReasonSealBroken     Reason = "seal_broken"     // a record was dropped, repeated, reordered or forged
	ReasonNotAuthorized  Reason = "not_authorized"  // the host does not know this client
	ReasonProtocol       Reason = "protocol"        // the other end broke the protocol
	ReasonUnknownChannel Reason = "unknown_channel" // a record named a channel that is not open
	ReasonExpired        Reason = "expired"         // the client's access at the host has expired; older relays pass it on as closed

	// Reasons of connections.
	ReasonReplaced     Reason = "replaced"      // a newer connection of the same device took over
	ReasonPingTimeout  Reason = "ping_timeout"  // no pong or data in time; no goodbye
	ReasonLoginFailed  Reason = "login_failed"  // the login did not reach welcome
	ReasonShutdown     Reason = "shutdown"      // the relay is shutting down
	ReasonWriteTimeout Reason = "write_timeout" // a message could not be sent in time; no goodbye
	ReasonReadError    Reason = "read_error"    // the connection broke; no goodbye
	ReasonBadFrame     Reason = "bad_frame"     // the peer sent data that cannot be decoded
	ReasonOverloaded   Reason = "overloaded"    // the relay is short of memory; dial again after retryAfter
)

// Reasons lists every reason of this version, for metrics that start at zero.
func Reasons() []Reason {
	return []Reason{
		ReasonClosed, ReasonPeerGone, ReasonSlowConsumer, ReasonRevoked, ReasonSealBroken,
		ReasonNotAuthorized, ReasonProtocol, ReasonUnknownChannel, ReasonExpired,
		ReasonReplaced, ReasonPingTimeout, ReasonLoginFailed, ReasonShutdown,
		ReasonWriteTimeout, ReasonReadError, ReasonBadFrame, ReasonOverloaded,
	}
}
