package window

import "github.com/scorel/scorel/packages/protocol/api"

// Ring buffers the last events of a session, bounded in bytes, so that an entry that was
// briefly disconnected can catch up. The zero value is empty. One goroutine owns it.
type Ring struct {
	events []ringEvent
	size   int
}

type ringEvent struct {
	envelope api.EventEnvelope
	size     int
}

// Add appends an event, whose seq must be the next one, and drops the oldest events while the
// total exceeds api.RingBytes. size is the length of the event's encoded form, in bytes.
func (r *Ring) Add(envelope api.EventEnvelope, size int) {
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

// After returns the events with a seq greater than last; false if the ring no longer holds all
// of them. next is the seq of the next event.
func (r *Ring) After(last, next uint64) ([]api.EventEnvelope, bool) {
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
