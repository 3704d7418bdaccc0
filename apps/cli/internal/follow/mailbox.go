package follow

import (
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// mailbox passes events from the reader of a connection to its owner. The reader never
// blocks, because it also delivers the responses that the owner waits for.
type mailbox struct {
	ready chan struct{} // holds one token if there may be something to take

	mu     sync.Mutex
	events []api.EventEnvelope
}

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

func (m *mailbox) put(event api.EventEnvelope) {
	m.mu.Lock()
	m.events = append(m.events, event)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take returns everything that has arrived.
func (m *mailbox) take() []api.EventEnvelope {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.events
	m.events = nil
	return events
}
