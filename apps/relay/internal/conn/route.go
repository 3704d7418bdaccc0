package conn

import (
	"encoding/binary"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxStrays is how many channels that were never open a peer may name before it is treated
// as broken.
const maxStrays = 64

// routeBatch routes the complete records of a binary message that have arrived.
func (c *Conn) routeBatch(ev ws.Event) error {
	data, records, payload := ev.Data, 0, 0
	pending := queue.Pending{Reader: &c.Out}
	defer pending.Flush()
	for len(data) > 0 {
		if !ev.Fin && incomplete(data) {
			break
		}
		g, rest, err := queue.NextGroup(data)
		if err != nil {
			return err
		}
		pending.MakeRoom()
		c.route(g, &pending)
		records, payload = records+g.Records, payload+g.Payload()
		data = rest
	}
	c.reader.Discard(len(ev.Data) - len(data))
	if records > 0 {
		c.done.Add(1)
		c.env.Metrics.Records.Add(float64(records))
		c.env.Metrics.RecordBytes.Add(float64(payload))
	}
	c.inBatch = c.inBatch || records > 0
	if ev.Fin && !c.inBatch {
		return wire.Errorf(wire.KindBadFrame, "binary message contains no record")
	}
	c.inBatch = c.inBatch && !ev.Fin
	return nil
}

// incomplete reports whether the rest of a record that may be valid has not arrived.
func incomplete(data []byte) bool {
	if len(data) < wire.RecordHeaderLen {
		return true
	}
	n := binary.BigEndian.Uint32(data[4:])
	return n <= wire.MaxRecordPayload && uint64(len(data)) < wire.RecordHeaderLen+uint64(n)
}

// route queues a group for the other end of its channel. Only the reader calls it.
func (c *Conn) route(g queue.Group, pending *queue.Pending) {
	from := c.last
	if from == nil || from.Num() != g.Channel || from.Closed() {
		if from = c.End(g.Channel); from == nil {
			c.stray(g)
			return
		}
		c.last = from
	}
	from.Carry(g, pending)
}

// stray drops records for a channel that is not open. If the channel was open, it
// has just closed and its channel_closed is on its way. Otherwise the peer is
// notified once.
func (c *Conn) stray(g queue.Group) {
	num := g.Channel
	c.env.Metrics.Dropped.WithLabelValues(metrics.DropNoChannel).Add(float64(g.Records))
	c.last = nil
	if c.WasOpen(num) {
		return
	}
	if _, answered := c.strays[num]; answered {
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
	c.Send(&wire.ChannelClosed{Channel: num, Reason: wire.ReasonUnknownChannel})
}
