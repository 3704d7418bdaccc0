package channel

import (
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Side is a party at one end of a channel that is being opened.
type Side struct {
	Mux *Mux
	ID  ident.ID
	// Limit is how many channels a connection may have, and Opening how many more are
	// being opened for it. A trunk has no limit.
	Limit, Opening int
}

// FromHost is set in the channel numbers of what a trunk carries to the entry's node. The
// other direction uses the number that the entry's node chose.
const FromHost = 1 << 31

// ErrOffline is why a channel to a device that is not connected cannot be opened.
func ErrOffline() *wire.Error {
	return wire.Errorf(wire.KindDeviceOffline, "the device is not connected; start scorel on it or wait until it is back")
}

// CheckEntry returns an error if an entry may not open another channel.
func (s Side) CheckEntry() *wire.Error {
	s.Mux.mu.Lock()
	defer s.Mux.mu.Unlock()
	return s.entryLimit()
}

// entryLimit counts channels that are being opened as well. s.Mux.mu must be held.
func (s Side) entryLimit() *wire.Error {
	if n := len(s.Mux.ends) + s.Opening; n >= s.Limit {
		return wire.Errorf(wire.KindLimit, "this connection has %d channels open; close one first", n)
	}
	return nil
}

// hostLimit: s.Mux.mu must be held.
func (s Side) hostLimit() *wire.Error {
	if n := len(s.Mux.ends); n >= s.Limit {
		return wire.Errorf(wire.KindLimit, "the device has %d channels open; try again later", n)
	}
	return nil
}

// The functions below lock two Muxes, and only the loop that owns the routing state calls
// them, so the order of the locks does not matter. They hold both locks until both ends
// have been notified, so that no record overtakes channel_opened.

// Open opens a channel between two connections of this node.
func Open(entry, host Side, requestID string) *wire.Error {
	c, notified, err := open(entry, host, requestID)
	if err == nil {
		c.opened(notified)
	}
	return err
}

func open(entry, host Side, requestID string) (c *Channel, notified bool, err *wire.Error) {
	entry.Mux.mu.Lock()
	defer entry.Mux.mu.Unlock()
	host.Mux.mu.Lock()
	defer host.Mux.mu.Unlock()
	if err := entry.entryLimit(); err != nil {
		return nil, false, err
	}
	if err := host.hostLimit(); err != nil {
		return nil, false, err
	}
	c = new(Channel)
	c.init(entry, host, entry.Mux.next, host.Mux.next)
	// The host's queue decides: once it accepts nothing more, no channel may be added,
	// because the host's channels may have been closed already.
	if !host.Mux.sendOpened(&wire.ChannelOpened{Channel: c.host.Num(), PeerID: entry.ID}) {
		return nil, false, ErrOffline()
	}
	host.Mux.add(&c.host)
	entry.Mux.add(&c.entry)
	return c, c.notifyEntry(requestID), nil
}

// notifyEntry reports whether the entry's queue accepted channel_opened.
func (c *Channel) notifyEntry(requestID string) bool {
	return c.entry.mux.sendOpened(&wire.ChannelOpened{RequestID: requestID, Channel: c.entry.Num(), PeerID: c.host.id})
}

// opened counts an entry's channel. An entry that was not notified is cut: it is closing, or
// does not read.
func (c *Channel) opened(notified bool) {
	counters := c.entry.mux.metrics
	counters.Channels.Inc()
	counters.Opens.WithLabelValues(metrics.OK).Inc()
	if !notified {
		c.entry.mux.owner.Cut(wire.ReasonSlowConsumer)
		c.Close(wire.ReasonPeerGone, c.entry.mux)
	}
}

// OpenToNode adds the channel num of a trunk, which the host's node has opened, to the
// entry's connection.
func OpenToNode(entry, trunk Side, num uint32, requestID string) {
	c, notified := openToNode(entry, trunk, num, requestID)
	c.opened(notified)
}

func openToNode(entry, trunk Side, num uint32, requestID string) (c *Channel, notified bool) {
	entry.Mux.mu.Lock()
	defer entry.Mux.mu.Unlock()
	trunk.Mux.mu.Lock()
	defer trunk.Mux.mu.Unlock()
	c = new(Channel)
	c.init(entry, trunk, entry.Mux.next, num)
	entry.Mux.add(&c.entry)
	trunk.Mux.add(&c.host)
	return c, c.notifyEntry(requestID)
}

// OpenFromNode opens the channel num that another node asked for, between its trunk and
// the host's connection. Asking twice changes nothing.
func OpenFromNode(trunk, host Side, num uint32) *wire.Error {
	host.Mux.mu.Lock()
	defer host.Mux.mu.Unlock()
	trunk.Mux.mu.Lock()
	defer trunk.Mux.mu.Unlock()
	if err := host.hostLimit(); err != nil {
		return err
	}
	c := new(Channel)
	c.init(trunk, host, num|FromHost, host.Mux.next)
	if used := trunk.Mux.ends[c.entry.Num()]; used != nil {
		if used.other().mux == host.Mux {
			return nil
		}
		return wire.Errorf(wire.KindUnavailable, "the channel's number is in use; try again")
	}
	if !host.Mux.sendOpened(&wire.ChannelOpened{Channel: c.host.Num(), PeerID: trunk.ID}) {
		return ErrOffline()
	}
	host.Mux.add(&c.host)
	trunk.Mux.add(&c.entry)
	host.Mux.metrics.Channels.Inc()
	return nil
}
