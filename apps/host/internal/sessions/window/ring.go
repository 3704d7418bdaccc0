package window

import "github.com/scorel/scorel/packages/protocol/api"

// Ring keeps the last events of one session, bounded in bytes, so that an entry
// that was away for a moment gets them again. The zero value is empty. One goroutine owns
// it.
type Ring struct {
	events []ringEvent
	size   int
}

type ringEvent struct {
	envelope api.EventEnvelope
	size     int
}

// Add keeps an event, whose seq is the next one, and drops the oldest where all together have
// more than api.RingBytes. size is that of its encoded form, in bytes.
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

// After returns the events with a seq over last, and whether they are all there
// are: false when some of them have left the ring. next is the seq of the next
// event to come.
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
