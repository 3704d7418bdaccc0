//go:build unix

package faults_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/testdb"
)

const (
	// connectsEnv sets how many connections come and go; make soak says a million.
	connectsEnv     = "SCOREL_SOAK_CONNECTS"
	defaultConnects = 2000
	workers         = 16
	// graves is how many mute sockets a worker leaves open at once.
	graves = 8
	// cycleTimeout bounds a connection of a worker. Some answers never come, since the
	// other end may be the ghost of an earlier connection.
	cycleTimeout = time.Minute
	// allGone is how long the relay may take to notice the last mute one: the
	// longest is the HTTP server's patience with half a request.
	allGone = 60 * time.Second
)

// TestSoak connects and disconnects in every manner, at every stage, and then
// looks for what is left in the relay's process: nothing may be.
func TestSoak(t *testing.T) {
	connects := defaultConnects
	if text := os.Getenv(connectsEnv); text != "" {
		var err error
		if connects, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", connectsEnv, err)
		}
	}
	limits := relay.Limits{
		PingInterval: 500 * time.Millisecond, LoginTimeout: 2 * time.Second,
		// The peers come again and again with few identities and addresses.
		Logins: relay.Rate{Burst: 1 << 30, Every: time.Second}, LoginFailures: relay.Rate{Burst: 1 << 30, Every: time.Second},
	}
	dsn := testdb.Postgres(t)
	bus := natstest.Start(t)
	// As many connections to the database from the first to the last.
	joined := nodetest.Config{Store: dsn + "&pool_min_conns=4&pool_max_conns=4", Bus: bus.URL(), Limits: limits}
	nodes := []*nodetest.Node{nodetest.Start(t, joined), nodetest.Start(t, joined)}
	s := newSoak(t, dsn, nodes)
	s.run(connects / 10) // fills pools and caches
	before := s.calm(t)
	start := time.Now()
	made := s.run(connects)
	took := time.Since(start)
	t.Logf("before: %+v", before)
	after := s.settled(t, func(i int, now left) bool {
		return now.Goroutines <= before[i].Goroutines && now.FDs <= before[i].FDs
	})
	t.Logf("%d connections in %s, %d channels, %d ends of each manner on average", made, took.Round(time.Millisecond), s.channels.Load(), int(made)/len(manners))
	for i := range nodes {
		t.Logf("node %d: %+v before, %+v after", i, before[i], after[i])
	}
	if tried := s.cycles.Load(); s.channels.Load() < tried*9/10 {
		t.Errorf("only %d of %d channels opened: the soak proves little; the last refusal: %v", s.channels.Load(), tried, s.refusal.Load())
	}
}

// soak is what the workers share.
type soak struct {
	nodes    []*nodetest.Node
	workers  []*worker
	connects atomic.Int64
	cycles   atomic.Int64
	channels atomic.Int64
	refusal  atomic.Value // string
}

func newSoak(t *testing.T, dsn string, nodes []*nodetest.Node) *soak {
	t.Helper()
	st, err := storeurl.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := &soak{nodes: nodes}
	for i := range workers {
		p := &pair{host: host{index: i}, entry: entry{index: i}}
		p.host.keys, p.entry.keys = relaytest.NewKeys(t, ident.KindDevice), relaytest.NewKeys(t, ident.KindClient)
		p.bind(t, st)
		w := &worker{soak: s, host: p.host.keys, entry: p.entry.keys}
		w.dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(i+1))}
		s.workers = append(s.workers, w)
	}
	return s
}

// run makes connections until there are so many more, and returns how many.
func (s *soak) run(connects int) int64 {
	start := s.connects.Load()
	var running sync.WaitGroup
	for _, w := range s.workers {
		running.Go(func() {
			for s.connects.Load()-start < int64(connects) {
				w.cycle()
			}
			for _, c := range w.mute {
				_ = c.Close() // the relay has found out, or does now
			}
			w.mute = nil
		})
	}
	running.Wait()
	return s.connects.Load() - start
}

// left is what a node's process holds.
type left struct {
	Goroutines, FDs, Peers, Channels int
	RSS                              int64 // MiB; told, not compared
}

// calm is what the nodes hold without peers: the least of several looks, since a
// connection may just be ending.
func (s *soak) calm(t *testing.T) []left {
	t.Helper()
	least := s.settled(t, func(int, left) bool { return true })
	for range 10 {
		<-time.After(100 * time.Millisecond)
		for i, n := range s.nodes {
			now := measure(t, n)
			least[i].Goroutines, least[i].FDs = min(least[i].Goroutines, now.Goroutines), min(least[i].FDs, now.FDs)
		}
	}
	return least
}

// settled waits until every node holds no peer and nothing more than enough allows.
func (s *soak) settled(t *testing.T, enough func(node int, now left) bool) []left {
	t.Helper()
	out := make([]left, len(s.nodes))
	for i, n := range s.nodes {
		for deadline := time.Now().Add(allGone); ; {
			out[i] = measure(t, n)
			if out[i].Peers == 0 && out[i].Channels == 0 && enough(i, out[i]) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("node %d still holds %+v after %s:\n%s", i, out[i], allGone, n.Quit(t))
			}
			<-time.After(100 * time.Millisecond)
		}
	}
	return out
}

func measure(t *testing.T, n *nodetest.Node) left {
	t.Helper()
	l := left{Goroutines: n.Goroutines(t)}
	for name, value := range n.Metrics(t) {
		switch {
		case name == "process_open_fds":
			l.FDs = int(value)
		case name == "scorel_relay_channels":
			l.Channels = int(value)
		case strings.HasPrefix(name, "scorel_relay_connections{"):
			l.Peers += int(value)
		}
	}
	l.RSS = n.Usage(t).RSS >> 20
	return l
}
