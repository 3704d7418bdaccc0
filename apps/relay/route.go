package relay

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxStrays is how many channels that never were a peer may name before it is
// taken for broken.
const maxStrays = 64

// link is an open channel: two ports.
type link struct {
	entry, host port
	told        bool // the entry's queue took channel_opened
	closed      atomic.Bool
}

// port is one end of a link: a number on a connection.
type port struct {
	link *link
	conn *conn
	num  uint32

	// Guarded by conn.out.mu: what of this channel waits in conn's queue.
	gen     uint64
	waiting int
}

func (p *port) peer() *port {
	if p == &p.link.entry {
		return &p.link.host
	}
	return &p.link.entry
}

// routeBatch routes the whole records of a binary message that have arrived.
func (c *conn) routeBatch(ev ws.Event) error {
	data, records, payload := ev.Data, 0, 0
	for len(data) > 0 {
		if !ev.Fin && incomplete(data) {
			break
		}
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			return err
		}
		c.route(rec)
		records, payload = records+1, payload+len(rec.Payload)
		data = rest
	}
	c.reader.Discard(len(ev.Data) - len(data))
	if records > 0 {
		c.relay.metrics.records.Add(float64(records))
		c.relay.metrics.recordBytes.Add(float64(payload))
	}
	c.inBatch = c.inBatch || records > 0
	if ev.Fin && !c.inBatch {
		return wire.Errorf(wire.KindBadFrame, "binary message holds no record")
	}
	c.inBatch = c.inBatch && !ev.Fin
	return nil
}

// incomplete tells whether the rest of a record that may be good is still to come.
func incomplete(data []byte) bool {
	if len(data) < wire.RecordHeaderLen {
		return true
	}
	n := binary.BigEndian.Uint32(data[4:])
	return n <= wire.MaxRecordPayload && uint64(len(data)) < wire.RecordHeaderLen+uint64(n)
}

// route hands one record to the other end of its channel. Only the reader calls it.
func (c *conn) route(rec wire.Record) {
	from := c.last
	if from == nil || from.num != rec.Channel || from.link.closed.Load() {
		if from = c.port(rec.Channel); from == nil {
			c.stray(rec.Channel)
			return
		}
		c.last = from
	}
	to := from.peer()
	switch to.conn.out.record(to, rec.Payload) {
	case queueFull:
		c.relay.metrics.dropped.WithLabelValues(dropQueueFull).Inc()
		from.link.close(wire.ReasonSlowConsumer, nil)
	case queueClosed:
		c.relay.metrics.dropped.WithLabelValues(dropPeerGone).Inc()
	}
}

func (c *conn) port(num uint32) *port {
	c.portsMu.Lock()
	defer c.portsMu.Unlock()
	return c.ports[num]
}

// stray drops a record for a channel that is not open. One that was open closed
// a moment ago, and its channel_closed is under way. One that never was is
// answered once.
func (c *conn) stray(num uint32) {
	c.relay.metrics.dropped.WithLabelValues(dropNoChannel).Inc()
	c.last = nil
	if c.wasOpen(num) {
		return
	}
	if _, told := c.strays[num]; told {
		return
	}
	if len(c.strays) >= maxStrays {
		c.fail(wire.Errorf(wire.KindUnknownChannel, "records for too many channels that were never opened"))
		return
	}
	if c.strays == nil {
		c.strays = make(map[uint32]struct{})
	}
	c.strays[num] = struct{}{}
	c.tell(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonUnknownChannel})
}

func (c *conn) wasOpen(num uint32) bool {
	c.portsMu.Lock()
	defer c.portsMu.Unlock()
	return num > 0 && num < c.nextNum
}

// openLink opens a channel. The directory's goroutine calls it.
func openLink(entry, host *conn, requestID string) *wire.Error {
	l, err := joinPorts(entry, host, requestID)
	if err != nil {
		return err
	}
	entry.relay.metrics.channels.Inc()
	if !l.told { // it is closing, or has stopped to read
		entry.cut(wire.ReasonSlowConsumer)
		l.close(wire.ReasonPeerGone, entry)
	}
	return nil
}

// joinPorts adds a port to both ends and tells them. Only openLink calls it, so
// only one goroutine ever locks two connections. Both locks are held until both
// ends have been told, so that no record passes channel_opened.
func joinPorts(entry, host *conn, requestID string) (*link, *wire.Error) {
	limits := entry.relay.cfg.Limits
	entry.portsMu.Lock()
	defer entry.portsMu.Unlock()
	host.portsMu.Lock()
	defer host.portsMu.Unlock()
	switch {
	case len(entry.ports) >= limits.ChannelsPerEntry:
		return nil, wire.Errorf(wire.KindLimit, "this connection has %d channels open; close one first", len(entry.ports))
	case len(host.ports) >= limits.ChannelsPerHost:
		return nil, wire.Errorf(wire.KindLimit, "the device has %d channels open; try again later", len(host.ports))
	}
	l := &link{}
	l.entry = port{link: l, conn: entry, num: entry.nextNum}
	l.host = port{link: l, conn: host, num: host.nextNum}
	// The host's queue is the judge: once it takes nothing more, no link may be
	// added, because the host's links may have been closed already.
	if !host.tellOpened(&wire.ChannelOpened{Channel: l.host.num, PeerID: entry.id}) {
		return nil, wire.Errorf(wire.KindDeviceOffline, "the device is not connected; start scorel on it or wait until it is back")
	}
	host.addPort(&l.host)
	entry.addPort(&l.entry)
	l.told = entry.tellOpened(&wire.ChannelOpened{RequestID: requestID, Channel: l.entry.num, PeerID: host.id})
	return l, nil
}

// addPort makes a port usable. c.portsMu must be held.
func (c *conn) addPort(p *port) {
	if c.ports == nil {
		c.ports = make(map[uint32]*port, 1)
	}
	c.ports[p.num] = p
	c.nextNum = p.num + 1
}

// tellOpened queues channel_opened and reports whether it was taken. It must not
// cut the connection, whose ports are locked.
func (c *conn) tellOpened(f *wire.ChannelOpened) bool {
	data, err := wire.EncodeControl(f)
	return err == nil && c.out.control(ws.OpText, data) == queued
}

// close closes a channel for a reason. The first caller wins; by, which may be
// nil, is not told. Any goroutine may call it.
func (l *link) close(reason wire.Reason, by *conn) {
	if !l.closed.CompareAndSwap(false, true) {
		return
	}
	for _, p := range []*port{&l.entry, &l.host} {
		p.conn.removePort(p.num)
		if p.conn != by {
			p.conn.tell(&wire.ChannelClosed{Channel: p.num, Reason: reason})
		}
	}
	m := l.entry.conn.relay.metrics
	m.channels.Dec()
	m.channelEnds.WithLabelValues(string(reason)).Inc()
}

func (c *conn) removePort(num uint32) {
	c.portsMu.Lock()
	defer c.portsMu.Unlock()
	delete(c.ports, num)
}

// closeLinks closes all channels of a connection that ends.
func (c *conn) closeLinks(reason wire.Reason) {
	for _, l := range c.links() {
		l.close(reason, c)
	}
}

// closeLinksWith closes the channels to one peer and tells both ends.
func (c *conn) closeLinksWith(peer ident.ID, reason wire.Reason) {
	for _, l := range c.links() {
		if l.host.conn.id == peer || l.entry.conn.id == peer {
			l.close(reason, nil)
		}
	}
}

func (c *conn) links() []*link {
	c.portsMu.Lock()
	defer c.portsMu.Unlock()
	out := make([]*link, 0, len(c.ports))
	for _, p := range c.ports {
		out = append(out, p.link)
	}
	return out
}
