package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// stub is a Handler that records what happens.
type stub struct {
	mu      sync.Mutex
	heard   []Notice
	lost    []string // nodes
	gone    []string
	checks  int
	closed  int // how many times all channels were closed
	refresh int
	fail    error // of every check

	changed chan struct{} // signaled after each call
}

func (h *stub) note(f func()) {
	h.mu.Lock()
	f()
	h.mu.Unlock()
	wake(h.changed)
}

func (h *stub) HandleNotice(n Notice)             { h.note(func() { h.heard = append(h.heard, n) }) }
func (h *stub) Answer(n Notice) Reply             { return Reply{OK: n.Kind == NoticeWhere, Node: n.Node} }
func (h *stub) CompleteOpening(uint32, string)    {}
func (h *stub) TrunkFrame(t *Trunk, f wire.Frame) { t.Send(f) }
func (h *stub) NodeLost(node string)              { h.note(func() { h.lost = append(h.lost, node) }) }
func (h *stub) NodeGone(node string)              { h.note(func() { h.gone = append(h.gone, node) }) }
func (h *stub) RefreshPresence()                  { h.note(func() { h.refresh++ }) }
func (h *stub) AnnounceLogins()                   {}
func (h *stub) CloseChannels()                    { h.note(func() { h.closed++ }) }
func (h *stub) CheckBindings() (err error) {
	h.note(func() { h.checks++; err = h.fail })
	return err
}

// await returns when a condition holds.
func (h *stub) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		h.mu.Lock()
		ok := holds()
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-h.changed:
		case <-deadline:
			t.Fatalf("%s: did not happen", what)
		}
	}
}

func newTestCluster(alone bool) (*Cluster, *stub) {
	h := &stub{changed: make(chan struct{}, 1)}
	limits := queue.Limits{Channel: 1 << 20, Data: 1 << 22, Total: 1 << 23}
	c := New(Config{
		Handler: h, Log: slog.New(slog.DiscardHandler), Metrics: metrics.New(nil), Pool: new(bufpool.Pool),
		Queues: queue.NewBounds(limits, nil), Alone: alone,
	})
	return c, h
}

// farNode plays another node towards a real one, message by message.
type farNode struct {
	t       *testing.T
	cluster *Cluster
	handler *stub
	node    bus.Node
	self    string
	got     chan bus.Message
}

func newFarNode(t *testing.T) *farNode {
	t.Helper()
	shared := bus.NewLocal()
	c, h := newTestCluster(false)
	if err := c.Join(shared); err != nil {
		t.Fatal(err)
	}
	f := &farNode{t: t, cluster: c, handler: h, self: "aaaaaaaaaaaaaaaa", got: make(chan bus.Message, 1000)}
	var err error
	if f.node, err = shared.Attach(func(m bus.Message) { f.got <- m }); err != nil {
		t.Fatal(err)
	}
	if err := f.node.Subscribe(NodeSubject(f.self)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.node.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *farNode) send(epoch uint32, seq uint64, op ws.Op, payload []byte) {
	f.t.Helper()
	m := binary.BigEndian.AppendUint32([]byte(f.self), epoch)
	m = binary.BigEndian.AppendUint64(m, seq)
	m = append(append(m, byte(op)), payload...)
	if err := f.node.Publish(NodeSubject(f.cluster.self), m); err != nil {
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
	case <-time.After(time.Minute):
		f.t.Fatal("nothing came on the trunk")
		return trunkMessage{}
	}
}

// begins reads the first message of a trunk of the epoch.
func (f *farNode) begins(epoch uint32) {
	f.t.Helper()
	if m := f.next(); m.op != ws.OpPing || m.epoch != epoch || m.seq != 1 {
		f.t.Fatalf("a trunk of epoch %d began with %+v", epoch, m)
	}
}

func TestLostTrunkMessageIsFoundAndTold(t *testing.T) {
	f := newFarNode(t)
	f.send(1, 1, ws.OpPing, nil)
	f.send(1, 2, ws.OpPing, nil)
	f.send(1, 4, ws.OpPing, nil) // 3 was lost
	f.begins(1)
	if m := f.next(); m.op != ws.OpClose || m.seq != 2 {
		t.Fatalf("got %+v", m)
	}
	f.send(1, 5, ws.OpBinary, wire.AppendRecord(nil, 7, []byte("for nobody")))
	if m := f.next(); m.op != ws.OpText || m.seq != 3 {
		t.Fatalf("got %+v", m)
	}
	if got := testutil.ToFloat64(f.cluster.Metrics.BusGaps); got != 1 {
		t.Errorf("%v gaps counted", got)
	}
	// A new epoch starts counting again, and the old one is over.
	f.send(2, 1, ws.OpPing, nil)
	f.send(1, 99, ws.OpPing, nil)
	f.send(2, 2, ws.OpBinary, wire.AppendRecord(nil, 8, []byte("for nobody")))
	if m := f.next(); m.op != ws.OpPing || m.seq != 4 {
		t.Fatalf("the other node, which begins an epoch and expects any seq, was sent %+v", m)
	}
	m := f.next()
	frame, err := wire.DecodeControl(m.payload, wire.MaxControl)
	if err != nil {
		t.Fatal(err)
	}
	closed, ok := frame.(*wire.ChannelClosed)
	if !ok || closed.Channel != 8^channel.FromHost || closed.Reason != wire.ReasonUnknownChannel {
		t.Fatalf("got %+v", frame)
	}
	if got := testutil.ToFloat64(f.cluster.Metrics.BusGaps); got != 1 {
		t.Errorf("%v gaps counted", got)
	}
}

// What a node counts when the epoch of this one ends is not known here: one that lost sight of
// this node begins again, the others go on. Neither costs a channel that is opened afterwards.
func TestAfterAnEpochAnySeqMayFollow(t *testing.T) {
	for name, seq := range map[string]uint64{"the other node begins again": 1, "it goes on": 3, "messages were lost meanwhile": 9} {
		t.Run(name, func(t *testing.T) {
			f := newFarNode(t)
			f.send(1, 1, ws.OpPing, nil)
			f.send(1, 2, ws.OpPing, nil)
			f.begins(1)
			f.cluster.happened(BeatFailed, errors.New("the bus is away"))
			f.send(1, seq, ws.OpPing, nil)
			f.begins(2)
			f.send(1, seq+1, ws.OpPing, nil)
			if got := testutil.ToFloat64(f.cluster.Metrics.BusGaps); got != 0 {
				t.Errorf("%v gaps counted", got)
			}
			f.send(1, seq+3, ws.OpPing, nil) // one was lost
			if m := f.next(); m.op != ws.OpClose || m.epoch != 2 {
				t.Fatalf("got %+v", m)
			}
		})
	}
}

// A relay without memory for the first message of a trunk ends the epoch. It waits for nothing.
func TestATrunkBeginsWithoutMemory(t *testing.T) {
	c, _ := newTestCluster(false)
	c.Queues = queue.NewBounds(queue.Limits{Channel: 1 << 20, Data: 1 << 22, Total: 1 << 23}, memory.New(c.Pool, 0))
	c.Trunk("aaaaaaaaaaaaaaaa")
	if s := c.State(); s.Trunks != Broken {
		t.Errorf("the state is %+v", s)
	}
}

// A node that received no heartbeats during an outage does not take the other nodes for gone.
func TestSilenceIsExcusedAfterAnOutage(t *testing.T) {
	c, _ := newTestCluster(false) // not connected, so that no beat comes between
	const other = "aaaaaaaaaaaaaaaa"
	c.ObserveNode(other, 1)
	c.happened(BeatFailed, errors.New("the bus is away"))
	c.nodes[other].seen = time.Now().Add(-2 * nodeTimeout)
	c.happened(BeatSent, nil)
	if silent := c.silentNodes(); len(silent) > 0 {
		t.Error("the other node was given no time to send a heartbeat")
	}
	c.nodes[other].seen = time.Now().Add(-2 * nodeTimeout)
	c.happened(BeatSent, nil)
	if silent := c.silentNodes(); len(silent) != 1 {
		t.Error("the silence of the other node was not noticed")
	}
}

// However the records of several peers are mixed in what a node sent, each peer gets its
// own in order and with one write.
func TestRecordsOfATrunkMessageLeaveTogether(t *testing.T) {
	f := newFarNode(t)
	from := f.cluster.Trunk(f.self)
	const peers = queue.MaxPending - 1
	var batch []byte
	want := make([][]byte, peers)
	for n := range 10 * peers {
		payload := []byte{byte(n), byte(n >> 8)}
		batch = wire.AppendRecord(batch, uint32(1+n%peers), payload)
		want[n%peers] = wire.AppendRecord(want[n%peers], 1, payload)
	}
	var muxes []*host
	got := make([]chan []wstest.Message, peers)
	for i := range peers {
		near, far := wstest.TCPPair(t)
		h := newHost(f.cluster, near)
		side := channel.Side{Mux: &h.Mux, Limit: 1}
		if err := channel.OpenFromNode(from.Side(ident.NewID(ident.KindClient, ident.Public{})), side, uint32(1+i)); err != nil {
			t.Fatal(err)
		}
		muxes, got[i] = append(muxes, h), make(chan []wstest.Message, 1)
		go func() { got[i] <- wstest.ReadMessages(t, far) }()
		h.Out.AwaitWriter() // the host has been notified of the channel
	}
	from.routeBatch(batch)
	for i, h := range muxes {
		h.Out.Finish(nil, ws.ClosePayload(1000, "x"))
		h.Out.Drain()
		_ = h.socket.Close() // the reader sees the end
		messages := <-got[i]
		if len(messages) != 3 || messages[0].Op != ws.OpText || !bytes.Equal(messages[1].Data, want[i]) {
			t.Errorf("peer %d got %d messages %v, want channel_opened, one with all its records, and a close", i, len(messages), messages)
		}
	}
}

// host is the connection of a host.
type host struct {
	channel.Mux
	socket net.Conn
}

func (h *host) Cut(wire.Reason) { _ = h.socket.Close() } // the reader sees the end

func newHost(c *Cluster, socket net.Conn) *host {
	h := &host{socket: socket}
	h.Init(h, c.Log, c.Metrics)
	h.Out.Init(socket, c.Pool, queue.NewBounds(queue.Limits{Channel: 1 << 20, Data: 1 << 20, Total: 1 << 20, Timeout: time.Minute}, nil), func(error) {})
	return h
}

// The name of a node makes a subject: a stranger on the bus must not choose any.
func TestOnlyNodesHaveTrunks(t *testing.T) {
	f := newFarNode(t)
	for _, name := range []string{"aaaaaaaaaaaaaaa*", "a.b.c.d.e.f.g.h.", "aaaaaaa\r\nPUB x ", "a", "AAAAAAAAAAAAAAAA"} {
		for _, kind := range []string{NoticeBeat, NoticeOpen, NoticeCancel, NoticeRedeem} {
			data, err := json.Marshal(Notice{Kind: kind, Node: name, Num: 1})
			if err != nil {
				t.Fatal(err)
			}
			f.cluster.Receive(bus.Message{Subject: SubjectNews, Data: data})
		}
		trunk := append([]byte((name + "****************")[:nodeIDLen]), make([]byte, trunkHeaderLen)...)
		f.cluster.Receive(bus.Message{Subject: NodeSubject(f.cluster.self), Data: trunk})
	}
	if trunks := f.cluster.trunks(); len(trunks) > 0 {
		t.Errorf("there are %d trunks, the first to %q", len(trunks), trunks[0].node)
	}
}

// TestWhatFollowsFromTheState drives a cluster whose bus and store fail.
func TestWhatFollowsFromTheState(t *testing.T) {
	f := newFarNode(t)
	h := f.handler
	h.await(t, "the first check", func() bool { return h.checks > 0 })
	h.note(func() { h.fail = errors.New("store is away") })
	f.cluster.Receive(bus.Message{Lost: true})
	h.await(t, "closing the channels", func() bool { return h.closed == 1 })
	if s := f.cluster.State(); !s.Blind || s.Bindings != Missed {
		t.Errorf("messages were lost and the store fails: %+v", s)
	}
	h.note(func() { h.fail = nil })
	f.cluster.CheckNow()
	h.await(t, "seeing again", func() bool { return f.cluster.State() == State{} })
	h.await(t, "asking for devices, and channels closed once", func() bool { return h.refresh > 0 && h.closed == 1 })
}

// TestAFullOutboxAnnouncesNews: notices that do not fit are not lost silently.
func TestAFullOutboxAnnouncesNews(t *testing.T) {
	c, _ := newTestCluster(false) // not connected, so that nothing leaves
	for range maxOutbox + 1 {
		c.Publish(SubjectNews, Notice{Kind: NoticeRevoked})
	}
	if c.Waiting() != maxOutbox || c.news != 1 {
		t.Errorf("%d notices wait, news %d", c.Waiting(), c.news)
	}
	c.Subscribe(SubjectNodes)
	if c.Waiting() != maxOutbox+1 {
		t.Error("a subscription was dropped")
	}
}

// TestATrunkThatBreaksEndsItsEpoch: only one of the current epoch does.
func TestATrunkThatBreaksEndsItsEpoch(t *testing.T) {
	f := newFarNode(t)
	f.send(1, 1, ws.OpPing, nil)
	f.handler.await(t, "the first check", func() bool { return f.handler.checks > 0 })
	f.cluster.fail(9)
	if s := f.cluster.State(); s.Trunks != Whole {
		t.Errorf("a trunk of another epoch: %+v", s)
	}
	old := f.cluster.Trunk(f.self)
	old.Cut(wire.ReasonSlowConsumer)
	f.handler.await(t, "the end of the epoch", func() bool { return slices.Contains(f.handler.lost, f.self) })
	if next := f.cluster.Trunk(f.self); next == old || next.Epoch() != 2 {
		t.Errorf("the trunk of epoch %d continues", next.Epoch())
	}
	if s := f.cluster.State(); s != (State{}) {
		t.Errorf("after the beat: %+v", s)
	}
}
