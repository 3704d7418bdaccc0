package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// farNode plays another node towards a real one, message by message.
type farNode struct {
	t     *testing.T
	relay *Relay
	node  bus.Node
	self  string
	got   chan bus.Message
}

func newFarNode(t *testing.T) *farNode {
	t.Helper()
	shared := bus.NewLocal()
	r, err := New(Config{Store: auditOnly{}, Bus: shared})
	if err != nil {
		t.Fatal(err)
	}
	f := &farNode{t: t, relay: r, self: "aaaaaaaaaaaaaaaa", got: make(chan bus.Message, 1000)}
	if f.node, err = shared.Attach(func(m bus.Message) { f.got <- m }); err != nil {
		t.Fatal(err)
	}
	if err := f.node.Subscribe(nodeSubject(f.self)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.node.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// auditOnly is a store in which nothing ever happened.
type auditOnly struct{ silentStore }

func (auditOnly) Audit(context.Context, int) ([]store.Event, error) { return nil, nil }

func (f *farNode) send(epoch uint32, seq uint64, op ws.Op, payload []byte) {
	f.t.Helper()
	m := binary.BigEndian.AppendUint32([]byte(f.self), epoch)
	m = binary.BigEndian.AppendUint64(m, seq)
	m = append(append(m, byte(op)), payload...)
	if err := f.node.Publish(nodeSubject(f.relay.cluster.self), m); err != nil {
		f.t.Fatal(err)
	}
}

func (f *farNode) next() trunkMessage {
	f.t.Helper()
	select {
	case m := <-f.got:
		parsed, err := parseTrunkMessage(m.Data)
		if err != nil {
			f.t.Fatal(err)
		}
		return parsed
	case <-time.After(10 * time.Second):
		f.t.Fatal("nothing came on the trunk")
		return trunkMessage{}
	}
}

func TestLostTrunkMessageIsFoundAndTold(t *testing.T) {
	f := newFarNode(t)
	f.send(1, 1, ws.OpPing, nil)
	f.send(1, 2, ws.OpPing, nil)
	f.send(1, 4, ws.OpPing, nil) // 3 was lost
	if m := f.next(); m.op != ws.OpClose || m.seq != 1 {
		t.Fatalf("got %+v", m)
	}
	f.send(1, 5, ws.OpBinary, wire.AppendRecord(nil, 7, []byte("for nobody")))
	if m := f.next(); m.op != ws.OpText || m.seq != 2 {
		t.Fatalf("got %+v", m)
	}
	if got := testutil.ToFloat64(f.relay.metrics.busGaps); got != 1 {
		t.Errorf("%v gaps counted", got)
	}
	// A new epoch begins to count anew, and the old one is over.
	f.send(2, 1, ws.OpPing, nil)
	f.send(1, 99, ws.OpPing, nil)
	f.send(2, 2, ws.OpBinary, wire.AppendRecord(nil, 8, []byte("for nobody")))
	m := f.next()
	frame, err := wire.DecodeControl(m.payload, wire.MaxControl)
	if err != nil {
		t.Fatal(err)
	}
	closed, ok := frame.(*wire.ChannelClosed)
	if !ok || closed.Channel != 8^fromHost || closed.Reason != wire.ReasonUnknownChannel {
		t.Fatalf("got %+v", frame)
	}
	if got := testutil.ToFloat64(f.relay.metrics.busGaps); got != 1 {
		t.Errorf("%v gaps counted", got)
	}
}

// However the records of several peers are mixed in what a node sent, each peer gets
// its own in order and with one write.
func TestRecordsOfATrunkMessageLeaveTogether(t *testing.T) {
	f := newFarNode(t)
	from := f.relay.cluster.trunk(f.self)
	const peers = maxTouched - 1
	var batch []byte
	want := make([][]byte, peers)
	for n := range 10 * peers {
		payload := []byte{byte(n), byte(n >> 8)}
		batch = wire.AppendRecord(batch, uint32(1+n%peers), payload)
		want[n%peers] = wire.AppendRecord(want[n%peers], 1, payload)
	}
	var conns []*conn
	got := make([]chan []message, peers)
	for i := range peers {
		near, far := tcpPair(t)
		c := newConn(f.relay, &ws.Upgraded{Conn: near}, netip.Addr{}, dialled{})
		f.relay.conns[c] = struct{}{}
		if _, err := joinHost(c, from, notice{Num: uint32(1 + i), Client: wire.Peer{ID: c.id}}); err != nil {
			t.Fatal(err)
		}
		conns, got[i] = append(conns, c), make(chan []message, 1)
		go func() { got[i] <- readMessages(t, far) }()
		c.out.mu.Lock()
		c.out.awaitWriter() // it has told of the channel
		c.out.mu.Unlock()
	}
	from.routeBatch(batch)
	for i, c := range conns {
		c.out.finish(nil, ws.ClosePayload(1000, "x"))
		c.out.drain()
		c.cut(wire.ReasonClosed)
		c.teardown()
		messages := <-got[i]
		if len(messages) != 3 || messages[0].op != ws.OpText || !bytes.Equal(messages[1].data, want[i]) {
			t.Errorf("peer %d got %d messages %v, want channel_opened, one with all its records, and a close", i, len(messages), messages)
		}
	}
}

// The name of a node makes a subject: a stranger on the bus must not choose any.
func TestOnlyNodesHaveTrunks(t *testing.T) {
	f := newFarNode(t)
	for _, name := range []string{"aaaaaaaaaaaaaaa*", "a.b.c.d.e.f.g.h.", "aaaaaaa\r\nPUB x ", "a", "AAAAAAAAAAAAAAAA"} {
		for _, kind := range []string{noticeBeat, noticeOpen, noticeCancel, noticeRedeem} {
			data, err := json.Marshal(notice{Kind: kind, Node: name, Num: 1})
			if err != nil {
				t.Fatal(err)
			}
			f.relay.heard(bus.Message{Subject: subjectNews, Data: data})
		}
		trunk := append([]byte((name + "****************")[:nodeIDLen]), make([]byte, trunkHeaderLen)...)
		f.relay.heard(bus.Message{Subject: nodeSubject(f.relay.cluster.self), Data: trunk})
	}
	if trunks := f.relay.cluster.trunks(); len(trunks) > 0 {
		t.Errorf("there are %d trunks, the first to %q", len(trunks), trunks[0].node)
	}
}

// What comes over the bus is no reason to fall over.
func FuzzHeard(f *testing.F) {
	beat, err := json.Marshal(notice{Kind: noticeBeat, Node: "aaaaaaaaaaaaaaab", Epoch: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(true, bytes.Repeat([]byte{'a'}, trunkHeaderLen))
	f.Add(true, append(append(bytes.Repeat([]byte{'a'}, nodeIDLen), make([]byte, trunkHeaderLen-1-nodeIDLen)...), byte(ws.OpText), '{', '}'))
	f.Add(true, append(append(append(bytes.Repeat([]byte{'a'}, nodeIDLen), make([]byte, trunkHeaderLen-1-nodeIDLen)...), byte(ws.OpBinary)), wire.AppendRecord(nil, 1, []byte("x"))...))
	f.Add(false, beat)
	f.Add(false, []byte(`{"kind":"open","node":"aaaaaaaaaaaaaaac","num":1}`))
	f.Add(false, []byte(`{"kind":"redeem","slot":"ABCD"}`))
	f.Add(false, []byte(`{"kind":"bound","slot":"ABCD"}`))
	r, err := New(Config{Store: auditOnly{}, Bus: bus.NewLocal()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(_ *testing.T, trunk bool, data []byte) {
		msg := bus.Message{Subject: subjectNews, Data: data}
		if trunk {
			msg.Subject = nodeSubject(r.cluster.self)
		}
		r.heard(msg)
		msg.Respond = func([]byte) error { return nil }
		r.heard(msg)
	})
}
