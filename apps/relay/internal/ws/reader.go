package ws

import (
	"encoding/binary"
	"io"
	"sync/atomic"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
)

// IdleBuffer is the size in bytes of the read buffer of an idle connection.
const IdleBuffer = 512

// A message may have this many frames, plus one for each so many bytes. Each frame
// costs more than its payload, because the buffered part of the message is moved
// with it.
const (
	maxFragments  = 128
	fragmentBytes = 256
)

// quietReads is how many consecutive short reads release a borrowed buffer.
const quietReads = 64

// Event is what arrived. Data aliases the reader's buffer and is valid until the
// next call of Next.
//
// For OpText, Data is a complete message. For OpBinary it is everything of the
// message that has arrived and was not discarded; Fin means that the message ends
// with it. For OpPing, OpPong and OpClose it is the payload.
type Event struct {
	Op   Op
	Data []byte
	Fin  bool
}

// Reader parses the frames of one connection. Its buffer holds, in this order, the
// unmasked payload that was delivered but not discarded (ps to pe) and raw bytes
// not yet parsed (rs to re).
type Reader struct {
	src  io.Reader
	pool *bufpool.Pool

	buf            []byte // with len equal to cap; small, or borrowed
	ps, pe, rs, re int
	holds          atomic.Int32
	quiet          int  // consecutive short reads
	filled         bool // the last read filled all of its room

	op        Op   // message in progress, 0 if none
	fin       bool // the frame in progress is its last
	inFrame   bool
	over      bool // the last event delivered ended the message
	remaining int  // payload bytes of the frame still to come
	size      int  // payload bytes of the message so far, including announced ones
	frames    int  // of the message so far
	arrived   int  // bytes read from the source since the last call of Arrived
	key       [4]byte
	keyPos    int

	maxText, maxBinary int
	room               func(held, more int) bool // nil: there is always room
	starved            bool                      // room refused memory
	small              [IdleBuffer]byte
}

// NewReader returns a reader of src. early holds at most IdleBuffer bytes that were
// already read from it. Limits start at 0: call SetLimits.
func NewReader(src io.Reader, pool *bufpool.Pool, early []byte) *Reader {
	r := &Reader{src: src, pool: pool}
	r.buf = r.small[:]
	r.re = copy(r.buf, early)
	return r
}

// SetLimits sets the largest text and binary message in bytes. A text message and
// an undiscarded part of a binary one must fit in bufpool.Large with room for a
// header.
func (r *Reader) SetLimits(text, binary int) { r.maxText, r.maxBinary = text, binary }

// SetRoom sets the function that is asked before the reader borrows a larger
// buffer. While it returns false the reader keeps its current buffer, and Next
// fails with ErrNoRoom for messages that do not fit.
func (r *Reader) SetRoom(room func(held, more int) bool) { r.room = room }

// Holds returns how many bytes the reader has borrowed.
func (r *Reader) Holds() int { return int(r.holds.Load()) }

// Arrived returns how many bytes were read from the source since the last call,
// including frame headers.
func (r *Reader) Arrived() int {
	n := r.arrived
	r.arrived = 0
	return n
}

// Discard drops the first n bytes of the last event's Data; the rest begins the
// Data of the next event.
func (r *Reader) Discard(n int) { r.ps += n }

// Release returns a borrowed buffer when the connection ends. The reader must not
// be used afterwards.
func (r *Reader) Release() {
	if cap(r.buf) != IdleBuffer {
		r.pool.Put(r.buf)
		r.holds.Store(0)
	}
	r.buf = nil
}

// Next returns the next event. Errors are *ProtocolError or those of the source.
func (r *Reader) Next() (Event, error) {
	if r.over {
		r.over, r.op, r.size, r.frames = false, 0, 0, 0
		r.ps = r.pe
	}
	for {
		if r.inFrame && (r.re > r.rs || r.remaining == 0) {
			if ev, ok := r.payload(); ok {
				return ev, nil
			}
			continue
		}
		if !r.inFrame {
			ev, state, err := r.header()
			if err != nil || state == headerEvent {
				return ev, err
			}
			if state == headerDone {
				continue
			}
		}
		if err := r.fill(); err != nil {
			return Event{}, err
		}
	}
}

// payload unmasks the part of the frame that has arrived and appends it to the part
// of the message before it.
func (r *Reader) payload() (Event, bool) {
	if held := r.pe - r.ps; r.pe != r.rs {
		copy(r.buf[r.rs-held:r.rs], r.buf[r.ps:r.pe])
		r.ps, r.pe = r.rs-held, r.rs
	}
	n := min(r.remaining, r.re-r.rs)
	r.keyPos = unmask(r.buf[r.rs:r.rs+n], r.key, r.keyPos)
	r.rs += n
	r.pe = r.rs
	r.remaining -= n
	if r.remaining == 0 {
		r.inFrame = false
		r.over = r.fin
	}
	if r.op == OpText && !r.over {
		return Event{}, false
	}
	return Event{Op: r.op, Data: r.buf[r.ps:r.pe], Fin: r.over}, true
}

type headerState int

const (
	headerShort headerState = iota // more bytes are needed
	headerDone                     // a data frame begins
	headerEvent                    // a control frame is complete
)

func (r *Reader) header() (Event, headerState, error) {
	raw := r.buf[r.rs:r.re]
	if len(raw) < 2 {
		return Event{}, headerShort, nil
	}
	op, fin := Op(raw[0]&0x0F), raw[0]&0x80 != 0
	switch {
	case raw[0]&0x70 != 0:
		return Event{}, 0, &ProtocolError{StatusProtocol, "reserved bits are set"}
	case raw[1]&0x80 == 0:
		return Event{}, 0, &ProtocolError{StatusProtocol, "frame is not masked"}
	}
	length, at := uint64(raw[1]&0x7F), 2
	switch {
	case length == 126 && len(raw) >= 4:
		length, at = uint64(binary.BigEndian.Uint16(raw[2:])), 4
	case length == 127 && len(raw) >= 10:
		length, at = binary.BigEndian.Uint64(raw[2:]), 10
	case length >= 126:
		return Event{}, headerShort, nil
	}
	if err := r.checkFrame(op, fin, length); err != nil {
		return Event{}, 0, err
	}
	if len(raw) < at+4 {
		return Event{}, headerShort, nil
	}
	key := [4]byte(raw[at:])
	at += 4
	if op < OpClose {
		r.beginFrame(op, fin, int(length), key)
		r.rs += at
		return Event{}, headerDone, nil
	}
	if uint64(len(raw)-at) < length {
		return Event{}, headerShort, nil
	}
	data := raw[at : at+int(length)]
	unmask(data, key, 0)
	r.rs += at + len(data)
	return Event{Op: op, Data: data, Fin: true}, headerEvent, nil
}

func (r *Reader) beginFrame(op Op, fin bool, length int, key [4]byte) {
	if op != OpContinuation {
		r.op = op
		r.ps, r.pe = r.rs, r.rs
	}
	r.inFrame, r.fin, r.remaining = true, fin, length
	r.size += length
	r.frames++
	r.key, r.keyPos = key, 0
}

// checkFrame rejects a frame before memory is allocated for it.
func (r *Reader) checkFrame(op Op, fin bool, length uint64) error {
	limit := r.maxBinary
	switch op {
	case OpClose, OpPing, OpPong:
		if !fin || length > maxControlPayload {
			return &ProtocolError{StatusProtocol, "control frame is fragmented or too long"}
		}
		return nil
	case OpText, OpBinary:
		if r.op != 0 {
			return &ProtocolError{StatusProtocol, "a message begins before the previous one ended"}
		}
		if op == OpText {
			limit = r.maxText
		}
	case OpContinuation:
		if r.op == 0 {
			return &ProtocolError{StatusProtocol, "a continuation frame without a message"}
		}
		if r.frames >= maxFragments+r.size/fragmentBytes {
			return &ProtocolError{StatusPolicy, "message has too many fragments"}
		}
		if r.op == OpText {
			limit = r.maxText
		}
	default:
		return &ProtocolError{StatusProtocol, "unknown opcode"}
	}
	if length > uint64(limit) || r.size+int(length) > limit {
		return &ProtocolError{StatusTooBig, "message is over the limit"}
	}
	return nil
}

// fill reads once from the source.
func (r *Reader) fill() error {
	if r.ps == r.pe && r.rs == r.re {
		r.ps, r.pe, r.rs, r.re = 0, 0, 0, 0
	}
	r.resize()
	if r.re == len(r.buf) && r.starved {
		return ErrNoRoom
	}
	if r.re == len(r.buf) {
		return &ProtocolError{StatusTooBig, "message does not fit in the buffer"}
	}
	room := r.buf[r.re:]
	n, err := r.src.Read(room)
	r.re += n
	r.arrived += n
	r.filled = n == len(room)
	if n < IdleBuffer {
		r.quiet++
	} else {
		r.quiet = 0
	}
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// resize makes room for the next read: a larger buffer while bytes arrive faster
// than they are read or a message needs it, the small one once the connection is
// idle.
func (r *Reader) resize() {
	used := r.pe - r.ps + r.re - r.rs
	want := len(r.buf)
	switch {
	case used == 0 && r.quiet >= quietReads:
		want = IdleBuffer
	case r.filled || 2*used > len(r.buf):
		want = nextSize(len(r.buf))
	}
	r.filled = false
	r.starved = want > len(r.buf) && r.room != nil && !r.room(r.Holds(), want)
	if r.starved {
		want = len(r.buf)
	}
	if want != len(r.buf) {
		r.moveTo(want, used)
		return
	}
	if free := len(r.buf) - r.re; free < len(r.buf)/2 || r.starved {
		r.compact(r.buf)
	}
}

func nextSize(n int) int {
	if n < bufpool.Medium {
		return bufpool.Medium
	}
	return bufpool.Large
}

func (r *Reader) moveTo(size, used int) {
	old := r.buf
	next := r.small[:]
	if size != IdleBuffer {
		next = r.pool.Get(size)
		next = next[:cap(next)]
		r.quiet = 0
	}
	if used > 0 {
		r.compact(next)
	}
	r.buf = next
	r.holds.Store(int32(len(next)))
	if size == IdleBuffer {
		r.holds.Store(0)
	}
	if cap(old) != IdleBuffer {
		r.pool.Put(old)
	}
}

// compact moves the buffered data to the front of dst, which may be the buffer
// itself.
func (r *Reader) compact(dst []byte) {
	held := copy(dst, r.buf[r.ps:r.pe])
	raw := copy(dst[held:], r.buf[r.rs:r.re])
	r.ps, r.pe = 0, held
	r.rs, r.re = held, held+raw
}

// Quieten lets the next read with nothing pending release a borrowed buffer. The
// owner calls it when a pong shows that the connection has been idle.
func (r *Reader) Quieten() { r.quiet = quietReads }
