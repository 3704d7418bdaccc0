package relay_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus/nats"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// startNodes runs a relay for each URL of the bus. They share a store.
func startNodes(t testing.TB, st store.Store, change func(*relay.Config), urls ...string) []*relaytest.Server {
	t.Helper()
	if st == nil {
		st = relaytest.OpenStore(t, t.TempDir()+"/relay.db")
	}
	var nodes []*relaytest.Server
	for _, url := range urls {
		joined, err := nats.New(url, nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, relaytest.Start(t, func(cfg *relay.Config) {
			cfg.Store, cfg.Bus = st, joined
			if change != nil {
				change(cfg)
			}
		}))
	}
	return nodes
}

// clusterOf runs three relays on a NATS cluster of three.
func clusterOf(t testing.TB) []*relaytest.Server {
	t.Helper()
	var urls []string
	for _, s := range natstest.StartCluster(t, 3) {
		urls = append(urls, s.URL())
	}
	return startNodes(t, nil, nil, urls...)
}

// apart pairs a host on one node with an entry on another. The entry knows that
// the host is online.
func apart(t testing.TB, hostAt, entryAt *relaytest.Server) (host, entry *relaytest.Peer) {
	t.Helper()
	host = hostAt.Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
	entry = entryAt.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	relaytest.Pair(t, entry, host)
	return host, entry
}

// openAgain opens a channel, past refusals that pass by themselves. The host may have seen
// channels of refused attempts come and go, so it recognizes the one that is open by a
// record that comes through it.
func openAgain(t testing.TB, entry, host *relaytest.Peer, within time.Duration) (onEntry, onHost uint32) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !tryOpen(t, entry, host, &onEntry) {
		if time.Now().After(deadline) {
			t.Fatalf("still refused after %s", within)
		}
		<-time.After(20 * time.Millisecond) // a retry as a client makes it
	}
	entry.SendRecord(onEntry, []byte("which one?"))
	for {
		f, rec, err := host.Next()
		if err != nil {
			t.Fatalf("%s: after %T: %v", host.ID, f, err)
		}
		if rec != nil && string(rec.Payload) == "which one?" {
			return onEntry, rec.Channel
		}
	}
}

// tryOpen asks for a channel once and reports whether it was opened.
func tryOpen(t testing.TB, entry, host *relaytest.Peer, channel *uint32) bool {
	t.Helper()
	entry.Send(&wire.OpenChannel{RequestID: "again", DeviceID: host.ID})
	for {
		f, _, err := entry.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch f := f.(type) {
		case *wire.ChannelOpened:
			*channel = f.Channel
			return true
		case *wire.ErrorFrame:
			if f.Kind == wire.KindRateLimited {
				t.Fatal("rate limited")
			}
			return false
		}
	}
}

func exchange(t testing.TB, entry *relaytest.Peer, onEntry uint32, host *relaytest.Peer, onHost uint32) {
	t.Helper()
	entry.SendRecord(onEntry, []byte("up"))
	awaitRecord(t, host, onHost, []byte("up"))
	host.SendRecord(onHost, []byte("down"))
	awaitRecord(t, entry, onEntry, []byte("down"))
}

// awaitRecord reads a record, past news of presence, which may come at any time
// after an outage.
func awaitRecord(t testing.TB, p *relaytest.Peer, channel uint32, payload []byte) {
	t.Helper()
	for {
		f, rec, err := p.Next()
		switch f.(type) {
		case *wire.DeviceOnline, *wire.DeviceOffline:
			continue
		}
		if err != nil || rec == nil || rec.Channel != channel || !bytes.Equal(rec.Payload, payload) {
			t.Fatalf("%s: got frame %T %+v, record %v, error %v; want a record of %d bytes on %d", p.ID, f, f, rec != nil, err, len(payload), channel)
		}
		return
	}
}

func TestChannelAcrossNodes(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	onEntry, onHost := relaytest.Open(t, entry, host)
	passBothWays(entry, onEntry, host, onHost, 2000)
	// Many channels at once, both nodes asking, are distinguished.
	back, forth := apart(t, nodes[0], nodes[1])
	type pair struct{ onEntry, onHost uint32 }
	var there, here []pair
	for range 5 {
		a, b := relaytest.Open(t, entry, host)
		there = append(there, pair{a, b})
		a, b = relaytest.Open(t, forth, back)
		here = append(here, pair{a, b})
	}
	for i := range 5 {
		exchange(t, entry, there[i].onEntry, host, there[i].onHost)
		exchange(t, forth, here[i].onEntry, back, here[i].onHost)
	}
	exchange(t, entry, onEntry, host, onHost)
}

// The host speaks first, in the same breath as the channel opens.
func TestFirstRecordNeverPassesTheOpening(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	for range 50 {
		entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
		onHost := relaytest.Expect[wire.ChannelOpened](host).Channel
		host.SendRecord(onHost, []byte("first"))
		onEntry := relaytest.Expect[wire.ChannelOpened](entry).Channel
		entry.ExpectRecord(onEntry, []byte("first"))
		entry.Send(&wire.CloseChannel{Channel: onEntry})
		if got := relaytest.Expect[wire.ChannelClosed](host); got.Channel != onHost || got.Reason != wire.ReasonClosed {
			t.Fatalf("host received %+v", got)
		}
	}
}

func TestCloseAcrossNodesCarriesTheReason(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	onEntry, onHost := relaytest.Open(t, entry, host)
	closeWithReason(t, host, onHost, wire.ReasonSealBroken, entry, onEntry, wire.ReasonSealBroken)
	_, onHost = relaytest.Open(t, entry, host)
	entry.Close()
	if got := relaytest.Expect[wire.ChannelClosed](host); got.Channel != onHost || got.Reason != wire.ReasonPeerGone {
		t.Fatalf("host received %+v", got)
	}
}

func TestOpenAcrossNodesIsRefused(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	stranger := nodes[0].Login(t, relaytest.NewKeys(t, ident.KindClient), "stranger")
	stranger.Send(&wire.OpenChannel{RequestID: "s", DeviceID: host.ID})
	stranger.ExpectError(wire.KindUnauthorized)
	host.Quiet()
	host.Close()
	relaytest.Await[wire.DeviceOffline](entry)
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	if f := entry.ExpectError(wire.KindDeviceOffline); f.RequestID != "o" {
		t.Fatalf("error names request %q", f.RequestID)
	}
}

func TestSlowConsumerAcrossNodes(t *testing.T) {
	s := natstest.Start(t)
	nodes := startNodes(t, nil, smallQueues, s.URL(), s.URL())
	host, stuck := apart(t, nodes[1], nodes[0])
	slowConsumerLosesItsChannel(t, host, stuck, nodes[0].Login(t, relaytest.NewKeys(t, ident.KindClient), "good"))
}

func TestPairingAcrossNodes(t *testing.T) {
	nodes := clusterOf(t)
	for _, creator := range []ident.Kind{ident.KindClient, ident.KindDevice} {
		t.Run(string(creator), func(t *testing.T) {
			host := nodes[0].Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
			entry := nodes[1].Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
			tab := nodes[2].Login(t, entry.Keys, "another tab")
			first, second := host, entry
			if creator == ident.KindClient {
				first, second = entry, host
			}
			slot := relaytest.Join(t, first, second)
			for _, p := range [][2]*relaytest.Peer{{first, second}, {second, first}} {
				p[0].Send(&wire.PairMessage{Slot: slot, Body: []byte("hello")})
				if got := relaytest.Expect[wire.PairMessage](p[1]); got.Slot != slot || string(got.Body) != "hello" {
					t.Fatalf("got %+v", got)
				}
			}
			first.Send(&wire.PairReject{Slot: slot})
			for _, p := range []*relaytest.Peer{first, second} {
				if got := relaytest.Expect[wire.PairClosed](p); got.Slot != slot || got.Kind != wire.KindBadProof {
					t.Fatalf("got %+v", got)
				}
			}
			relaytest.Pair(t, first, second)
			relaytest.Expect[wire.DeviceOnline](tab) // a third node is notified
			relaytest.Open(t, entry, host)
			relaytest.Open(t, tab, host)
		})
	}
}

func TestPairingAcrossNodesIsRefusedAndBurnt(t *testing.T) {
	nodes := clusterOf(t)
	host := nodes[0].Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
	other := nodes[1].Login(t, relaytest.NewKeys(t, ident.KindDevice), "of the same kind")
	entry := nodes[1].Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	late := nodes[2].Login(t, relaytest.NewKeys(t, ident.KindClient), "late")
	host.Send(&wire.CreatePairSession{RequestID: "c"})
	slot := relaytest.Expect[wire.PairSession](host).Slot
	redeem := func(p *relaytest.Peer, slot string) { p.Send(&wire.RedeemPair{RequestID: "r", Slot: slot}) }

	redeem(other, slot)
	other.ExpectError(wire.KindPairSelf)
	redeem(entry, slot)
	relaytest.Expect[wire.PairJoined](entry)
	relaytest.Expect[wire.PairJoined](host)
	redeem(late, slot)
	late.ExpectError(wire.KindPairBusy)
	late.Send(&wire.PairAccept{Slot: slot})
	late.ExpectError(wire.KindPairUnknown)

	entry.Close() // burns it
	if got := relaytest.Expect[wire.PairClosed](host); got.Slot != slot || got.Kind != wire.KindPairUnknown {
		t.Fatalf("got %+v", got)
	}
	redeem(late, slot)
	late.ExpectError(wire.KindPairUnknown)

	slot = relaytest.Join(t, host, late)
	host.Close()
	if got := relaytest.Expect[wire.PairClosed](late); got.Slot != slot || got.Kind != wire.KindPairUnknown {
		t.Fatalf("got %+v", got)
	}
}

func TestPresenceAcrossNodes(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	tab := nodes[2].Login(t, entry.Keys, "tab")
	if !tab.Welcome.Peers[0].Online {
		t.Fatal("welcome does not see a device on another node")
	}
	host.Close()
	for _, p := range []*relaytest.Peer{entry, tab} {
		if got := relaytest.Expect[wire.DeviceOffline](p); got.DeviceID != host.ID {
			t.Fatalf("received %+v", got)
		}
	}
	if late := nodes[2].Login(t, entry.Keys, "late tab"); late.Welcome.Peers[0].Online {
		t.Fatal("welcome says that a device that left is online")
	}
	nodes[2].Login(t, host.Keys, "moved")
	for _, p := range []*relaytest.Peer{entry, tab} {
		if got := relaytest.Expect[wire.DeviceOnline](p); got.DeviceID != host.ID {
			t.Fatalf("received %+v", got)
		}
		p.Quiet()
	}
}

func TestNewerLoginWinsAcrossNodes(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[0], nodes[0])
	for i := range 6 {
		openAgain(t, entry, host, relaytest.Patience)
		moved := nodes[(i+1)%3].Login(t, host.Keys, "moved")
		if got := relaytest.Await[wire.Goodbye](host); got.Reason != wire.ReasonReplaced {
			t.Fatalf("host received %+v", got)
		}
		if got := relaytest.Await[wire.ChannelClosed](entry); got.Reason != wire.ReasonPeerGone {
			t.Fatalf("entry received %+v", got)
		}
		host = moved
	}
	onEntry, onHost := openAgain(t, entry, host, relaytest.Patience)
	exchange(t, entry, onEntry, host, onHost)
}

func TestRevocationClosesChannelsOnEveryNode(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	tab := nodes[2].Login(t, entry.Keys, "tab")
	relaytest.Open(t, entry, host)
	relaytest.Open(t, tab, host)
	tab.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
	for _, p := range []*relaytest.Peer{entry, tab, host, host} {
		if got := relaytest.Await[wire.ChannelClosed](p); got.Reason != wire.ReasonRevoked {
			t.Fatalf("%s received %+v", p.ID, got)
		}
	}
	for _, p := range []*relaytest.Peer{entry, tab, host} {
		relaytest.Await[wire.BindingRevoked](p)
	}
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
}

func TestNodeThatLeavesClosesItsChannels(t *testing.T) {
	nodes := clusterOf(t)
	host, entry := apart(t, nodes[1], nodes[0])
	relaytest.Open(t, entry, host)
	nodes[1].Stop(t)
	if got := relaytest.Await[wire.ChannelClosed](entry); got.Reason != wire.ReasonPeerGone {
		t.Fatalf("entry received %+v", got)
	}
	relaytest.Await[wire.DeviceOffline](entry)
	nodes[2].Login(t, host.Keys, "came to another node")
	relaytest.Await[wire.DeviceOnline](entry)
}

func TestReadyzFollowsTheBus(t *testing.T) {
	s := natstest.Start(t)
	node := startNodes(t, nil, nil, s.URL())[0]
	status := func() int {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get(node.URL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("readyz says %d", got)
	}
	s.Stop()
	if got := status(); got != http.StatusServiceUnavailable {
		t.Fatalf("readyz says %d without the bus", got)
	}
}
