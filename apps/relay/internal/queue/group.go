package queue

import (
	"encoding/binary"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// Group is consecutive whole records on one channel, as they arrived. Records that a peer
// wrote together are queued together: under one lock, and so that no writer takes a part
// of them.
type Group struct {
	Channel uint32
	Data    []byte // the records with their headers
	Records int
}

// Payload is the size of what the records carry, in bytes.
func (g Group) Payload() int { return len(g.Data) - g.Records*wire.RecordHeaderLen }

// NextGroup splits the first group off a batch of records and returns the rest. A batch
// that does not begin with a valid record is an error.
func NextGroup(batch []byte) (g Group, rest []byte, err error) {
	first, rest, err := wire.NextRecord(batch)
	if err != nil {
		return Group{}, nil, err
	}
	g = Group{Channel: first.Channel, Records: 1}
	for len(rest) >= wire.RecordHeaderLen && binary.BigEndian.Uint32(rest) == g.Channel {
		_, after, err := wire.NextRecord(rest)
		if err != nil {
			break // invalid, which the next call reports, or incomplete
		}
		rest = after
		g.Records++
	}
	g.Data = batch[:len(batch)-len(rest)]
	return g, rest, nil
}

// Put queues the records of a group on a channel, as far as the limits allow, and returns
// how many it queued. They leave when the caller flushes pending.
//
// A closed channel accepts none, so that no record follows channel_closed: closing a
// channel sets Flow.Closed first and queues the frame afterwards, under the same lock.
func (q *Queue) Put(to *Flow, g Group, pending *Pending) (n int, r Result) {
	q.mu.Lock()
	if to.Closed.Load() {
		q.mu.Unlock()
		return 0, ChannelClosed
	}
	for data := g.Data; r == Queued && len(data) > 0; {
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			break // a group has only valid records
		}
		if r = q.add(to, rec.Payload); r == Queued {
			n++
		}
		data = rest
	}
	if n > 0 {
		pending.add(q)
	}
	q.mu.Unlock()
	return n, r
}
