package relay

import "github.com/scorel/scorel/apps/relay/internal/ws"

// maxTouched is how many receivers a reader writes to together.
const maxTouched = 32

// touched are the queues that a reader has put records in and not flushed. Whoever
// adds to it flushes before it waits for anything.
type touched struct {
	by     *lane // the reader's own
	queues [maxTouched]*queue
	n      int
}

// add takes a queue in. q.mu must be held, and there must be room.
func (t *touched) add(q *queue) {
	if q.touchedBy == t.by {
		return
	}
	q.touchedBy = t.by
	t.queues[t.n] = q
	t.n++
}

// makeRoom flushes when there is no room for another queue.
func (t *touched) makeRoom() {
	if t.n == maxTouched {
		t.flush()
	}
}

// flush sees to it that what was put in the queues leaves.
func (t *touched) flush() {
	for _, q := range t.queues[:t.n] {
		q.flush()
	}
	t.n = 0
}

// flush writes what waits as far as the network takes it at once, and leaves the
// rest to a writer.
func (q *queue) flush() {
	q.mu.Lock()
	q.touchedBy = nil
	if q.writing || len(q.chunks) == 0 || q.state == queueDone {
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
	if len(q.chunks) > 0 || q.state == queueFinishing {
		q.mu.Unlock()
		go q.write() // it writes on, as what was put in meanwhile found a writer
		return
	}
	q.writerEnded()
	q.mu.Unlock()
}

// oneFrame tells whether all that waits is one frame. q.mu must be held.
func (q *queue) oneFrame() bool { return len(q.chunks) == 1 && q.tail == 0 }
