package relay

import (
	"encoding/binary"
	"runtime"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// verdict is what became of something put in a queue.
type verdict int

const (
	queued verdict = iota
	queueFull
	queueStarved // the relay is short of memory, and this queue holds more than its share
	queueClosed
)

type queueState int8

const (
	queueOpen      queueState = iota
	queueFinishing            // the last frames are in; the writer sends and half-closes
	queueDone                 // nothing is taken any more
)

// queueLimits is shared by all queues of a relay.
type queueLimits struct {
	channel, data, total int // bytes
	timeout              time.Duration
	memory               *memory // of the relay; nil is without bound
}

// queue holds what waits for one connection, in order, as bytes that are nearly
// ready for the network: records and control frames are copied once, into
// borrowed chunks, and each chunk's frames leave with one write each. Records
// that wait together share one binary message.
//
// Putting something in never blocks. A writer goroutine exists only while
// something waits, so an idle connection has neither buffer nor writer.
//
// In a chunk each frame has ws.HeaderRoom bytes in front of its payload; until
// the header is written there, they hold the opcode and the payload's length.
type queue struct {
	conn   sink
	pool   *bufpool.Pool
	limits *queueLimits
	direct *direct     // nil when conn cannot do without a writer
	gather bool        // the writer lets all who are about to put something in go first
	failed func(error) // called once by the writer when the network fails
	write  func()      // the writer's body, made once so that starting it allocates nothing

	mu        sync.Mutex
	chunks    [][]byte
	spare     [][]byte
	tail      int // offset of the last frame in the last chunk, -1 when it takes no more
	waiting   int // bytes in chunks and in the writer's hands
	held      int // the size of those chunks
	hint      int // bytes of the last batch: what the first chunk should hold
	gen       uint64
	state     queueState
	writing   bool
	touchedBy *lane         // whose reader put something in last and will flush
	idle      chan struct{} // made by whoever waits for the writer to end

	// Owned by the writer: a batch that flush could not finish.
	handed [][]byte
	rest   []byte // of its only frame
}

// sink is where a queue writes: a net.Conn, or the way to another node.
type sink interface {
	Write(frame []byte) (int, error) // one whole frame
	SetWriteDeadline(t time.Time) error
	Close() error
}

func (q *queue) init(conn sink, pool *bufpool.Pool, limits *queueLimits, failed func(error)) {
	q.conn, q.pool, q.limits, q.failed = conn, pool, limits, failed
	q.direct = newDirect(conn)
	q.write = q.writeLoop
	q.tail = -1
}

// add appends one record, if it may. q.mu must be held.
func (q *queue) add(to *port, payload []byte) verdict {
	if q.state != queueOpen {
		return queueClosed
	}
	if to.gen != q.gen { // what was counted has been handed to the writer
		to.gen, to.waiting = q.gen, 0
	}
	n := wire.RecordHeaderLen + len(payload)
	if to.waiting+n > q.limits.channel || q.waiting+n > q.limits.data {
		return queueFull
	}
	if !q.room(ws.OpBinary, n) {
		return queueStarved
	}
	to.waiting += n
	last := &q.chunks[len(q.chunks)-1]
	*last = wire.AppendRecord(*last, to.num, payload)
	q.sealTail(n)
	return queued
}

// control queues a control frame or a ping. It may use the room that records may
// not, so that a full queue can still say what happened.
func (q *queue) control(op ws.Op, payload []byte) verdict {
	q.mu.Lock()
	if q.state != queueOpen {
		q.mu.Unlock()
		return queueClosed
	}
	if q.waiting+len(payload) > q.limits.total || !q.push(op, payload) {
		q.mu.Unlock()
		return queueFull
	}
	q.unlockAndWrite()
	return queued
}

// finish queues the last control frames and the close frame, whatever the
// limits, and takes nothing more.
func (q *queue) finish(frames [][]byte, closePayload []byte) {
	q.mu.Lock()
	if q.state != queueOpen {
		q.mu.Unlock()
		return
	}
	for _, frame := range frames {
		q.push(ws.OpText, frame) // when memory is short the peer is not told why
	}
	q.push(ws.OpClose, closePayload)
	q.state = queueFinishing
	q.unlockAndWrite()
}

// close takes nothing more and returns when the writer has ended. The caller has
// closed the connection, or set a deadline on it.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = queueDone
	q.awaitWriter()
	q.giveBack(q.chunks)
	q.chunks = nil
}

// drain returns when the writer has sent what finish left, and closes.
func (q *queue) drain() {
	q.mu.Lock()
	q.awaitWriter()
	q.mu.Unlock()
	q.close()
}

// awaitWriter returns when no writer runs. q.mu must be held and is let go of
// meanwhile. Several may wait.
func (q *queue) awaitWriter() {
	if !q.writing {
		return
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	<-idle
	q.mu.Lock()
}

// unlockAndWrite unlocks q.mu and sees to it that a writer runs.
func (q *queue) unlockAndWrite() {
	start := !q.writing
	q.writing = true
	q.mu.Unlock()
	if start {
		go q.write()
	}
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
	if err := q.conn.SetWriteDeadline(time.Now().Add(q.limits.timeout)); err != nil {
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
