package seal

import (
	"errors"
	"fmt"

	"github.com/flynn/noise"
)

const (
	kindJSON     = 0x01
	kindDeflated = 0x02
	kindChunk    = 0x03
	kindLast     = 0x04

	// compressFrom is the size in bytes from which a message is deflated, where
	// that makes it smaller.
	compressFrom = 1 << 10
)

// Channel is an open sealed channel. Seal and Open may be called from two
// different goroutines, each from one at a time: records must leave in the order
// in which Seal returned them.
type Channel struct {
	send, receive *noise.CipherState
	partial       []byte // chunks of a message that is not complete
	chunked       bool
	broken        bool // owned by the receiving side
}

func newChannel(send, receive *noise.CipherState) *Channel {
	return &Channel{send: send, receive: receive}
}

// Seal encrypts one message (JSON, at most MaxMessage bytes) into one or more
// records of at most MaxRecord bytes, to be sent in order.
func (c *Channel) Seal(message []byte) ([][]byte, error) {
	if len(message) > MaxMessage {
		return nil, fmt.Errorf("seal: message of %d bytes is over the limit of %d", len(message), MaxMessage)
	}
	plain := pack(message)
	if len(plain) <= maxPlaintext {
		record, err := c.encrypt(plain)
		return [][]byte{record}, err
	}
	var records [][]byte
	for len(plain) > 0 {
		n := min(len(plain), maxPlaintext-1)
		kind := byte(kindChunk)
		if n == len(plain) {
			kind = kindLast
		}
		record, err := c.encrypt(append([]byte{kind}, plain[:n]...))
		if err != nil {
			return nil, err
		}
		records, plain = append(records, record), plain[n:]
	}
	return records, nil
}

func (c *Channel) encrypt(plain []byte) ([]byte, error) {
	record, err := c.send.Encrypt(make([]byte, 0, len(plain)+tagLen), nil, plain)
	if err != nil {
		return nil, fmt.Errorf("seal: encrypting: %w", err)
	}
	return record, nil
}

// Open decrypts the next record. It returns nil while a chunked message is not
// complete. Any error is final and wraps ErrBroken.
func (c *Channel) Open(record []byte) ([]byte, error) {
	if c.broken {
		return nil, ErrBroken
	}
	message, err := c.open(record)
	if err != nil {
		c.broken, c.partial = true, nil
		return nil, fmt.Errorf("%w (%w)", ErrBroken, err)
	}
	return message, nil
}

func (c *Channel) open(record []byte) ([]byte, error) {
	if len(record) > MaxRecord || len(record) <= tagLen {
		return nil, fmt.Errorf("record of %d bytes", len(record))
	}
	plain, err := c.receive.Decrypt(make([]byte, 0, len(record)), nil, record)
	if err != nil {
		return nil, errors.New("authentication failed")
	}
	switch kind, body := plain[0], plain[1:]; kind {
	case kindJSON, kindDeflated:
		if c.chunked {
			return nil, errors.New("a message inside a chunked message")
		}
		return unpack(plain)
	case kindChunk, kindLast:
		return c.collect(kind, body)
	default:
		return nil, fmt.Errorf("unknown kind %#02x", kind)
	}
}

func (c *Channel) collect(kind byte, body []byte) ([]byte, error) {
	if len(c.partial)+len(body) > MaxMessage+1 {
		return nil, errors.New("chunked message over the limit")
	}
	c.partial, c.chunked = append(c.partial, body...), true
	if kind == kindChunk {
		return nil, nil
	}
	whole := c.partial
	c.partial, c.chunked = nil, false
	return unpack(whole)
}
