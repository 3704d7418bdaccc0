package relay

import (
	"encoding/binary"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxStrays is how many channels that never were a peer may name before it is
// taken for broken.
const maxStrays = 64

// routeBatch routes the whole records of a binary message that have arrived.
func (c *conn) routeBatch(ev ws.Event) error {
	data, records, payload := ev.Data, 0, 0
	by := touched{by: &c.lane}
	defer by.flush()
	for len(data) > 0 {
		if !ev.Fin && incomplete(data) {
			break
		}
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			return err
		}
		by.makeRoom()
		c.route(rec, &by)
		records, payload = records+1, payload+len(rec.Payload)
		data = rest
	}
	taken := len(ev.Data) - len(data)
	c.reader.Discard(taken)
	c.uncounted += taken
	if records > 0 {
		c.done.Add(1)
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
func (c *conn) route(rec wire.Record, by *touched) {
	from := c.last
	if from == nil || from.num != rec.Channel || from.link.closed.Load() {
		if from = c.port(rec.Channel); from == nil {
			c.stray(rec.Channel)
			return
		}
		c.last = from
	}
	to := from.peer()
	switch to.lane.out.record(to, rec.Payload, by) {
	case queueStarved:
		c.relay.metrics.dropped.WithLabelValues(dropMemory).Inc()
		from.link.close(wire.ReasonSlowConsumer, nil)
	case queueFull:
		c.relay.metrics.dropped.WithLabelValues(dropQueueFull).Inc()
		from.link.close(wire.ReasonSlowConsumer, nil)
	case queueClosed:
		c.relay.metrics.dropped.WithLabelValues(dropPeerGone).Inc()
	}
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
