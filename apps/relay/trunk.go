package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A trunk carries the channels between this node and another, and the frames of
// pairings, over the bus. It is a lane like that of a peer, with the same bounded
// queue: a full one closes the channel with slow_consumer and no other.
//
// A channel has one number on a trunk: the one that the entry's node drew when it
// asked. What goes back to that node carries it with fromHost set, so that the
// numbers of both nodes stay apart.
//
// On the bus a message is
//
//	sender [16]byte | epoch u32 | seq u64 | op u8 | payload
//
// where op and payload are those of a WebSocket message: records in a batch, a
// control frame, an empty ping, or a close. seq counts by one, so a message that
// the bus lost is found by the next, at the latest by the next ping.
type trunk struct {
	lane
	node  string
	epoch uint32
}

// fromHost is set in the channel numbers of what goes to the entry's node.
const fromHost = 1 << 31

// trunkHeaderLen is the size of what stands in front of a payload.
const trunkHeaderLen = nodeIDLen + 4 + 8 + 1

func newTrunk(c *cluster, node string, epoch uint32) *trunk {
	t := &trunk{lane: lane{relay: c.relay}, node: node, epoch: epoch}
	t.owner = t
	sink := &busSink{cluster: c, subject: nodeSubject(node), header: binary.BigEndian.AppendUint32([]byte(c.self), epoch)}
	t.out.init(sink, c.relay.pool, c.relay.trunkQueues, func(error) { c.fail(epoch) })
	t.out.gather = true
	return t
}

// cut is what happens when not even a control frame fits: as when the bus fails,
// all that goes between nodes begins anew.
func (t *trunk) cut(wire.Reason) { t.relay.cluster.fail(t.epoch) }

// shut closes the channels. With a goodbye the other node closes its ends as well.
func (t *trunk) shut(goodbye bool) {
	end := t.out.close
	if goodbye {
		t.out.finish(nil, nil)
		end = t.out.drain
	}
	t.relay.tasks.Go(end)
	t.closeLinks(wire.ReasonPeerGone)
}

// busSink is where the queue of a trunk writes. The queue has one writer at a time.
type busSink struct {
	cluster *cluster
	subject string
	header  []byte // sender and epoch
	seq     uint64
	buf     []byte
}

// Write publishes one frame without its WebSocket header.
func (s *busSink) Write(frame []byte) (int, error) {
	op, payload := frame[0]&0x0f, frame[2:]
	switch frame[1] {
	case 126:
		payload = frame[4:]
	case 127:
		payload = frame[10:]
	}
	s.seq++
	s.buf = append(s.buf[:0], s.header...)
	s.buf = binary.BigEndian.AppendUint64(s.buf, s.seq)
	s.buf = append(s.buf, op)
	s.buf = append(s.buf, payload...)
	if err := s.cluster.relay.node.Publish(s.subject, s.buf); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// SetWriteDeadline does nothing: the bus bounds how long a publication takes.
func (s *busSink) SetWriteDeadline(time.Time) error { return nil }

// Close does nothing: the bus outlives a trunk.
func (s *busSink) Close() error { return nil }

// trunkMessage is what another node sent.
type trunkMessage struct {
	node    string
	epoch   uint32
	seq     uint64
	op      ws.Op
	payload []byte
}

func parseTrunkMessage(data []byte) (trunkMessage, error) {
	if len(data) < trunkHeaderLen {
		return trunkMessage{}, fmt.Errorf("message of %d bytes, want at least %d", len(data), trunkHeaderLen)
	}
	if !isNode(string(data[:nodeIDLen])) {
		return trunkMessage{}, errors.New("the sender has no name of a node")
	}
	rest := data[nodeIDLen:]
	return trunkMessage{
		node:  string(data[:nodeIDLen]),
		epoch: binary.BigEndian.Uint32(rest), seq: binary.BigEndian.Uint64(rest[4:]),
		op: ws.Op(rest[12]), payload: rest[13:],
	}, nil
}

// hearTrunk handles what another node sent on a trunk. Only the bus's handler
// calls it.
func (c *cluster) hearTrunk(data []byte) {
	m, err := parseTrunkMessage(data)
	if err != nil {
		c.relay.log.Error("trunk message of another node cannot be read", "error", err)
		return
	}
	if !c.hearNode(m.node, m.epoch) {
		return
	}
	if !c.inOrder(m.node, m.seq) {
		c.relay.metrics.busGaps.Inc()
		c.relay.log.Warn("the bus lost what another node sent, closing the channels with it", "node", m.node)
		c.resync(m.node)
	}
	t := c.trunk(m.node)
	switch m.op {
	case ws.OpBinary:
		t.routeBatch(m.payload)
	case ws.OpText:
		t.control(m.payload)
	case ws.OpClose:
		t.closeLinks(wire.ReasonPeerGone)
		c.relay.dir.lostNode(m.node)
	}
}

// routeBatch hands the records of another node to the peers of this one.
func (t *trunk) routeBatch(data []byte) {
	records, payload := 0, 0
	by := touched{by: &t.lane}
	defer by.flush()
	for len(data) > 0 {
		r, rest, err := nextRun(data)
		if err != nil {
			t.relay.log.Error("record of another node cannot be read", "node", t.node, "error", err)
			break
		}
		data = rest
		records, payload = records+r.records, payload+r.payload()
		if to := t.receiver(r, &by); to != nil {
			by.makeRoom()
			to.carry(r, &by)
		}
	}
	t.relay.metrics.remoteRecords.Add(float64(records))
	t.relay.metrics.remoteBytes.Add(float64(payload))
}

// receiver finds the port that a run is for. The first record of a channel may
// overtake the answer that opens it; one for a channel that is not open makes the
// other node close its end. by is flushed before anything is waited for.
func (t *trunk) receiver(r run, by *touched) *port {
	num := r.channel ^ fromHost
	if p := t.port(num); p != nil {
		return p
	}
	by.flush()
	_ = t.relay.dir.do(func() { t.relay.dir.completeOpening(num, t.node) }) // a stopped directory has none
	if p := t.port(num); p != nil {
		return p
	}
	t.relay.metrics.dropped.WithLabelValues(dropNoChannel).Add(float64(r.records))
	t.tell(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonUnknownChannel})
	return nil
}

// control handles a control frame of another node.
func (t *trunk) control(data []byte) {
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		t.relay.log.Error("frame of another node cannot be read", "node", t.node, "error", err)
		return
	}
	if f, ok := frame.(*wire.ChannelClosed); ok {
		t.channelClosed(f)
		return
	}
	_ = t.relay.dir.do(func() { t.relay.dir.pairFrame(t, frame) }) // a stopped directory has nobody to tell
}

func (t *trunk) channelClosed(f *wire.ChannelClosed) {
	num := f.Channel ^ fromHost
	p := t.port(num)
	if p == nil { // it may have overtaken the answer that opens the channel
		_ = t.relay.dir.do(func() { t.relay.dir.completeOpening(num, t.node) }) // a stopped directory has none
		p = t.port(num)
	}
	if p != nil {
		p.link.close(remoteReason(f.Reason), &t.lane)
	}
}

// remoteReason makes what only concerns two nodes something that a peer knows.
func remoteReason(reason wire.Reason) wire.Reason {
	if reason == wire.ReasonUnknownChannel {
		return wire.ReasonPeerGone
	}
	return reason
}
