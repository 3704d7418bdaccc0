package queue

import (
	"encoding/binary"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// push appends a whole frame if there is memory for it. q.mu must be held.
func (q *Queue) push(op ws.Op, payload []byte) bool {
	q.tail = -1
	if !q.room(op, len(payload)) {
		return false
	}
	last := &q.chunks[len(q.chunks)-1]
	*last = append(*last, payload...)
	q.sealTail(len(payload))
	q.tail = -1
	return true
}

// room makes the last frame of the last chunk a frame of op with space for n more bytes. It
// reports whether there was memory for it. q.mu must be held.
func (q *Queue) room(op ws.Op, n int) bool {
	last := len(q.chunks) - 1
	wanted := q.hint
	if last >= 0 {
		chunk := q.chunks[last]
		if q.tail >= 0 && len(chunk)+n <= cap(chunk) {
			return true
		}
		if len(chunk)+ws.HeaderRoom+n <= cap(chunk) {
			q.beginFrame(last, op)
			return true
		}
		wanted = 8 * cap(chunk)
	}
	return q.borrow(op, ws.HeaderRoom+n, wanted)
}

// borrow begins a frame of op in a new chunk of the wanted size or, if memory is short, of
// at least the needed bytes.
func (q *Queue) borrow(op ws.Op, needed, wanted int) bool {
	size := bufpool.SizeFor(max(needed, wanted))
	if !q.bounds.memory.Grants(q.held, size) {
		size = bufpool.SizeFor(needed)
		if !q.bounds.memory.Grants(q.held, size) {
			return false
		}
	}
	q.chunks = append(q.chunks, q.pool.Get(size))
	q.held += size
	q.beginFrame(len(q.chunks)-1, op)
	return true
}

func (q *Queue) beginFrame(chunk int, op ws.Op) {
	var head [ws.HeaderRoom]byte
	head[0] = byte(op)
	q.tail = len(q.chunks[chunk])
	q.chunks[chunk] = append(q.chunks[chunk], head[:]...)
	q.waiting += ws.HeaderRoom
}

// sealTail notes the length of the last frame after n bytes were appended.
func (q *Queue) sealTail(n int) {
	chunk := q.chunks[len(q.chunks)-1]
	binary.BigEndian.PutUint32(chunk[q.tail+1:], uint32(len(chunk)-q.tail-ws.HeaderRoom))
	q.waiting += n
}
