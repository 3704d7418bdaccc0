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

// maxCounter is the last counter that a record may have: Noise reserves 2^64-1.
const maxCounter = math.MaxUint64 - 1

var errExhausted = errors.New("seal: every counter of the channel is used up; open a new channel")

// direction is one direction of an open channel: the transport messages of Noise
// with AES-256-GCM, under the key of the handshake.
//
// It does what noise.CipherState does, byte for byte: the nonce is four zero bytes
// and the counter, big endian; the counter begins at 0, increases by one with each
// record that was sealed or opened, and is never reused. It exists because noise
// allocates for each nonce, and a channel seals and opens every message of a
// session.
type direction struct {
	aead    cipher.AEAD
	counter uint64
	nonce   [12]byte // of the current record
}

// newDirection takes over from an unused CipherState.
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

// seal replaces the plaintext that begins at offset at of dst by its record, in
// place if there is room for the tag. On error nothing is appended.
func (d *direction) seal(at int, dst []byte) ([]byte, error) {
	if err := d.setNonce(); err != nil {
		return dst[:at], err
	}
	out := d.aead.Seal(dst[:at], d.nonce[:], dst[at:], nil)
	d.counter++
	return out, nil
}

// open decrypts a record in place. On error the counter is unchanged.
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
