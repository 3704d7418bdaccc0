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
	store  store.Store      // the same database, past the proxy that fails
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
			PingInterval: 4 * time.Second, StoreTimeout: 4 * time.Second, LoginTimeout: patience,
			// Few identities of one address come again and again.
			Logins: relay.Rate{Burst: 1 << 30, Every: time.Second}, LoginFailures: relay.Rate{Burst: 1 << 30, Every: time.Second},
		}}))
	}
	// A container comes back at another port: this way always leads to it.
	direct, err := testdb.Through(dsn, proxy.New(t, testdb.Target).Addr())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := storeurl.Open(t.Context(), direct)
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

// pair makes a pair beside the fleet, whose sides are logged in by the test.
func (w *world) pair(t testing.TB) *pair {
	t.Helper()
	p := &pair{}
	p.host.keys, p.entry.keys = relaytest.NewKeys(t, ident.KindDevice), relaytest.NewKeys(t, ident.KindClient)
	p.bind(t, w.store)
	return p
}

// tab logs in as the pair's entry once more, at a node.
func (w *world) tab(t testing.TB, p *pair, node int) *guest {
	t.Helper()
	return login(t, w.nodes[node].Addr(), p.entry.keys, "tab")
}

// revoke ends the pair's binding from a tab at a node.
func (w *world) revoke(t testing.TB, p *pair, node int) {
	t.Helper()
	wait(t, "a revocation", func() bool {
		tab := w.tab(t, p, node)
		defer tab.Close()
		_, err := ask[wire.BindingRevoked](tab, &wire.RevokeBinding{RequestID: "revoke", PeerID: p.host.keys.ID()})
		return err == nil || kindOf(err) == wire.KindNotFound // the answer to an earlier one was lost
	})
}

// shutOut waits until the pair's channel is closed and a new one is refused
// because there is no binding.
func (p *pair) shutOut(t testing.TB) {
	t.Helper()
	before := p.entry.state().refusals
	wait(t, "a revocation to count", func() bool { return p.isOut(before) })
}

func (p *pair) isOut(refusals int) bool {
	now := p.entry.state()
	return !now.live && now.refusals > refusals+1 && now.refusal == wire.KindUnauthorized
}

// refused logs in with new keys until the node answers that it cannot tell whether it
// may admit them. It must never admit them.
func (w *world) refused(t testing.TB, node int) {
	t.Helper()
	keys := relaytest.NewKeys(t, ident.KindClient)
	wait(t, "a login to be refused", func() bool {
		c, err := relaytest.DialRaw(new(net.Dialer), w.nodes[node].Addr(), keys, "refused")
		if err == nil {
			c.Close()
			t.Fatalf("node %d admits a peer without asking the database", node)
		}
		return kindOf(err) == wire.KindUnavailable
	})
}

// admits waits until every node lets someone new in.
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

// tellLogs shows what the nodes warned about, when the test has failed.
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
