package sessions

import "github.com/scorel/scorel/packages/protocol/api"

// ring keeps the last events of one session, bounded in bytes, so that an entry
// that was away for a moment gets them again.
type ring struct {
	events []ringEvent
	size   int
}

type ringEvent struct {
	envelope api.EventEnvelope
	size     int
}

func (r *ring) add(envelope api.EventEnvelope, size int) {
	r.events = append(r.events, ringEvent{envelope, size})
	r.size += size
	drop := 0
	for r.size > api.RingBytes && drop < len(r.events) {
		r.size -= r.events[drop].size
		r.events[drop] = ringEvent{}
		drop++
	}
	r.events = r.events[drop:]
}

// after returns the events with a seq over last, and whether they are all there
// are: false when some of them have left the ring. next is the seq of the next
// event to come.
func (r *ring) after(last, next uint64) ([]api.EventEnvelope, bool) {
	if last+1 == next {
		return []api.EventEnvelope{}, true
	}
	if last >= next || len(r.events) == 0 || r.events[0].envelope.Seq > last+1 {
		return nil, false
	}
	skip := int(last + 1 - r.events[0].envelope.Seq)
	events := make([]api.EventEnvelope, 0, len(r.events)-skip)
	for _, e := range r.events[skip:] {
		events = append(events, e.envelope)
	}
	return events, true
}
