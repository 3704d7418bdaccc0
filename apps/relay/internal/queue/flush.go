package queue

import "github.com/scorel/scorel/apps/relay/internal/ws"

// MaxPending is how many queues a Pending holds.
const MaxPending = 32

// Pending is the set of queues that a reader has put records in and not flushed. The
// reader calls MakeRoom before each Put and Flush before it waits for anything.
type Pending struct {
	Reader *Queue // identifies the reader: the queue of its own connection
	queues [MaxPending]*Queue
	n      int
}

// add adds a queue. q.mu must be held, and there must be room.
func (t *Pending) add(q *Queue) {
	if q.pendingOf == t.Reader {
		return
	}
	q.pendingOf = t.Reader
	t.queues[t.n] = q
	t.n++
}

// MakeRoom flushes if there is no room for another queue.
func (t *Pending) MakeRoom() {
	if t.n == MaxPending {
		t.Flush()
	}
}

// Flush sends what was put in the queues.
func (t *Pending) Flush() {
	for _, q := range t.queues[:t.n] {
		q.flush()
	}
	t.n = 0
}

// flush writes what the network accepts at once and leaves the rest to a writer.
func (q *Queue) flush() {
	q.mu.Lock()
	q.pendingOf = nil
	if q.writing || len(q.chunks) == 0 || q.state == stateDone {
		q.mu.Unlock()
		return
	}
	if q.direct == nil || !q.oneFrame() {
		q.unlockAndWrite()
		return
	}
	q.writing = true
	batch := q.takeBatch()
	q.mu.Unlock()
	frame := finishFrame(batch[0], len(batch[0])-ws.HeaderRoom)
	if n := q.direct.write(frame); n < len(frame) {
		q.handed, q.rest = batch, frame[n:]
		go q.write()
		return
	}
	q.done(batch, len(batch[0]))
	q.mu.Lock()
	if len(q.chunks) > 0 || q.state == stateFinishing {
		q.mu.Unlock()
		go q.write() // for what was added in the meantime, which found a writer
		return
	}
	q.writerEnded()
	q.mu.Unlock()
}

// oneFrame reports whether exactly one frame waits. q.mu must be held.
func (q *Queue) oneFrame() bool { return len(q.chunks) == 1 && q.tail == 0 }
