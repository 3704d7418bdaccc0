package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/flynn/noise"
)

// maxCounter is the last counter that a record may have: Noise keeps 2^64-1 for
// itself.
const maxCounter = math.MaxUint64 - 1

var errExhausted = errors.New("seal: every counter of the channel is used up; open a new channel")

// direction is one direction of an open channel: the transport messages of Noise
// with AES-256-GCM, under the key that the handshake made.
//
// It does what noise.CipherState does, byte for byte, and nothing more: the nonce is
// four zero bytes and the counter, big endian; the counter begins at 0, grows by one
// with each record that was sealed or did open, and is never used twice. It stands
// here because noise takes memory for each nonce, and a channel seals and opens
// every message of a session.
type direction struct {
	aead    cipher.AEAD
	counter uint64
	nonce   [12]byte // of the record in hand
}

// newDirection takes over from a CipherState that was not used yet.
func newDirection(s *noise.CipherState) (*direction, error) {
	key := s.UnsafeKey()
	defer clear(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("seal: making a cipher: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal: making a cipher: %w", err)
	}
	return &direction{aead: aead, counter: s.Nonce()}, nil
}

// seal replaces the plaintext that begins at an offset of dst by its record, in the
// same memory if there is room for the tag. Nothing is appended when it fails.
func (d *direction) seal(at int, dst []byte) ([]byte, error) {
	if err := d.setNonce(); err != nil {
		return dst[:at], err
	}
	out := d.aead.Seal(dst[:at], d.nonce[:], dst[at:], nil)
	d.counter++
	return out, nil
}

// open decrypts a record in its own memory. The counter stays when it does not open.
func (d *direction) open(record []byte) ([]byte, error) {
	if err := d.setNonce(); err != nil {
		return nil, err
	}
	plain, err := d.aead.Open(record[:0], d.nonce[:], record, nil)
	if err != nil {
		return nil, errors.New("authentication failed")
	}
	d.counter++
	return plain, nil
}

func (d *direction) setNonce() error {
	if d.counter > maxCounter {
		return errExhausted
	}
	binary.BigEndian.PutUint64(d.nonce[4:], d.counter)
	return nil
}
