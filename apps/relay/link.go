package relay

import (
	"sync/atomic"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// link is an open channel: two ports.
type link struct {
	entry, host port
	told        bool // the entry's queue took channel_opened
	closed      atomic.Bool
}

// port is one end of a link: a number on a lane.
type port struct {
	link *link
	lane *lane
	num  uint32
	id   ident.ID // the party at this end

	// Guarded by lane.out.mu: what of this channel waits in lane's queue.
	gen     uint64
	waiting int
}

func (p *port) peer() *port {
	if p == &p.link.entry {
		return &p.link.host
	}
	return &p.link.entry
}

// openLink opens a channel. The directory's goroutine calls it.
func openLink(entry, host *conn, requestID string) *wire.Error {
	l, err := joinPorts(entry, host, requestID)
	if err != nil {
		return err
	}
	entry.relay.metrics.channels.Inc()
	entry.relay.metrics.opens.WithLabelValues(resultOK).Inc()
	if !l.told { // it is closing, or has stopped to read
		entry.cut(wire.ReasonSlowConsumer)
		l.close(wire.ReasonPeerGone, &entry.lane)
	}
	return nil
}

// joinPorts adds a port to both ends and tells them. Only the directory's
// goroutine ever locks two lanes. Both locks are held until both ends have been
// told, so that no record passes channel_opened.
func joinPorts(entry, host *conn, requestID string) (*link, *wire.Error) {
	entry.portsMu.Lock()
	defer entry.portsMu.Unlock()
	host.portsMu.Lock()
	defer host.portsMu.Unlock()
	if err := entry.roomForEntryPort(); err != nil {
		return nil, err
	}
	if err := host.roomForHostPort(); err != nil {
		return nil, err
	}
	l := &link{}
	l.entry = port{link: l, lane: &entry.lane, num: entry.nextNum, id: entry.id}
	l.host = port{link: l, lane: &host.lane, num: host.nextNum, id: host.id}
	// The host's queue is the judge: once it takes nothing more, no link may be
	// added, because the host's links may have been closed already.
	if !host.tellOpened(&wire.ChannelOpened{Channel: l.host.num, PeerID: entry.id}) {
		return nil, errOffline()
	}
	host.addPort(&l.host)
	entry.addPort(&l.entry)
	l.told = entry.tellOpened(&wire.ChannelOpened{RequestID: requestID, Channel: l.entry.num, PeerID: host.id})
	return l, nil
}

func errOffline() *wire.Error {
	return wire.Errorf(wire.KindDeviceOffline, "the device is not connected; start scorel on it or wait until it is back")
}

// roomForEntryPort counts what is being opened as well. c.portsMu must be held.
func (c *conn) roomForEntryPort() *wire.Error {
	if n := len(c.ports) + c.opening; n >= c.relay.limits().ChannelsPerEntry {
		return wire.Errorf(wire.KindLimit, "this connection has %d channels open; close one first", n)
	}
	return nil
}

// roomForHostPort: c.portsMu must be held.
func (c *conn) roomForHostPort() *wire.Error {
	if n := len(c.ports); n >= c.relay.limits().ChannelsPerHost {
		return wire.Errorf(wire.KindLimit, "the device has %d channels open; try again later", n)
	}
	return nil
}

// close closes a channel for a reason. The first caller wins; by, which may be
// nil, is not told. Any goroutine may call it.
func (l *link) close(reason wire.Reason, by *lane) {
	if !l.closed.CompareAndSwap(false, true) {
		return
	}
	for _, p := range []*port{&l.entry, &l.host} {
		p.lane.removePort(p.num)
		if p.lane != by {
			p.lane.tell(&wire.ChannelClosed{Channel: p.num, Reason: reason})
		}
	}
	m := l.entry.lane.relay.metrics
	m.channels.Dec()
	m.channelEnds.WithLabelValues(string(reason)).Inc()
}
