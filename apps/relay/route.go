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
		r, rest, err := nextRun(data)
		if err != nil {
			return err
		}
		by.makeRoom()
		c.route(r, &by)
		records, payload = records+r.records, payload+r.payload()
		data = rest
	}
	taken := len(ev.Data) - len(data)
	c.reader.Discard(taken)
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

// route hands a run to the other end of its channel. Only the reader calls it.
func (c *conn) route(r run, by *touched) {
	from := c.last
	if from == nil || from.num != r.channel || from.link.closed.Load() {
		if from = c.port(r.channel); from == nil {
			c.stray(r)
			return
		}
		c.last = from
	}
	from.carry(r, by)
}

// stray drops records for a channel that is not open. One that was open closed
// a moment ago, and its channel_closed is under way. One that never was is
// answered once.
func (c *conn) stray(r run) {
	num := r.channel
	c.relay.metrics.dropped.WithLabelValues(dropNoChannel).Add(float64(r.records))
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
