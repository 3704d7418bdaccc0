package channel

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// cuts is an Owner that records why it was cut.
type cuts struct{ reasons []wire.Reason }

func (c *cuts) Cut(reason wire.Reason) { c.reasons = append(c.reasons, reason) }

type end struct {
	Mux
	owner cuts
	near  net.Conn
	far   net.Conn
}

// newEnd returns a Mux that writes to a pipe.
func newEnd(counters *metrics.Metrics) *end {
	e := new(end)
	e.near, e.far = net.Pipe()
	bounds := queue.NewBounds(queue.Limits{Channel: 1 << 20, Data: 1 << 20, Total: 1 << 20, Timeout: time.Minute}, nil)
	e.Init(&e.owner, slog.New(slog.DiscardHandler), counters)
	e.Out.Init(e.near, new(bufpool.Pool), bounds, func(error) {})
	return e
}

func (e *end) side(kind ident.Kind, limit int) Side {
	return Side{Mux: &e.Mux, ID: ident.NewID(kind, ident.Public{}), Limit: limit}
}

// finish ends the queue and returns all messages of it.
func (e *end) finish(t *testing.T) []wstest.Message {
	t.Helper()
	e.Out.Finish(nil, ws.ClosePayload(1000, "x"))
	go func() {
		synctest.Wait()
		_ = e.near.Close() // the reader below sees the end
	}()
	got := wstest.ReadMessages(t, e.far)
	e.Out.Close()
	return got
}

func carry(from *End, reader *end, payload string) {
	pending := queue.Pending{Reader: &reader.Out}
	from.Carry(queue.Group{Channel: from.Num(), Data: wire.AppendRecord(nil, from.Num(), []byte(payload)), Records: 1}, &pending)
	pending.Flush()
}

// TestNoRecordFollowsChannelClosed has a reader that found a channel open and is held up
// until the channel has closed: what it then queues is dropped.
func TestNoRecordFollowsChannelClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := metrics.New(nil)
		entry, host := newEnd(counters), newEnd(counters)
		go io.Copy(io.Discard, host.far)
		if err := Open(entry.side(ident.KindClient, 1), host.side(ident.KindDevice, 1), "r"); err != nil {
			t.Fatal(err)
		}
		from := host.End(1)
		from.Close(wire.ReasonSlowConsumer, &host.Mux)
		carry(from, host, "late")

		got := entry.finish(t)
		if len(got) != 3 || got[0].Op != ws.OpText || got[1].Op != ws.OpText || got[2].Op != ws.OpClose {
			t.Errorf("the entry got %d messages, want channel_opened, channel_closed and the end: %v", len(got), got)
		}
		_ = host.near.Close() // ends the writer
		host.Out.Close()
	})
}

func TestRecordsReachTheOtherEndUnderItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := metrics.New(nil)
		entry, host, other := newEnd(counters), newEnd(counters), newEnd(counters)
		go io.Copy(io.Discard, entry.far)
		go io.Copy(io.Discard, other.far)
		for _, e := range []*end{other, entry} { // the second channel has number 2 at the host
			if err := Open(e.side(ident.KindClient, 1), host.side(ident.KindDevice, 2), "r"); err != nil {
				t.Fatal(err)
			}
		}
		if err := Open(entry.side(ident.KindClient, 1), host.side(ident.KindDevice, 3), "r"); err == nil || err.Kind != wire.KindLimit {
			t.Errorf("an entry over its limit: %v", err)
		}
		if err := Open(newEnd(counters).side(ident.KindClient, 1), host.side(ident.KindDevice, 2), "r"); err == nil || err.Kind != wire.KindLimit {
			t.Errorf("a host over its limit: %v", err)
		}
		carry(entry.End(1), entry, "hello")
		got := host.finish(t)
		var records []byte
		for _, m := range got {
			if m.Op == ws.OpBinary {
				records = append(records, m.Data...)
			}
		}
		if !bytes.Equal(records, wire.AppendRecord(nil, 2, []byte("hello"))) {
			t.Errorf("the host got %q", records)
		}
		for _, e := range []*end{entry, other} {
			_ = e.near.Close() // ends the writer
			e.Out.Close()
		}
	})
}

// TestNodesNumberTheirDirections opens both halves of a channel between two nodes.
func TestNodesNumberTheirDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := metrics.New(nil)
		entry, toHost := newEnd(counters), newEnd(counters) // on the entry's node
		host, toEntry := newEnd(counters), newEnd(counters) // on the host's node
		for range 2 {                                       // a question is repeated when its answer is lost
			if err := OpenFromNode(toEntry.side(ident.KindClient, 0), host.side(ident.KindDevice, 2), 7); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(host.Channels()); n != 1 {
			t.Errorf("asking twice opened %d channels", n)
		}
		if err := OpenFromNode(toEntry.side(ident.KindClient, 0), entry.side(ident.KindDevice, 2), 7); err == nil || err.Kind != wire.KindUnavailable {
			t.Errorf("a number in use: %v", err)
		}
		OpenToNode(entry.side(ident.KindClient, 1), toHost.side(ident.KindDevice, 0), 7, "r")
		if toEntry.End(7|FromHost) == nil || toHost.End(7) == nil || entry.End(1) == nil || host.End(1) == nil {
			t.Error("an end is missing")
		}
		for _, e := range []*end{entry, toHost, host, toEntry} {
			_ = e.near.Close() // ends the writer
			e.Out.Close()
		}
	})
}
