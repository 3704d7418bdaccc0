// Package channel connects an entry and a host through a relay. A channel has two ends,
// each of which has a number on the Mux of its peer's connection, or on that of the trunk
// to the peer's node. What arrives at one end is queued for the other.
package channel

import (
	"sync/atomic"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Channel is an open channel.
type Channel struct {
	entry, host End
	closed      atomic.Bool
}

// End is one end of a channel.
type End struct {
	channel *Channel
	mux     *Mux
	id      ident.ID   // the party at this end
	flow    queue.Flow // its number, and what of the channel waits in the queue of mux
}

func (c *Channel) init(entry, host Side, entryNum, hostNum uint32) {
	c.entry = End{channel: c, mux: entry.Mux, id: entry.ID, flow: queue.Flow{Channel: entryNum, Closed: &c.closed}}
	c.host = End{channel: c, mux: host.Mux, id: host.ID, flow: queue.Flow{Channel: hostNum, Closed: &c.closed}}
}

// Num is the number of the channel at this end.
func (e *End) Num() uint32 { return e.flow.Channel }

// Closed reports whether the channel has closed.
func (e *End) Closed() bool { return e.channel.closed.Load() }

// Close closes the channel for a reason. The first call wins. The end of the caller's own
// Mux is not notified; nil notifies both. Any goroutine may call it.
func (e *End) Close(reason wire.Reason, by *Mux) { e.channel.Close(reason, by) }

func (e *End) other() *End {
	if e == &e.channel.entry {
		return &e.channel.host
	}
	return &e.channel.entry
}

// Carry queues a group that arrived at this end for the other end. It closes the channel
// if the group does not fit.
func (e *End) Carry(g queue.Group, pending *queue.Pending) {
	to := e.other()
	n, result := to.mux.Out.Put(&to.flow, g, pending)
	if result == queue.Queued {
		return
	}
	dropped := to.mux.metrics.Dropped
	missed := float64(g.Records - n)
	switch result {
	case queue.NoMemory:
		dropped.WithLabelValues(metrics.DropMemory).Add(missed)
		e.channel.Close(wire.ReasonSlowConsumer, nil)
	case queue.Full:
		dropped.WithLabelValues(metrics.DropQueueFull).Add(missed)
		e.channel.Close(wire.ReasonSlowConsumer, nil)
	case queue.ChannelClosed:
		dropped.WithLabelValues(metrics.DropNoChannel).Add(missed)
	case queue.Closed:
		dropped.WithLabelValues(metrics.DropPeerGone).Add(missed)
	}
}

// Close is End.Close.
func (c *Channel) Close(reason wire.Reason, by *Mux) {
	if !c.closed.CompareAndSwap(false, true) {
		return
	}
	for _, e := range []*End{&c.entry, &c.host} {
		e.mux.remove(e.flow.Channel)
		if e.mux != by {
			e.mux.Send(&wire.ChannelClosed{Channel: e.flow.Channel, Reason: reason})
		}
	}
	counters := c.entry.mux.metrics
	counters.Channels.Dec()
	counters.ChannelEnds.WithLabelValues(string(reason)).Inc()
}
