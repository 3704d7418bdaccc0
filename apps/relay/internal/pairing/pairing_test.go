package pairing

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/conn/conntest"
	"github.com/scorel/scorel/apps/relay/internal/directory"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// world is a node whose peers can do nothing but pair.
type world struct {
	*Registry
	env *conn.Env
}

func (w *world) Proves(string, authority.Dialed) bool { return true }
func (w *world) Login(c *conn.Conn, _ string) error   { return w.Directory.Login(c) }
func (w *world) Handle(c *conn.Conn, f wire.Frame) {
	switch f := f.(type) {
	case *wire.CreatePairSession:
		w.Create(c, f)
	case *wire.RedeemPair:
		w.Redeem(c, f)
	case *wire.PairMessage:
		w.PassMessage(c, f)
	case *wire.PairAccept:
		w.Accept(c, f)
	case *wire.PairReject:
		w.Reject(c, f)
	}
}
func (w *world) Leave(c *conn.Conn) {
	_ = w.Loop.Do(func() { // stopped last
		w.Registry.Leave(c)
		w.Directory.Leave(c)
	})
}
func (w *world) Closed(*conn.Conn) {}

func (w *world) HandleNotice(cluster.Notice)           {}
func (w *world) Answer(cluster.Notice) cluster.Reply   { return cluster.Reply{} }
func (w *world) CompleteOpening(uint32, string)        {}
func (w *world) TrunkFrame(*cluster.Trunk, wire.Frame) {}
func (w *world) NodeGone(string)                       {}
func (w *world) CheckBindings() error                  { return nil }
func (w *world) RefreshPresence()                      {}
func (w *world) AnnounceLogins()                       {}
func (w *world) CloseChannels()                        {}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	env := conntest.NewEnv(limits.Limits{})
	w := &world{env: env}
	env.Handler = w
	lp := loop.Start()
	c := cluster.New(cluster.Config{Handler: w, Log: env.Log, Metrics: env.Metrics, Pool: env.Pool, Queues: env.Queues, Alone: true})
	st := &directory.Store{Store: db, Log: env.Log, Metrics: env.Metrics, Timeout: func() time.Duration { return 5 * time.Second }}
	dir := directory.New(directory.Config{Loop: lp, Cluster: c, Store: st, Log: env.Log, Metrics: env.Metrics, Memory: env.Memory, Limits: env.Limits})
	w.Registry = New(Config{
		Loop: lp, Cluster: c, Directory: dir, Store: st, Log: env.Log, Metrics: env.Metrics, Guards: env.Guards, Limits: env.Limits,
	})
	if err := c.Join(bus.NewLocal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		dir.Wait()
		w.Wait()
		lp.Stop()
		w.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) dial(t *testing.T, kind ident.Kind) *conntest.Peer {
	t.Helper()
	p := conntest.Dial(t, w.env, kind)
	conntest.Next[wire.Welcome](p)
	return p
}

// joined returns two sides of a pairing that know each other, and its slot.
func (w *world) joined(t *testing.T) (device, client *conntest.Peer, slot string) {
	t.Helper()
	device, client = w.dial(t, ident.KindDevice), w.dial(t, ident.KindClient)
	device.Send(&wire.CreatePairSession{RequestID: "c"})
	slot = conntest.Next[wire.PairSession](device).Slot
	client.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
	if f := conntest.Next[wire.PairJoined](client); f.RequestID != "r" || f.Peer.ID != device.ID {
		t.Errorf("the redeemer got %+v", f)
	}
	if f := conntest.Next[wire.PairJoined](device); f.Peer.ID != client.ID {
		t.Errorf("the creator got %+v", f)
	}
	return device, client, slot
}

func TestBothSidesAcceptAndAreBound(t *testing.T) {
	w := newWorld(t)
	device, client, slot := w.joined(t)
	device.Send(&wire.PairMessage{Slot: slot, Body: []byte("nonce")})
	if f := conntest.Next[wire.PairMessage](client); string(f.Body) != "nonce" {
		t.Errorf("the message is %q", f.Body)
	}
	client.Send(&wire.PairAccept{Slot: slot})
	device.Send(&wire.PairAccept{Slot: slot})
	conntest.Next[wire.PairComplete](device)
	conntest.Next[wire.PairComplete](client)
	if f := conntest.Next[wire.DeviceOnline](client); f.DeviceID != device.ID {
		t.Errorf("%s came online", f.DeviceID)
	}
	ctx, cancel := w.Store.Context()
	defer cancel()
	if bound, err := w.Store.Bindings(ctx, device.ID); err != nil || len(bound) != 1 || bound[0].ID != client.ID {
		t.Errorf("the store has %v: %v", bound, err)
	}
	client.Send(&wire.RedeemPair{RequestID: "again", Slot: slot})
	client.Refused(wire.KindPairUnknown)
}

func TestHowAPairingEndsWithoutABinding(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(device, client *conntest.Peer, slot string)
		kind wire.Kind
	}{
		"one side rejects": {func(_, client *conntest.Peer, slot string) { client.Send(&wire.PairReject{Slot: slot}) }, wire.KindBadProof},
		"one side leaves":  {func(_, client *conntest.Peer, _ string) { client.Close() }, wire.KindPairUnknown},
		"too many messages": {func(_, client *conntest.Peer, slot string) {
			for range maxMessages + 1 {
				client.Send(&wire.PairMessage{Slot: slot, Body: []byte("x")})
			}
		}, wire.KindLimit},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			device, client, slot := w.joined(t)
			tc.end(device, client, slot)
			if tc.kind == wire.KindLimit {
				for range maxMessages {
					conntest.Next[wire.PairMessage](device)
				}
			}
			if f := conntest.Next[wire.PairClosed](device); f.Slot != slot || f.Kind != tc.kind {
				t.Errorf("got %+v, want %s", f, tc.kind)
			}
			if err := w.Loop.Do(func() {
				if len(w.slots) != 0 || len(w.of) != 0 {
					t.Errorf("%d slots are left, of %d connections", len(w.slots), len(w.of))
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhoMayRedeem(t *testing.T) {
	w := newWorld(t)
	device, client, slot := w.joined(t)
	other, secondDevice := w.dial(t, ident.KindClient), w.dial(t, ident.KindDevice)
	other.Send(&wire.RedeemPair{RequestID: "1", Slot: slot})
	other.Refused(wire.KindPairBusy)
	secondDevice.Send(&wire.RedeemPair{RequestID: "1", Slot: slot})
	secondDevice.Refused(wire.KindPairSelf)
	free := strings.Repeat("0", wire.SlotLen)
	if free == slot {
		free = strings.Repeat("1", wire.SlotLen)
	}
	other.Send(&wire.RedeemPair{RequestID: "2", Slot: free})
	other.Refused(wire.KindPairUnknown)
	other.Send(&wire.PairAccept{Slot: slot}) // not a side of it
	other.Refused(wire.KindPairUnknown)
	for _, p := range []*conntest.Peer{device, client} {
		p.Quiet()
	}
}

func TestEachConnectionHasFewCodes(t *testing.T) {
	w := newWorld(t)
	device := w.dial(t, ident.KindDevice)
	for range w.env.Limits().SlotsPerConnection {
		device.Send(&wire.CreatePairSession{RequestID: "c"})
		conntest.Next[wire.PairSession](device)
	}
	device.Send(&wire.CreatePairSession{RequestID: "c"})
	device.Refused(wire.KindLimit)
}
