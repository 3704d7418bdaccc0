//go:build unix

package faults_test

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
	"github.com/scorel/scorel/packages/testdb"
)

const nodeCount = 3

// world is three relay nodes, each at a NATS server of its own, with one database
// and a fleet.
type world struct {
	*fleet
	bus    []*natstest.Server
	routes [][]*proxy.Proxy // between the servers of the bus
	ways   []natstest.Proxy // from each node to its server
	db     *proxy.Proxy     // from all nodes to the database
	store  store.Store      // the same database, past the proxy
}

func newWorld(t *testing.T, pairs int) *world {
	t.Helper()
	w := &world{}
	dsn := testdb.Postgres(t)
	w.db = proxy.New(t, testdb.Target)
	through, err := testdb.Through(dsn, w.db.Addr())
	if err != nil {
		t.Fatal(err)
	}
	w.bus, w.routes = natstest.StartRoutedCluster(t, nodeCount)
	var nodes []*nodetest.Node
	for i := range nodeCount {
		w.ways = append(w.ways, natstest.NewProxy(t, w.bus[i]))
		nodes = append(nodes, nodetest.Start(t, nodetest.Config{Store: through, Bus: w.ways[i].URL(), Limits: relay.Limits{
			PingInterval: 2 * time.Second, StoreTimeout: 2 * time.Second,
		}}))
	}
	opened, err := storeurl.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	w.store = opened
	t.Cleanup(func() { tellLogs(t, nodes) })
	w.fleet = newFleet(t, nodes, opened, pairs)
	return w
}

// tab logs in as the pair's entry once more, at a node.
func (w *world) tab(t testing.TB, p *pair, node int) *relaytest.Peer {
	t.Helper()
	return w.nodes[node].Peers.Login(t, p.entry.keys, "tab")
}

// revoke ends the pair's binding from a tab at a node.
func (w *world) revoke(t testing.TB, p *pair, node int) {
	t.Helper()
	tab := w.tab(t, p, node)
	defer tab.Close()
	tab.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: p.host.keys.ID()})
	relaytest.Await[wire.BindingRevoked](tab)
}

// shutOut waits until the pair's channel is closed and a new one is refused
// because there is no binding.
func (p *pair) shutOut(t testing.TB) {
	t.Helper()
	before := p.entry.state().refusals
	wait(t, "a revocation to count", func() bool {
		now := p.entry.state()
		return !now.live && now.refusals > before+1 && now.refusal == wire.KindUnauthorized
	})
}

// refused logs in with new keys, which the nodes must refuse.
func (w *world) refused(t testing.TB, node int, kind wire.Kind) {
	t.Helper()
	p := w.nodes[node].Peers.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	defer p.Close()
	p.SendHello(nil)
	p.ExpectError(kind)
}

// admits waits until every node lets somebody new in.
func (w *world) admits(t testing.TB) {
	t.Helper()
	start := time.Now()
	keys := relaytest.NewKeys(t, ident.KindClient)
	for _, n := range w.nodes {
		wait(t, "a login", func() bool {
			c, err := relaytest.DialRaw(new(net.Dialer), n.Addr(), keys, "new")
			if err == nil {
				c.Close()
			}
			return err == nil
		})
	}
	t.Logf("logins work %s after the heal (promised: %s)", time.Since(start).Round(time.Millisecond), promised)
}

// tellLogs shows what the nodes complained about, when the test has failed.
func tellLogs(t *testing.T, nodes []*nodetest.Node) {
	if !t.Failed() {
		return
	}
	for i, n := range nodes {
		for _, line := range n.Log(t) {
			if line.Level >= slog.LevelWarn || strings.Contains(line.Msg, "node") || strings.Contains(line.Msg, "bus") {
				t.Logf("node %d: %s %s %s %s", i, line.Time.Format(time.StampMilli), line.Level, line.Msg, line.Error)
			}
		}
	}
}
