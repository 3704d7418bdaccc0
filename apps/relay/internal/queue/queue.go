// Package queue holds data to be sent on a connection or to another node: records
// of channels, and control frames. Queues are bounded, and adding to one never
// blocks.
//
// A reader puts all records that it has read in the queues of their receivers, gathers
// these queues in a Pending, and flushes it before it waits for more. A flush writes what
// the socket accepts at once. Only the rest needs a goroutine.
package queue

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Result says what happened to something put in a queue.
type Result int

// The results.
const (
	Queued        Result = iota
	Full                 // over a limit of the queue
	NoMemory             // the relay is short of memory, and this queue holds more than its share
	Closed               // the queue accepts nothing more
	ChannelClosed        // the queue accepts more, but not on this channel
)

type state int8

const (
	stateOpen      state = iota
	stateFinishing       // the last frames are in; the writer sends them and half-closes
	stateDone            // nothing is accepted
)

// Limits bounds a queue. A zero Timeout means none.
type Limits struct {
	Channel, Data, Total int           // bytes: records of one channel, all records, everything
	Timeout              time.Duration // of one write
}

// Bounds is what all queues of one kind share. It is safe for concurrent use.
type Bounds struct {
	limits atomic.Pointer[Limits]
	memory *memory.Account // nil means unlimited
}

// NewBounds returns bounds with the given limits. A nil account means unlimited memory.
func NewBounds(l Limits, m *memory.Account) *Bounds {
	b := &Bounds{memory: m}
	b.limits.Store(&l)
	return b
}

// SetLimits changes the limits; each queue adopts them when it is empty.
func (b *Bounds) SetLimits(l Limits) { b.limits.Store(&l) }

// Flow is one channel's place in a queue.
type Flow struct {
	Channel uint32       // the number that its records carry
	Closed  *atomic.Bool // set when the channel closes, before anything is queued about it

	// Guarded by Queue.mu: how many bytes of the channel wait.
	gen     uint64
	waiting int
}

// Queue holds what waits for one connection, in order, as bytes that are almost ready
// for the network: records and control frames are copied once, into borrowed chunks, and
// each chunk's frames leave with one write each. Records that wait together share one
// binary message.
//
// A writer goroutine exists only while something waits, so an idle connection has neither
// buffer nor writer. A Queue is safe for concurrent use after Init.
//
// In a chunk each frame has ws.HeaderRoom bytes in front of its payload. Until the header
// is written there, they hold the opcode and the payload's length.
type Queue struct {
	conn   Sink
	pool   *bufpool.Pool
	bounds *Bounds
	direct *direct     // nil if conn needs a writer
	gather bool        // the writer waits for goroutines that are about to put something in
	failed func(error) // called once by the writer when the network fails
	write  func()      // the writer's body, made once so that starting it does not allocate

	mu        sync.Mutex
	limits    *Limits // of the time when something began to wait
	chunks    [][]byte
	spare     [][]byte
	tail      int // offset of the last frame in the last chunk; -1 if that frame is complete
	waiting   int // bytes in chunks and with the writer
	held      int // the size of those chunks
	hint      int // bytes of the last batch: what the first chunk should hold
	gen       uint64
	state     state
	writing   bool
	pendingOf *Queue        // of the reader that put something in last and will flush
	idle      chan struct{} // made by a goroutine that waits for the writer to end

	// Owned by the writer: a batch that Flush could not finish.
	handed [][]byte
	rest   []byte // of its only frame
}

// Init makes the zero Queue usable. failed is called once, by the writer, when writing to
// conn fails.
func (q *Queue) Init(conn Sink, pool *bufpool.Pool, bounds *Bounds, failed func(error)) {
	q.conn, q.pool, q.bounds, q.limits, q.failed = conn, pool, bounds, bounds.limits.Load(), failed
	q.direct = newDirect(conn)
	q.write = q.writeLoop
	q.tail = -1
}

// Gather makes the writer let other goroutines run before it takes a batch, so that more
// records share one message. Call it before the first use.
func (q *Queue) Gather() { q.gather = true }

// renew adopts the current limits if nothing waits, so that a reload never affects what
// was queued under larger limits. q.mu must be held.
func (q *Queue) renew() {
	if q.waiting == 0 {
		q.limits = q.bounds.limits.Load()
	}
}

// add appends one record if the limits allow it. q.mu must be held.
func (q *Queue) add(to *Flow, payload []byte) Result {
	if q.state != stateOpen {
		return Closed
	}
	q.renew()
	if to.gen != q.gen { // the counted bytes were handed to the writer
		to.gen, to.waiting = q.gen, 0
	}
	n := wire.RecordHeaderLen + len(payload)
	if to.waiting+n > q.limits.Channel || q.waiting+n > q.limits.Data {
		return Full
	}
	if !q.room(ws.OpBinary, n) {
		return NoMemory
	}
	to.waiting += n
	last := &q.chunks[len(q.chunks)-1]
	*last = wire.AppendRecord(*last, to.Channel, payload)
	q.sealTail(n)
	return Queued
}

// Control queues a control frame or a ping. It may use room that records may not
// use, so that a peer with a full queue can still be notified.
func (q *Queue) Control(op ws.Op, payload []byte) Result {
	q.mu.Lock()
	if q.state != stateOpen {
		q.mu.Unlock()
		return Closed
	}
	q.renew()
	if q.waiting+len(payload) > q.limits.Total || !q.push(op, payload) {
		q.mu.Unlock()
		return Full
	}
	q.unlockAndWrite()
	return Queued
}

// Finish queues the last control frames and the close frame, regardless of the limits, and
// closes the queue for anything else.
func (q *Queue) Finish(frames [][]byte, closePayload []byte) {
	q.mu.Lock()
	if q.state != stateOpen {
		q.mu.Unlock()
		return
	}
	for _, frame := range frames {
		q.push(ws.OpText, frame) // if memory is short the peer gets no reason
	}
	q.push(ws.OpClose, closePayload)
	q.state = stateFinishing
	q.unlockAndWrite()
}

// Close discards what waits and returns when the writer has ended. The caller has closed
// the connection, or set a deadline on it.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = stateDone
	q.awaitWriter()
	q.giveBack(q.chunks)
	q.chunks = nil
}

// Drain returns when the writer has sent what Finish queued, and closes the queue.
func (q *Queue) Drain() {
	q.AwaitWriter()
	q.Close()
}

// AwaitWriter returns when no writer runs: what was queued before has been sent.
func (q *Queue) AwaitWriter() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.awaitWriter()
}

// awaitWriter returns when no writer runs. q.mu must be held; it is released while waiting.
// Several goroutines may wait.
func (q *Queue) awaitWriter() {
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

// unlockAndWrite unlocks q.mu and starts a writer if none runs.
func (q *Queue) unlockAndWrite() {
	start := !q.writing
	q.writing = true
	q.mu.Unlock()
	if start {
		go q.write()
	}
}
