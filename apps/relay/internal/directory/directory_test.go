package directory

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/conn/conntest"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// world is a directory of one node, without pairings: it implements the handlers of
// connections and of the cluster.
type world struct {
	*Directory
	env *conn.Env
	db  *flaky
}

func (w *world) Proves(string, authority.Dialed) bool { return true }
func (w *world) Login(c *conn.Conn, _ string) error   { return w.Directory.Login(c) }
func (w *world) Handle(c *conn.Conn, f wire.Frame) {
	switch f := f.(type) {
	case *wire.OpenChannel:
		w.Directory.Open(c, f)
	case *wire.RevokeBinding:
		w.Directory.Revoke(c, f)
	}
}
func (w *world) Leave(c *conn.Conn) { _ = w.Loop.Do(func() { w.Directory.Leave(c) }) } // stopped last
func (w *world) Closed(*conn.Conn)  {}

func (w *world) HandleNotice(cluster.Notice)           {}
func (w *world) Answer(cluster.Notice) cluster.Reply   { return cluster.Reply{} }
func (w *world) TrunkFrame(*cluster.Trunk, wire.Frame) {}
func (w *world) NodeLost(string)                       {}

// flaky is a store that can be made to fail.
type flaky struct {
	store.Store
	fail error
}

func (f *flaky) Bindings(ctx context.Context, id ident.ID) ([]store.Party, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	return f.Store.Bindings(ctx, id)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{env: conntest.NewEnv(limits.Limits{}), db: &flaky{Store: db}}
	w.env.Handler = w
	lp := loop.Start()
	c := cluster.New(cluster.Config{Handler: w, Log: w.env.Log, Metrics: w.env.Metrics, Pool: w.env.Pool, Queues: w.env.Queues, Alone: true})
	w.Directory = New(Config{
		Loop: lp, Cluster: c, Log: w.env.Log, Metrics: w.env.Metrics, Memory: w.env.Memory, Limits: w.env.Limits,
		Store: &Store{Store: w.db, Log: w.env.Log, Metrics: w.env.Metrics, Timeout: func() time.Duration { return 5 * time.Second }},
	})
	if err := c.Join(bus.NewLocal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		w.Wait()
		lp.Stop()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// bind writes a binding as another node would, without telling this one.
func (w *world) bind(t *testing.T, device, client wire.Peer) {
	t.Helper()
	if err := w.db.Bind(t.Context(), AsParty(device), AsParty(client), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// paired logs in a client and a device that are bound, and reads what both get.
func (w *world) paired(t *testing.T) (device, client *conntest.Peer) {
	t.Helper()
	device = conntest.Dial(t, w.env, ident.KindDevice)
	client = conntest.Dial(t, w.env, ident.KindClient)
	conntest.Next[wire.Welcome](device)
	conntest.Next[wire.Welcome](client)
	w.bind(t, device.Self, client.Self)
	if err := w.Loop.Do(func() { w.Bound(device.Self, client.Self, w.Cluster.Self()) }); err != nil {
		t.Fatal(err)
	}
	conntest.Next[wire.DeviceOnline](client)
	return device, client
}

func TestPresenceFollowsConnections(t *testing.T) {
	w := newWorld(t)
	device, client := w.paired(t)
	device.Close()
	if f := conntest.Next[wire.DeviceOffline](client); f.DeviceID != device.ID {
		t.Errorf("%s went offline", f.DeviceID)
	}
	again := conntest.Dial(t, w.env, ident.KindClient)
	if f := conntest.Next[wire.Welcome](again); len(f.Peers) != 0 {
		t.Errorf("a stranger sees %v", f.Peers)
	}
	client.Quiet()
}

func TestWelcomeListsBindings(t *testing.T) {
	w := newWorld(t)
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	device := conntest.Dial(t, w.env, ident.KindDevice)
	conntest.Next[wire.Welcome](device)
	w.bind(t, device.Self, wire.Peer{ID: keys.ID(), Public: keys.Public(), Label: "tab"})
	client := conntest.DialAs(t, w.env, keys)
	if f := conntest.Next[wire.Welcome](client); len(f.Peers) != 1 || f.Peers[0].ID != device.ID || !f.Peers[0].Online {
		t.Errorf("welcome %+v", f)
	}
}

func TestChannelsNeedBothHalvesOfABinding(t *testing.T) {
	w := newWorld(t)
	device, client := w.paired(t)
	stranger := conntest.Dial(t, w.env, ident.KindClient)
	conntest.Next[wire.Welcome](stranger)
	stranger.Send(&wire.OpenChannel{RequestID: "1", DeviceID: device.ID})
	stranger.Refused(wire.KindUnauthorized)
	device.Send(&wire.OpenChannel{RequestID: "1", DeviceID: device.ID})
	device.Refused(wire.KindNotAllowed)

	client.Send(&wire.OpenChannel{RequestID: "1", DeviceID: device.ID})
	if f := conntest.Next[wire.ChannelOpened](client); f.PeerID != device.ID || f.RequestID != "1" {
		t.Errorf("the entry got %+v", f)
	}
	if f := conntest.Next[wire.ChannelOpened](device); f.PeerID != client.ID || f.RequestID != "" {
		t.Errorf("the host got %+v", f)
	}
	if err := w.Loop.Do(func() { w.dropHalf(device.ID, client.ID) }); err != nil {
		t.Fatal(err)
	}
	client.Send(&wire.OpenChannel{RequestID: "2", DeviceID: device.ID})
	client.Refused(wire.KindUnauthorized)
}

func TestRevocationClosesChannelsAndTellsBothSides(t *testing.T) {
	for name, revoke := range map[string]func(t *testing.T, w *world, device, client *conntest.Peer){
		"by a peer": func(_ *testing.T, _ *world, device, client *conntest.Peer) {
			device.Send(&wire.RevokeBinding{RequestID: "r", PeerID: client.ID})
		},
		"on another node, found in the store": func(t *testing.T, w *world, device, client *conntest.Peer) {
			if err := w.db.Revoke(t.Context(), device.ID, client.ID, device.ID, time.Now()); err != nil {
				t.Fatal(err)
			}
			if err := w.CheckBindings(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			device, client := w.paired(t)
			client.Send(&wire.OpenChannel{RequestID: "1", DeviceID: device.ID})
			conntest.Next[wire.ChannelOpened](client)
			conntest.Next[wire.ChannelOpened](device)
			revoke(t, w, device, client)
			for _, p := range []*conntest.Peer{client, device} {
				if f := conntest.Next[wire.ChannelClosed](p); f.Reason != wire.ReasonRevoked {
					t.Errorf("%s: the channel closed for %s", p.ID, f.Reason)
				}
			}
			conntest.Next[wire.DeviceOffline](client)
			conntest.Next[wire.BindingRevoked](client)
			conntest.Next[wire.BindingRevoked](device)
			client.Send(&wire.OpenChannel{RequestID: "2", DeviceID: device.ID})
			client.Refused(wire.KindUnauthorized)
		})
	}
}

func TestAStoreThatFailsKeepsPeersOut(t *testing.T) {
	w := newWorld(t)
	_, client := w.paired(t)
	w.db.fail = errors.New("disk is gone")
	late := conntest.Dial(t, w.env, ident.KindClient)
	late.Refused(wire.KindUnavailable)
	conntest.Next[wire.Goodbye](late)
	if err := w.CheckBindings(); err == nil {
		t.Error("a check passed that could not read the bindings of a new event")
	}
	if err := w.Loop.Do(func() {
		if !w.doubted[client.ID] {
			t.Error("the next check does not read them again")
		}
	}); err != nil {
		t.Fatal(err)
	}
	w.db.fail = nil
	if err := w.CheckBindings(); err != nil || len(w.doubted) != 0 {
		t.Errorf("after the store is back: %v, %d doubted", err, len(w.doubted))
	}
}

func TestShortMemoryRefusesChannels(t *testing.T) {
	w := newWorld(t)
	device, client := w.paired(t)
	for _, b := range fill(w.env, 85) {
		defer w.env.Pool.Put(b)
	}
	client.Send(&wire.OpenChannel{RequestID: "1", DeviceID: device.ID})
	client.Refused(wire.KindLimit)
}

// fill borrows until a share in percent is used.
func fill(env *conn.Env, percent int64) (held [][]byte) {
	for env.Memory.Used() < env.Memory.Share(percent) {
		held = append(held, env.Pool.Get(bufpool.Large))
	}
	return held
}
