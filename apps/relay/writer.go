package relay

import (
	"encoding/binary"
	"runtime"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// sink is where a queue writes: a net.Conn, or the way to another node.
type sink interface {
	Write(frame []byte) (int, error) // one whole frame
	SetWriteDeadline(t time.Time) error
	Close() error
}

// writeLoop writes until nothing waits. One runs at a time; close waits for it.
func (q *queue) writeLoop() {
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

// yield lets the goroutines that can run now do so before a batch of a trunk is
// taken: the readers of other connections among them, whose records then share the
// message. On an idle node nobody can, and nothing waits.
func (q *queue) yield() {
	if q.gather {
		runtime.Gosched()
	}
}

// take hands all that waits to the writer; nil ends it.
func (q *queue) take() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.chunks) > 0 && q.state != queueDone {
		return q.takeBatch()
	}
	if q.state == queueFinishing {
		q.state = queueDone
		// The peer reads to the end of our side before we let go of the
		// connection; a reset could take the goodbye from it.
		if half, ok := q.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the connection ends either way
		}
	}
	q.writerEnded()
	return nil
}

// takeBatch takes all that waits. q.mu must be held.
func (q *queue) takeBatch() [][]byte {
	batch := q.chunks
	q.chunks, q.spare = q.spare, nil
	q.tail = -1
	q.gen++
	return batch
}

// abandon is the end of a writer whose network failed.
func (q *queue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = queueDone
	q.writerEnded()
}

// writerEnded tells those who wait. q.mu must be held.
func (q *queue) writerEnded() {
	q.writing = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// writeBatch writes a batch, or the rest of one, and returns the size of the batch in
// bytes.
func (q *queue) writeBatch(batch [][]byte, rest []byte) (total int, err error) {
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

func (q *queue) writeFrame(frame []byte) error {
	if err := q.conn.SetWriteDeadline(time.Now().Add(q.bounds.limits.Load().timeout)); err != nil {
		return err
	}
	_, err := q.conn.Write(frame)
	return err
}

// done counts a batch of total bytes as written and lets go of it.
func (q *queue) done(batch [][]byte, total int) {
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
func (q *queue) giveBack(batch [][]byte) {
	for i, chunk := range batch {
		q.pool.Put(chunk)
		batch[i] = nil
	}
}

// keepSpare keeps the emptied list for the next batch, if it is short.
func (q *queue) keepSpare(batch [][]byte) {
	const most = 4
	if cap(batch) > most {
		return
	}
	q.mu.Lock()
	q.spare = batch[:0]
	q.mu.Unlock()
}
