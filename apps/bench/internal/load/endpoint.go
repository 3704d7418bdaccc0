// Package load puts relays under the same work and measures what comes back. It
// knows no relay: an Endpoint is one end of a connection to one, whatever it speaks.
//
// The work is an echo. The active ends keep a window of records under way on each
// of their links, the passive ends send back what they get. A record carries when
// it was sent and its number, so a lost, repeated or reordered one is found.
package load

// Handler takes a record from a peer of the endpoint. payload is good until it
// returns. Calls for one peer follow one another; those for different peers may
// overlap.
type Handler func(peer int, payload []byte) error

// Endpoint is one connection to a relay, or one party's share of it.
type Endpoint interface {
	// Peers is how many others this end can send to. They count from 0.
	Peers() int
	// Send queues one record and copies payload. Only the handler calls it, and
	// whoever calls Run before that.
	Send(peer int, payload []byte) error
	// Flush sends what is queued. Run flushes by itself what its handler sends, as
	// soon as nothing more has arrived.
	Flush() error
	// Run hands what arrives to handle until Close, and returns nil after it.
	Run(handle Handler) error
	Close() error
}

// Fleet is both sides of a work.
type Fleet struct {
	Hosts   []Endpoint
	Entries []Endpoint
}

// Close closes all endpoints.
func (f *Fleet) Close() {
	for _, side := range [][]Endpoint{f.Entries, f.Hosts} {
		for _, e := range side {
			_ = e.Close() // the run is over
		}
	}
}
