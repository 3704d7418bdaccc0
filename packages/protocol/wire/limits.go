package wire

import "time"

// Every length from the network is checked against one of these limits before
// memory is allocated. Sizes are in bytes unless the name says otherwise.
const (
	// MaxPreLogin is the largest message a relay accepts before welcome.
	MaxPreLogin = 8 << 10
	// MaxControl is the largest control frame after login, and the largest that a
	// peer accepts from a relay: a welcome with MaxBindings peers fits.
	MaxControl = 128 << 10
	// MaxRecordPayload is the largest payload of one data record. It is the
	// Noise limit: a transport message has at most 65535 bytes.
	MaxRecordPayload = 65535
	// RecordHeaderLen is the size of "channel u32 | length u32".
	RecordHeaderLen = 8
	// MaxRecord is the largest record on the wire.
	MaxRecord = RecordHeaderLen + MaxRecordPayload
	// MaxMessage is the largest binary message: a batch of whole records.
	MaxMessage = 256 << 10
	// MaxLabel is the longest label of a device or client, in bytes of UTF-8.
	MaxLabel = 64
	// MaxRequestID is the longest requestId.
	MaxRequestID = 64
	// MaxPairBody is the longest body of a pair_message, in bytes before base64.
	MaxPairBody = 512
	// MaxAuthority is the longest host[:port] in a hello.
	MaxAuthority = 260
	// MaxInvite is the longest invite in a hello.
	MaxInvite = 64
	// NonceLen is the size of the login nonce.
	NonceLen = 32
	// MaxChannelsPerEntry is how many open channels one entry connection may have.
	MaxChannelsPerEntry = 64
	// MaxChannelsPerHost is how many open channels one host connection may have.
	MaxChannelsPerHost = 1024
	// MaxBindings is how many bindings one device or client may have.
	MaxBindings = 128
)

const (
	// LoginTimeout is, in seconds, how long a peer may take from the WebSocket upgrade to welcome.
	LoginTimeout = 10 * time.Second
	// PairTimeout is, in seconds, how long a pairing code is valid.
	PairTimeout = 10 * time.Minute
	// DeadPeerTimeout is, in seconds, the longest time until a half-open connection is detected.
	DeadPeerTimeout = 75 * time.Second
	// MaxClaimAge is, in seconds, how old the device's signature in a claim may be.
	MaxClaimAge = 30 * 24 * time.Hour
	// MaxClaimAhead is, in seconds, how far the signature's time may be ahead of the relay's clock.
	MaxClaimAhead = 5 * time.Minute
)

// Limits are the limits that a relay announces to a peer. If they are smaller than
// the constants of this package, the peer keeps to the smaller ones.
type Limits struct {
	MaxControl       int `json:"maxControl"`       // bytes of a control frame after login; relays send 65536
	MaxRecordPayload int `json:"maxRecordPayload"` // bytes of a record's payload
	MaxMessage       int `json:"maxMessage"`       // bytes of a binary message
	MaxChannels      int `json:"maxChannels"`      // open channels on this connection
}

// DefaultLimits are the limits of this version.
func DefaultLimits() Limits {
	return Limits{
		MaxControl:       MaxControl,
		MaxRecordPayload: MaxRecordPayload,
		MaxMessage:       MaxMessage,
		MaxChannels:      MaxChannelsPerEntry,
	}
}
