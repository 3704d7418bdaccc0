// Package pair implements the ceremony that introduces a device and a client to
// each other through a relay that neither trusts. It is a pure state machine: bytes
// in, bytes out, no clock and no network.
//
// Both sides know a code; the relay knows only its slot. Once the relay has sent
// each side the other's id and keys, the machines exchange two messages each, as
// the opaque bodies of pair_message frames:
//
//	0x01 | nonce (32 bytes)     at once, from both sides
//	0x02 | tag (32 bytes)       the redeemer first, the creator after verifying it
//
//	salt = SHA-256("scorel pair v1" NUL slot NUL deviceId NUL clientId NUL
//	               device keys (64) | client keys (64) | device nonce | client nonce)
//	K    = PBKDF2-HMAC-SHA256(secret, salt, 600 000 rounds, 32 bytes)
//	tag  = HMAC-SHA-256(K, "scorel pair v1" NUL "device" or "client")
//
// "keys" is the Ed25519 key, then the X25519 key. A relay that swaps a key or an id
// gives the two sides different salts, so the tags do not verify. After the
// exchange the secret is useless.
package pair

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair/stretch"
)

const (
	NonceLen = 32 // bytes of the nonce of a pairing message
	TagLen   = 32 // bytes of the tag of a pairing message

	domain = "scorel pair v1\x00"

	msgNonce = 0x01
	msgTag   = 0x02
)

var (
	// ErrConfirm is returned if the other side does not know the code or the relay
	// lied about its identity. The slot must be burned.
	ErrConfirm = errors.New("pair: the confirmation failed: the code was mistyped, or the connection between the two devices is intercepted")
	// ErrOrder is returned for a message that the ceremony does not expect.
	ErrOrder = errors.New("pair: unexpected message")
)

// Party is one side: an id and the keys that it commits to.
type Party struct {
	ID   ident.ID
	Keys ident.Public
}

// Config holds the two parties of a pairing.
type Config struct {
	Code    Code
	Self    Party
	Peer    Party
	Creator bool // this side created the slot; the other redeemed it
}

type state int

const (
	wantNonce state = iota
	wantTag
	done
	failed
)

// Machine is one run of the ceremony. It is not safe for concurrent use.
//
//	wantNonce --nonce--> wantTag --good tag--> done
//	     any state --anything else--> failed
type Machine struct {
	cfg   Config
	nonce [NonceLen]byte
	key   []byte
	state state
}

// New checks that the two parties may pair and generates this side's nonce.
func New(cfg Config, random io.Reader) (*Machine, error) {
	for _, p := range []Party{cfg.Self, cfg.Peer} {
		if p.ID.IsZero() || ident.NewID(p.ID.Kind(), p.Keys) != p.ID {
			return nil, errors.New("pair: an id does not match its keys")
		}
	}
	if cfg.Self.ID.Kind() == cfg.Peer.ID.Kind() {
		return nil, fmt.Errorf("pair: a %s cannot pair with a %s", cfg.Self.ID.Kind(), cfg.Peer.ID.Kind())
	}
	m := &Machine{cfg: cfg}
	if _, err := io.ReadFull(random, m.nonce[:]); err != nil {
		return nil, fmt.Errorf("pair: reading entropy: %w", err)
	}
	return m, nil
}

// Start returns the first message to send.
func (m *Machine) Start() []byte { return append([]byte{msgNonce}, m.nonce[:]...) }

// Done reports whether the other side has proven that it knows the code.
func (m *Machine) Done() bool { return m.state == done }

// Handle handles a message from the other side and returns the reply to send, if
// any. After an error the machine has failed permanently.
func (m *Machine) Handle(message []byte) (reply []byte, err error) {
	reply, err = m.handle(message)
	if err != nil {
		m.state, m.key = failed, nil
	}
	return reply, err
}

func (m *Machine) handle(message []byte) ([]byte, error) {
	if len(message) == 0 {
		return nil, ErrOrder
	}
	body := message[1:]
	switch {
	case m.state == wantNonce && message[0] == msgNonce && len(body) == NonceLen:
		return m.takeNonce(body)
	case m.state == wantTag && message[0] == msgTag && len(body) == TagLen:
		return m.takeTag(body)
	}
	return nil, ErrOrder
}

func (m *Machine) takeNonce(peerNonce []byte) ([]byte, error) {
	key, err := stretch.Key(string(m.cfg.Code.secret[:]), m.salt(peerNonce))
	if err != nil {
		return nil, fmt.Errorf("pair: deriving the key: %w", err)
	}
	m.key, m.state = key, wantTag
	if m.cfg.Creator {
		return nil, nil
	}
	return m.ownTag(), nil
}

func (m *Machine) takeTag(tag []byte) ([]byte, error) {
	if !hmac.Equal(tag, m.tag(m.cfg.Peer.ID.Kind())) {
		return nil, ErrConfirm
	}
	m.state = done
	if m.cfg.Creator {
		return m.ownTag(), nil
	}
	return nil, nil
}

func (m *Machine) ownTag() []byte {
	return append([]byte{msgTag}, m.tag(m.cfg.Self.ID.Kind())...)
}

func (m *Machine) tag(kind ident.Kind) []byte {
	role := "client"
	if kind == ident.KindDevice {
		role = "device"
	}
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(domain + role))
	return mac.Sum(nil)
}

// salt hashes the transcript in an order that both sides share: device first.
func (m *Machine) salt(peerNonce []byte) []byte {
	device, client := m.cfg.Self, m.cfg.Peer
	deviceNonce, clientNonce := m.nonce[:], peerNonce
	if device.ID.Kind() != ident.KindDevice {
		device, client = client, device
		deviceNonce, clientNonce = clientNonce, deviceNonce
	}
	var b bytes.Buffer
	b.WriteString(domain)
	for _, text := range []string{m.cfg.Code.Slot(), device.ID.String(), client.ID.String()} {
		b.WriteString(text)
		b.WriteByte(0)
	}
	for _, p := range []Party{device, client} {
		b.Write(p.Keys.Sign[:])
		b.Write(p.Keys.Seal[:])
	}
	b.Write(deviceNonce)
	b.Write(clientNonce)
	sum := sha256.Sum256(b.Bytes())
	return sum[:]
}
