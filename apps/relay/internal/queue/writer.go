package queue

import (
	"encoding/binary"
	"runtime"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// Sink is where a queue writes: a net.Conn, or the bus to another node.
type Sink interface {
	Write(frame []byte) (int, error) // one whole frame
	SetWriteDeadline(t time.Time) error
	Close() error
}

// writeLoop writes until nothing waits. One runs at a time; close waits for it.
func (q *Queue) writeLoop() {
	batch, rest := q.handed, q.rest
	q.handed, q.rest = nil, nil
	if batch == nil {
		q.yield()
		batch = q.take()
	}
	for ; batch != nil; batch, rest = q.take(), nil {
		total, err := q.writeBatch(batch, rest)
		if err != nil {
			q.giveBack(batch)
			q.abandon()
			q.failed(err)
			return
		}
		q.done(batch, total)
		q.yield()
	}
}

// yield lets runnable goroutines run before a batch is taken, if the queue gathers. Among
// them are readers whose records then share the message.
func (q *Queue) yield() {
	if q.gather {
		runtime.Gosched()
	}
}

// take hands everything that waits to the writer; nil ends the writer.
func (q *Queue) take() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.chunks) > 0 && q.state != stateDone {
		return q.takeBatch()
	}
	if q.state == stateFinishing {
		q.state = stateDone
		// The peer reads to the end of our side before we close the connection;
		// a reset could lose the goodbye.
		if half, ok := q.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the connection ends either way
		}
	}
	q.writerEnded()
	return nil
}

// takeBatch takes everything that waits. q.mu must be held.
func (q *Queue) takeBatch() [][]byte {
	batch := q.chunks
	q.chunks, q.spare = q.spare, nil
	q.tail = -1
	q.gen++
	return batch
}

// abandon ends a writer whose network failed.
func (q *Queue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = stateDone
	q.writerEnded()
}

// writerEnded wakes the goroutines that wait for the writer. q.mu must be held.
func (q *Queue) writerEnded() {
	q.writing = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// writeBatch writes a batch, or the rest of one. It returns the size of the batch in bytes.
func (q *Queue) writeBatch(batch [][]byte, rest []byte) (total int, err error) {
	if rest != nil {
		return len(batch[0]), q.writeFrame(rest)
	}
	for _, chunk := range batch {
		total += len(chunk)
		for len(chunk) > 0 {
			n := int(binary.BigEndian.Uint32(chunk[1:]))
			if err := q.writeFrame(finishFrame(chunk, n)); err != nil {
				return total, err
			}
			chunk = chunk[ws.HeaderRoom+n:]
		}
	}
	return total, nil
}

// finishFrame writes the header of the first frame of a chunk, with a payload of n
// bytes, and returns the frame.
func finishFrame(chunk []byte, n int) []byte {
	at := ws.PutHeader((*[ws.HeaderRoom]byte)(chunk), ws.Op(chunk[0]), n)
	return chunk[at : ws.HeaderRoom+n]
}

func (q *Queue) writeFrame(frame []byte) error {
	if err := q.conn.SetWriteDeadline(time.Now().Add(q.bounds.limits.Load().Timeout)); err != nil {
		return err
	}
	_, err := q.conn.Write(frame)
	return err
}

// done counts a batch of total bytes as written and releases it.
func (q *Queue) done(batch [][]byte, total int) {
	size := 0
	for _, chunk := range batch {
		size += cap(chunk)
	}
	q.giveBack(batch)
	q.mu.Lock()
	q.waiting -= total
	q.held -= size
	q.hint = min(total, bufpool.Large)
	q.mu.Unlock()
	q.keepSpare(batch)
}

// giveBack returns borrowed chunks.
func (q *Queue) giveBack(batch [][]byte) {
	for i, chunk := range batch {
		q.pool.Put(chunk)
		batch[i] = nil
	}
}

// keepSpare keeps the emptied list for the next batch, if it is short.
func (q *Queue) keepSpare(batch [][]byte) {
	const most = 4
	if cap(batch) > most {
		return
	}
	q.mu.Lock()
	q.spare = batch[:0]
	q.mu.Unlock()
}
