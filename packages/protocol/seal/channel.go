package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/flynn/noise"
)

const (
	kindJSON     = 0x01
	kindDeflated = 0x02
	kindChunk    = 0x03
	kindLast     = 0x04
	kindAck      = 0x05

	// compressFrom is the size in bytes from which a message is deflated, if that
	// makes it smaller.
	compressFrom = 1 << 10
)

// Window is how many bytes of records may be in flight: sent but not yet
// acknowledged. It keeps a burst from overflowing a relay's queue, so only an end
// that does not read at all is a slow consumer.
const Window = 512 << 10

// AckEvery is after how many bytes of received records an end acknowledges.
const AckEvery = 128 << 10

// ackLen is the size of an acknowledgement's body.
const ackLen = 8

// Channel is an open sealed channel. One goroutine at a time may seal and one may
// open: records must be sent in the order in which they were sealed.
type Channel struct {
	send, receive *direction
	acked         atomic.Uint64 // what the other end has acknowledged

	// Owned by the receiving side.
	partial []byte // chunks of a message that is not complete
	chunked bool
	broken  bool
}

// newChannel takes ownership of the CipherStates of a handshake.
func newChannel(send, receive *noise.CipherState) (*Channel, error) {
	out, err1 := newDirection(send)
	in, err2 := newDirection(receive)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Channel{send: out, receive: in}, nil
}

// Piece is the plaintext of one record. It shares the memory of its message.
type Piece struct {
	kind byte
	body []byte
}

// RecordLen is the size in bytes of the record that the piece is sealed into.
func (p Piece) RecordLen() int { return 1 + len(p.body) + tagLen }

// Ack returns an acknowledgement: received is how many bytes of records, excluding
// the handshake, this end has opened since the channel began.
func Ack(received uint64) Piece {
	return Piece{kindAck, binary.BigEndian.AppendUint64(make([]byte, 0, ackLen), received)}
}

// Split splits a message (JSON, at most MaxMessage bytes) into the pieces that are
// sealed and sent in order, and appends them to pieces. Acknowledgements may be
// sent between them, pieces of another message may not. The message must not change
// until all are sealed.
func Split(pieces []Piece, message []byte) ([]Piece, error) {
	if len(message) > MaxMessage {
		return pieces, fmt.Errorf("seal: message of %d bytes is over the limit of %d", len(message), MaxMessage)
	}
	kind, body := pack(message)
	if 1+len(body) <= maxPlaintext {
		return append(pieces, Piece{kind, body}), nil
	}
	rest := append([]byte{kind}, body...)
	for len(rest) > maxPlaintext-1 {
		pieces, rest = append(pieces, Piece{kindChunk, rest[:maxPlaintext-1]}), rest[maxPlaintext-1:]
	}
	return append(pieces, Piece{kindLast, rest}), nil
}

// Seal encrypts one message into one or more records of at most MaxRecord bytes.
func (c *Channel) Seal(message []byte) ([][]byte, error) {
	pieces, err := Split(nil, message)
	if err != nil {
		return nil, err
	}
	records := make([][]byte, 0, len(pieces))
	for _, piece := range pieces {
		record, err := c.AppendPiece(make([]byte, 0, piece.RecordLen()), piece)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// AppendPiece appends the record of a piece to dst, or nothing on error.
func (c *Channel) AppendPiece(dst []byte, piece Piece) ([]byte, error) {
	at := len(dst)
	dst = append(slices.Grow(dst, piece.RecordLen()), piece.kind)
	return c.send.seal(at, append(dst, piece.body...))
}

// Acked returns how many bytes of records, excluding the handshake, the other end
// has acknowledged. It may be called from any goroutine.
func (c *Channel) Acked() uint64 { return c.acked.Load() }

// Open decrypts the next record without modifying it. It returns nil for an
// acknowledgement and for all but the last chunk of a message. Any error is final
// and wraps ErrBroken.
func (c *Channel) Open(record []byte) ([]byte, error) { return c.OpenInPlace(bytes.Clone(record)) }

// OpenInPlace is Open that decrypts within record, whose memory belongs to the
// channel and the message from here on.
func (c *Channel) OpenInPlace(record []byte) ([]byte, error) {
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
	plain, err := c.receive.open(record)
	if err != nil {
		return nil, err
	}
	switch kind, body := plain[0], plain[1:]; kind {
	case kindJSON, kindDeflated:
		if c.chunked {
			return nil, errors.New("a message inside a chunked message")
		}
		return unpack(plain)
	case kindChunk, kindLast:
		return c.collect(kind, body)
	case kindAck:
		return nil, c.takeAck(body)
	default:
		return nil, fmt.Errorf("unknown kind %#02x", kind)
	}
}

// takeAck rejects acknowledgements that go backward.
func (c *Channel) takeAck(body []byte) error {
	if len(body) != ackLen {
		return fmt.Errorf("acknowledgement of %d bytes", len(body))
	}
	received := binary.BigEndian.Uint64(body)
	if received < c.acked.Load() {
		return errors.New("an acknowledgement that goes backward")
	}
	c.acked.Store(received)
	return nil
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
