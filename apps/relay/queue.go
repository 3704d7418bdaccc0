package relay

import (
	"sync"
	"sync/atomic"
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

// queueLimits bounds a queue. It is replaced as a whole, never changed.
type queueLimits struct {
	channel, data, total int           // bytes
	timeout              time.Duration // for one write
}

// queueBounds is what all queues of one kind share.
type queueBounds struct {
	limits atomic.Pointer[queueLimits] // those of now
	memory *memory                     // of the relay; nil is without bound
}

func newQueueBounds(l queueLimits, m *memory) *queueBounds {
	b := &queueBounds{memory: m}
	b.limits.Store(&l)
	return b
}

func (l Limits) ofQueues() queueLimits {
	return queueLimits{channel: l.ChannelQueue, data: l.Queue, total: l.Queue + l.ControlRoom, timeout: l.WriteTimeout}
}

// ofTrunkQueues has no timeout: the bus bounds how long a publication takes.
func (l Limits) ofTrunkQueues() queueLimits {
	return queueLimits{channel: l.ChannelQueue, data: trunkShare * l.Queue, total: trunkShare*l.Queue + l.ControlRoom}
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
	bounds *queueBounds
	direct *direct     // nil when conn cannot do without a writer
	gather bool        // the writer lets all who are about to put something in go first
	failed func(error) // called once by the writer when the network fails
	write  func()      // the writer's body, made once so that starting it allocates nothing

	mu        sync.Mutex
	limits    *queueLimits // those of when something began to wait
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

func (q *queue) init(conn sink, pool *bufpool.Pool, bounds *queueBounds, failed func(error)) {
	q.conn, q.pool, q.bounds, q.limits, q.failed = conn, pool, bounds, bounds.limits.Load(), failed
	q.direct = newDirect(conn)
	q.write = q.writeLoop
	q.tail = -1
}

// renew takes the limits of now when nothing waits. What waits under larger ones may
// leave first: a reload cuts nobody. q.mu must be held.
func (q *queue) renew() {
	if q.waiting == 0 {
		q.limits = q.bounds.limits.Load()
	}
}

// add appends one record, if it may. q.mu must be held.
func (q *queue) add(to *port, payload []byte) verdict {
	if q.state != queueOpen {
		return queueClosed
	}
	q.renew()
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
	q.renew()
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
