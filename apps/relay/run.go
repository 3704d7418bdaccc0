package relay

import (
	"encoding/binary"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// run is a stretch of whole records on one channel, as they came. What a peer wrote
// at once for one receiver is put in that one's queue at once: under one lock, and
// so that no writer takes a part of it.
type run struct {
	channel uint32
	data    []byte // the records with their headers
	records int
}

// payload is the size of what the records carry, in bytes.
func (r run) payload() int { return len(r.data) - r.records*wire.RecordHeaderLen }

// nextRun splits the first run off a batch and returns the rest. A batch that does
// not begin with a good record is an error.
func nextRun(batch []byte) (r run, rest []byte, err error) {
	first, rest, err := wire.NextRecord(batch)
	if err != nil {
		return run{}, nil, err
	}
	r = run{channel: first.Channel, records: 1}
	for len(rest) >= wire.RecordHeaderLen && binary.BigEndian.Uint32(rest) == r.channel {
		_, after, err := wire.NextRecord(rest)
		if err != nil {
			break // the next call tells, or more is still to come
		}
		rest = after
		r.records++
	}
	r.data = batch[:len(batch)-len(rest)]
	return r, rest, nil
}

// run queues the records of a run for the connection on to's channel, as far as they
// may wait, and returns how many it took. They leave when the caller flushes by.
func (q *queue) run(to *port, r run, by *touched) (taken int, v verdict) {
	q.mu.Lock()
	for data := r.data; v == queued && len(data) > 0; {
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			break // a run has only good ones
		}
		if v = q.add(to, rec.Payload); v == queued {
			taken++
		}
		data = rest
	}
	if taken > 0 {
		by.add(q)
	}
	q.mu.Unlock()
	return taken, v
}

// carry puts a run in the queue of the port's other end. What does not fit closes
// the channel.
func (p *port) carry(r run, by *touched) {
	to := p.peer()
	taken, v := to.lane.out.run(to, r, by)
	if v == queued {
		return
	}
	dropped := to.lane.relay.metrics.dropped
	missed := float64(r.records - taken)
	switch v {
	case queueStarved:
		dropped.WithLabelValues(dropMemory).Add(missed)
		p.link.close(wire.ReasonSlowConsumer, nil)
	case queueFull:
		dropped.WithLabelValues(dropQueueFull).Add(missed)
		p.link.close(wire.ReasonSlowConsumer, nil)
	case queueClosed:
		dropped.WithLabelValues(dropPeerGone).Add(missed)
	}
}
