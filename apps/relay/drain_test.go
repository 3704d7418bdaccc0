package relay_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// drained is what one peer saw of a drain, as times since its start.
type drained struct {
	bye, comeBack time.Duration
	channelClosed time.Duration // -1 when the goodbye came first
	records       int
}

// watchDrain reads until the goodbye and hangs up. A host sends every record back.
func watchDrain(t *testing.T, p *relaytest.Peer, start time.Time) drained {
	seen := drained{channelClosed: -1}
	for {
		kind, data, err := p.WS.Read(context.Background())
		if err != nil {
			t.Errorf("%s: %v before the goodbye", p.ID, err)
			return seen
		}
		if kind == websocket.MessageBinary {
			seen.records++
			if p.ID.Kind() == ident.KindDevice {
				p.SendMessage(kind, data)
			}
			continue
		}
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		if err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		switch f := frame.(type) {
		case *wire.ChannelClosed:
			seen.channelClosed = time.Since(start)
		case *wire.Goodbye:
			if f.Reason != wire.ReasonShutdown {
				t.Errorf("%s: received %q", p.ID, f.Reason)
			}
			seen.bye = time.Since(start)
			seen.comeBack = seen.bye + time.Duration(f.RetryAfter)*time.Millisecond
			_ = p.WS.CloseNow() // as a peer does
			return seen
		}
	}
}

// bound logs a host and an entry in that are bound, and opens a channel.
func bound(t *testing.T, s *relaytest.Server) (host, entry *relaytest.Peer, onEntry uint32) {
	t.Helper()
	device, client := relaytest.NewKeys(t, ident.KindDevice), relaytest.NewKeys(t, ident.KindClient)
	err := s.Store.Bind(t.Context(), store.Party{ID: device.ID(), Public: device.Public(), Label: "host"},
		store.Party{ID: client.ID(), Public: client.Public(), Label: "entry"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	host, entry = s.Login(t, device, "host"), s.Login(t, client, "entry")
	onEntry, _ = relaytest.Open(t, entry, host)
	return host, entry, onEntry
}

const (
	drainPairs  = 100
	drainWindow = 30 * time.Second
	drainBeat   = time.Second // an entry sends a record so often
)

func TestDrainSpreadsDeparturesAndReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := relaytest.StartInMemory(t, nil)
		var hosts, entries [drainPairs]drained
		var peers, senders sync.WaitGroup
		var begin []func(start time.Time)
		over := make(chan struct{})
		for i := range drainPairs {
			host, entry, channel := bound(t, s)
			begin = append(begin, func(start time.Time) {
				peers.Go(func() { hosts[i] = watchDrain(t, host, start) })
				peers.Go(func() { entries[i] = watchDrain(t, entry, start) })
				senders.Go(func() { sendUntil(over, entry, channel) })
			})
		}
		start := time.Now()
		for _, do := range begin {
			do(start)
		}
		if err := s.Relay.Drain(t.Context(), drainWindow); err != nil {
			t.Fatal(err)
		}
		peers.Wait()
		close(over)
		senders.Wait()
		if err := s.Relay.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkSpread(t, append(hosts[:], entries[:]...))
		for i := range drainPairs {
			checkServed(t, hosts[i], entries[i])
		}
	})
}

func sendUntil(over <-chan struct{}, p *relaytest.Peer, channel uint32) {
	ticker := time.NewTicker(drainBeat)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		// It fails once the peer has hung up.
		_ = p.WS.Write(context.Background(), websocket.MessageBinary, wire.AppendRecord(nil, channel, []byte("beat")))
	}
}

// checkSpread holds departures to an even spread over the window, and returns to
// one over a second after it: 200 peers come back at a thousand a second at the most.
func checkSpread(t *testing.T, all []drained) {
	t.Helper()
	const parts = 10
	var leave, back [parts]int
	first, last := time.Duration(1<<62), time.Duration(0)
	for _, seen := range all {
		if seen.bye < 0 || seen.bye >= drainWindow {
			t.Fatalf("asked to leave at %s of %s", seen.bye, drainWindow)
		}
		leave[seen.bye*parts/drainWindow]++
		first, last = min(first, seen.comeBack), max(last, seen.comeBack)
	}
	if first < drainWindow {
		t.Fatalf("a peer comes back %s before the relay has ended", drainWindow-first)
	}
	for _, seen := range all {
		back[min(parts-1, (seen.comeBack-first)*parts/(last-first))]++
	}
	for i := range parts {
		if want := len(all) / parts; leave[i] != want || back[i] < want/2 || back[i] > 2*want {
			t.Fatalf("departures by tenth: %v, returns by tenth: %v; want about %d in each", leave, back, want)
		}
	}
	if last-first < 900*time.Millisecond {
		t.Fatalf("all come back within %s", last-first)
	}
}

// checkServed holds a channel to have lived until one of its ends was asked to leave.
func checkServed(t *testing.T, host, entry drained) {
	t.Helper()
	until := min(host.bye, entry.bye)
	for _, closed := range []time.Duration{host.channelClosed, entry.channelClosed} {
		if closed >= 0 && closed < until {
			t.Errorf("channel closed at %s, and neither end was asked to leave before %s", closed, until)
		}
	}
	if want := int(until/drainBeat) - 1; host.records < want || entry.records < want {
		t.Errorf("%d records up and %d down within %s; want %d", host.records, entry.records, until, want)
	}
}

func TestDrainEndsWhenTheLastPeerHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := relaytest.StartInMemory(t, nil)
		p := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
		start, ended := time.Now(), make(chan error, 1)
		go func() { ended <- s.Relay.Drain(t.Context(), 1000*time.Hour) }()
		synctest.Wait()
		for path, want := range map[string]int{"/readyz": 503, "/healthz": 200} {
			rec := httptest.NewRecorder()
			s.Relay.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
			if rec.Code != want {
				t.Errorf("%s while draining: %d, want %d", path, rec.Code, want)
			}
		}
		p.Close()
		if err := <-ended; err != nil || time.Since(start) > time.Minute {
			t.Fatalf("drain ended after %s: %v", time.Since(start), err)
		}
	})
}

func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := relaytest.StartInMemory(t, nil)
		p := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Relay.Drain(ctx, 1000*time.Hour) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err == nil {
			t.Fatal("a drain that was cut short says that all is well")
		}
		stopped := make(chan error, 1)
		go func() { stopped <- s.Relay.Shutdown(t.Context()) }()
		if bye := p.ExpectEnd(wire.ReasonShutdown); bye.RetryAfter < 500 || bye.RetryAfter > 1500 {
			t.Errorf("comes back after %d ms", bye.RetryAfter)
		}
		p.Close()
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
	})
}

// A host that a draining node sends away is taken by another one, once, and stays:
// neither node sees a twin in it.
func TestDrainedHostMovesToAnotherNode(t *testing.T) {
	bus := natstest.Start(t)
	nodes := startNodes(t, nil, nil, bus.URL(), bus.URL())
	host, entry := apart(t, nodes[0], nodes[1])
	relaytest.Open(t, entry, host)
	drained := make(chan error, 1)
	go func() { drained <- nodes[0].Relay.Drain(t.Context(), 10*time.Millisecond) }()
	bye := relaytest.Await[wire.Goodbye](host)
	if bye.Reason != wire.ReasonShutdown || bye.RetryAfter < 1 || bye.RetryAfter > 1000 {
		t.Fatalf("received %+v although another node is there", bye)
	}
	// It dials before the old connection is gone, the hardest case.
	moved := nodes[1].Login(t, host.Keys, "host")
	host.Close()
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	relaytest.Await[wire.ChannelClosed](entry) // the old channel; it may come late
	onEntry, onHost := openAgain(t, entry, moved, relaytest.Patience)
	exchange(t, entry, onEntry, moved, onHost)
	nodes[0].Stop(t)
	exchange(t, entry, onEntry, moved, onHost)
	moved.Quiet()
}
