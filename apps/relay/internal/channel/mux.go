package channel

import (
	"log/slog"
	"sync"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Owner is what a Mux belongs to: the connection of a peer, or the trunk to another node.
type Owner interface {
	// Cut ends the owner without a goodbye. It must not block.
	Cut(reason wire.Reason)
}

// Mux carries numbered channels: the ends of channels on one connection or trunk, and the
// queue of what is sent there. It is safe for concurrent use after Init.
type Mux struct {
	Out queue.Queue

	owner   Owner
	log     *slog.Logger
	metrics *metrics.Metrics

	mu   sync.Mutex
	ends map[uint32]*End
	next uint32 // numbers below it were used; a trunk does not use it
}

// Init makes the zero Mux usable. The caller initializes Out.
func (m *Mux) Init(owner Owner, log *slog.Logger, counters *metrics.Metrics) {
	m.owner, m.log, m.metrics, m.next = owner, log, counters, 1
}

// Send queues a control frame.
func (m *Mux) Send(f wire.Frame) {
	data, err := wire.EncodeControl(f)
	if err != nil {
		m.log.Error("encoding a control frame", "type", f.FrameType(), "error", err)
		return
	}
	m.Put(ws.OpText, data)
}

// Put queues a whole frame. A peer that does not even read its control frames is cut.
func (m *Mux) Put(op ws.Op, data []byte) {
	if m.Out.Control(op, data) == queue.Full {
		m.owner.Cut(wire.ReasonSlowConsumer)
	}
}

// End returns the end of the channel with a number, or nil if none is open.
func (m *Mux) End(num uint32) *End {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends[num]
}

// WasOpen reports whether a channel of a connection had this number at some time.
func (m *Mux) WasOpen(num uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return num > 0 && num < m.next
}

// add makes an end usable. m.mu must be held.
func (m *Mux) add(e *End) {
	if m.ends == nil {
		m.ends = make(map[uint32]*End, 1)
	}
	m.ends[e.flow.Channel] = e
	m.next = e.flow.Channel + 1
}

func (m *Mux) remove(num uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ends, num)
}

// sendOpened queues channel_opened and reports whether the queue accepted it. It must not
// cut the owner, because m.mu is held.
func (m *Mux) sendOpened(f *wire.ChannelOpened) bool {
	data, err := wire.EncodeControl(f)
	return err == nil && m.Out.Control(ws.OpText, data) == queue.Queued
}

// Channels returns the open channels.
func (m *Mux) Channels() []*Channel {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]*Channel, 0, len(m.ends))
	for _, e := range m.ends {
		out = append(out, e.channel)
	}
	return out
}

// CloseAll closes all channels of a Mux that ends. Its own peer is not notified.
func (m *Mux) CloseAll(reason wire.Reason) {
	for _, c := range m.Channels() {
		c.Close(reason, m)
	}
}

// CloseWith closes the channels to one peer and tells both ends.
func (m *Mux) CloseWith(peer ident.ID, reason wire.Reason) {
	for _, c := range m.Channels() {
		if c.host.id == peer || c.entry.id == peer {
			c.Close(reason, nil)
		}
	}
}
