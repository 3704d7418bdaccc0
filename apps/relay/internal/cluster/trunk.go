package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Trunk carries the channels between this node and another, and the frames of pairings,
// over the bus. It has a bounded queue like a peer's connection: a full one closes the
// channel with slow_consumer and no other.
//
// A channel has one number on a trunk, which the entry's node chose when it asked. Records
// to that node carry the number with channel.FromHost set, so that the numbers of both
// nodes stay apart.
//
// On the bus a message is
//
//	sender [16]byte | epoch u32 | seq u64 | op u8 | payload
//
// where op and payload are those of a WebSocket message: records in a batch, a control
// frame, an empty ping, or a close. seq counts by one, so a lost message is noticed at the
// next one, at the latest at the next ping.
type Trunk struct {
	channel.Mux
	cluster *Cluster
	node    string
	epoch   uint32
}

// trunkHeaderLen is the size of what precedes a payload.
const trunkHeaderLen = nodeIDLen + 4 + 8 + 1

func newTrunk(c *Cluster, node string, epoch uint32) *Trunk {
	t := &Trunk{cluster: c, node: node, epoch: epoch}
	t.Init(t, c.Log, c.Metrics)
	sink := &busSink{cluster: c, subject: NodeSubject(node), header: binary.BigEndian.AppendUint32([]byte(c.self), epoch)}
	t.Out.Init(sink, c.Pool, c.Queues, func(error) { c.fail(epoch) })
	t.Out.Gather()
	return t
}

// Node is the name of the node at the other end.
func (t *Trunk) Node() string { return t.node }

// Epoch is the epoch of this node that the trunk belongs to.
func (t *Trunk) Epoch() uint32 { return t.epoch }

// Side is a party on the other node, as one end of a channel.
func (t *Trunk) Side(id ident.ID) channel.Side { return channel.Side{Mux: &t.Mux, ID: id} }

// Cut is called when not even a control frame fits. As when the bus fails, the epoch ends.
func (t *Trunk) Cut(wire.Reason) { t.cluster.fail(t.epoch) }

// shut closes the channels. With goodbye it also asks the other node to close its
// ends.
func (t *Trunk) shut(goodbye bool) {
	end := t.Out.Close
	if goodbye {
		t.Out.Finish(nil, nil)
		end = t.Out.Drain
	}
	t.cluster.tasks.Go(end)
	t.CloseAll(wire.ReasonPeerGone)
}

// busSink is where the queue of a trunk writes. The queue has one writer at a time.
type busSink struct {
	cluster *Cluster
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
	if err := s.cluster.node.Publish(s.subject, s.buf); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// SetWriteDeadline does nothing: the bus bounds how long a publication takes.
func (s *busSink) SetWriteDeadline(time.Time) error { return nil }

// Close does nothing: the bus outlives a trunk.
func (s *busSink) Close() error { return nil }

// trunkMessage is a message from another node.
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
		return trunkMessage{}, errors.New("the sender is not a valid node id")
	}
	rest := data[nodeIDLen:]
	return trunkMessage{
		node:  string(data[:nodeIDLen]),
		epoch: binary.BigEndian.Uint32(rest), seq: binary.BigEndian.Uint64(rest[4:]),
		op: ws.Op(rest[12]), payload: rest[13:],
	}, nil
}

// receiveTrunk handles a message of another node on a trunk. Only Receive calls it.
func (c *Cluster) receiveTrunk(data []byte) {
	m, err := parseTrunkMessage(data)
	if err != nil {
		c.Log.Error("another node's trunk message cannot be read", "error", err)
		return
	}
	if !c.ObserveNode(m.node, m.epoch) {
		return
	}
	if !c.inOrder(m.node, m.seq) {
		c.Metrics.BusGaps.Inc()
		c.Log.Warn("the bus lost messages of another node; channels with it close", "node", m.node)
		c.resync(m.node)
	}
	t := c.Trunk(m.node)
	switch m.op {
	case ws.OpBinary:
		t.routeBatch(m.payload)
	case ws.OpText:
		t.control(m.payload)
	case ws.OpClose:
		t.CloseAll(wire.ReasonPeerGone)
		c.Handler.NodeLost(m.node)
	}
}

// routeBatch queues the records of another node for peers of this one.
func (t *Trunk) routeBatch(data []byte) {
	records, payload := 0, 0
	pending := queue.Pending{Reader: &t.Out}
	defer pending.Flush()
	for len(data) > 0 {
		g, rest, err := queue.NextGroup(data)
		if err != nil {
			t.cluster.Log.Error("another node's record cannot be read", "node", t.node, "error", err)
			break
		}
		data = rest
		records, payload = records+g.Records, payload+g.Payload()
		if to := t.receiver(g, &pending); to != nil {
			pending.MakeRoom()
			to.Carry(g, &pending)
		}
	}
	t.cluster.Metrics.RemoteRecords.Add(float64(records))
	t.cluster.Metrics.RemoteBytes.Add(float64(payload))
}

// receiver returns the end that a group arrives at. The first record of a channel may
// overtake the answer that opens it. A record for a channel that is not open makes the
// other node close its end. pending is flushed before anything is waited for.
func (t *Trunk) receiver(g queue.Group, pending *queue.Pending) *channel.End {
	num := g.Channel ^ channel.FromHost
	if end := t.End(num); end != nil {
		return end
	}
	pending.Flush()
	t.cluster.Handler.CompleteOpening(num, t.node)
	if end := t.End(num); end != nil {
		return end
	}
	t.cluster.Metrics.Dropped.WithLabelValues(metrics.DropNoChannel).Add(float64(g.Records))
	t.Send(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonUnknownChannel})
	return nil
}

// control handles a control frame of another node.
func (t *Trunk) control(data []byte) {
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		t.cluster.Log.Error("another node's frame cannot be read", "node", t.node, "error", err)
		return
	}
	if f, ok := frame.(*wire.ChannelClosed); ok {
		t.channelClosed(f)
		return
	}
	t.cluster.Handler.TrunkFrame(t, frame)
}

func (t *Trunk) channelClosed(f *wire.ChannelClosed) {
	num := f.Channel ^ channel.FromHost
	end := t.End(num)
	if end == nil { // it may have overtaken the answer that opens the channel
		t.cluster.Handler.CompleteOpening(num, t.node)
		end = t.End(num)
	}
	if end != nil {
		end.Close(remoteReason(f.Reason), &t.Mux)
	}
}

// Cancel closes the channel num that this node opened for an entry of the other node, whose
// node gave up.
func (t *Trunk) Cancel(num uint32) {
	if end := t.End(num | channel.FromHost); end != nil {
		end.Close(wire.ReasonPeerGone, &t.Mux)
	}
}

// remoteReason replaces a reason that only concerns two nodes by one that peers know.
func remoteReason(reason wire.Reason) wire.Reason {
	if reason == wire.ReasonUnknownChannel {
		return wire.ReasonPeerGone
	}
	return reason
}
