// Package seal implements the end-to-end channel between an entry and a host:
// messages in, records out, and back. A relay carries the records and cannot read
// them.
//
// The entry is the initiator of Noise_KK_25519_AESGCM_SHA256 with the pinned X25519
// keys of both and the prologue
//
//	"scorel seal v1" NUL deviceId NUL clientId
//
// Record 1 (initiator) and record 2 (responder) are the handshake messages with
// empty payloads, 48 bytes each. Every later record is one transport message
// whose plaintext is one kind byte and a body:
//
//	0x01  JSON: a whole message
//	0x02  JSON: a whole message, deflate-raw
//	0x03  a chunk of a message that does not fit one record; more follow
//	0x04  the last chunk. The chunks joined are again a kind byte (0x01 or 0x02) and a body
//	0x05  an acknowledgement: u64, big endian, how many bytes of records after the
//	      handshake its sender has opened so far. It may stand between chunks
//
// Each end acknowledges at least every AckEvery bytes and has at most Window bytes
// in flight; acknowledgements count as bytes and are not held back. A message whose
// record does not fit the window alone waits until nothing is in flight.
//
// The record counter is the nonce, so a dropped, repeated, reordered or forged
// record fails to open. That is fatal: it returns ErrBroken, and the caller closes
// the channel with seal_broken and opens a new one.
package seal

import (
	"errors"
	"fmt"
	"io"

	"github.com/flynn/noise"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// HandshakeLen is the size in bytes of both handshake records.
	HandshakeLen = 48
	// MaxRecord is the largest record: the limit of Noise.
	MaxRecord = 65535
	// MaxMessage is the largest message, in bytes of JSON.
	MaxMessage = 16 << 20

	tagLen       = 16
	maxPlaintext = MaxRecord - tagLen
	prologueTag  = "scorel seal v1\x00"
)

// ErrBroken is returned for a record that did not open. The channel cannot be used
// any more.
var ErrBroken = errors.New("seal: broken: a record was dropped, repeated, reordered or forged")

// Peer is the pinned identity of the other end.
type Peer struct {
	ID  ident.ID
	Key ident.SealPublic
}

// Handshake is one end of a handshake in progress. It is not safe for concurrent
// use.
type Handshake struct {
	state     *noise.HandshakeState
	initiator bool
}

// NewHandshake starts a handshake of self with peer. The client is the
// initiator, the device the responder. Entropy comes from random.
func NewHandshake(self *ident.Private, peer Peer, random io.Reader) (*Handshake, error) {
	device, client := self.ID(), peer.ID
	initiator := device.Kind() == ident.KindClient
	if initiator {
		device, client = client, device
	}
	if device.Kind() != ident.KindDevice || client.Kind() != ident.KindClient {
		return nil, errors.New("seal: a channel runs between one device and one client")
	}
	public := self.Public().Seal
	state, err := noise.NewHandshakeState(noise.Config{
		CipherSuite:   noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256),
		Random:        random,
		Pattern:       noise.HandshakeKK,
		Initiator:     initiator,
		Prologue:      []byte(prologueTag + device.String() + "\x00" + client.String()),
		StaticKeypair: noise.DHKey{Private: self.SealSecret(), Public: public[:]},
		PeerStatic:    peer.Key[:],
	})
	if err != nil {
		return nil, fmt.Errorf("seal: starting the handshake: %w", err)
	}
	return &Handshake{state: state, initiator: initiator}, nil
}

// Start returns the initiator's first record. Initiator only.
func (h *Handshake) Start() ([]byte, error) {
	if !h.initiator {
		return nil, errors.New("seal: the responder does not start")
	}
	record, _, _, err := h.state.WriteMessage(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("seal: first handshake record: %w", err)
	}
	return record, nil
}

// Answer processes the initiator's record and returns the second record and the
// open channel. Responder only.
func (h *Handshake) Answer(record []byte) ([]byte, *Channel, error) {
	if h.initiator {
		return nil, nil, errors.New("seal: the initiator does not answer")
	}
	if err := h.read(record); err != nil {
		return nil, nil, err
	}
	reply, fromInitiator, toInitiator, err := h.state.WriteMessage(nil, nil)
	if err != nil || fromInitiator == nil {
		return nil, nil, fmt.Errorf("seal: second handshake record: %w", errors.Join(err, ErrBroken))
	}
	channel, err := newChannel(toInitiator, fromInitiator)
	return reply, channel, err
}

// Finish processes the responder's record and returns the open channel. Initiator
// only.
func (h *Handshake) Finish(record []byte) (*Channel, error) {
	if !h.initiator || len(record) != HandshakeLen {
		return nil, ErrBroken
	}
	payload, toResponder, fromResponder, err := h.state.ReadMessage(nil, record)
	if err != nil || len(payload) != 0 || toResponder == nil {
		return nil, ErrBroken
	}
	return newChannel(toResponder, fromResponder)
}

func (h *Handshake) read(record []byte) error {
	if len(record) != HandshakeLen {
		return ErrBroken
	}
	payload, _, _, err := h.state.ReadMessage(nil, record)
	if err != nil || len(payload) != 0 {
		return ErrBroken
	}
	return nil
}
