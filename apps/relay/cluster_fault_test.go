package relay_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A node whose way to the bus is cut is, for the others, one that was killed: it
// says nothing any more.
func TestNodeThatVanishesIsFoundInSeconds(t *testing.T) {
	s := natstest.Start(t)
	way := natstest.NewProxy(t, s)
	nodes := startNodes(t, nil, nil, s.URL(), way.URL(), s.URL())
	host, entry := apart(t, nodes[1], nodes[0])
	other, untouched := apart(t, nodes[2], nodes[0])
	here, beside := nodes[0].PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)
	exchange(t, entry, onEntry, host, onHost)
	keptEntry, keptHost := relaytest.Open(t, untouched, other)
	localEntry, localHost := relaytest.Open(t, beside, here)

	way.Swallow()
	if got := relaytest.Await[wire.ChannelClosed](entry); got.Reason != wire.ReasonPeerGone {
		t.Fatalf("entry received %+v", got)
	}
	relaytest.Await[wire.DeviceOffline](entry)
	if got := relaytest.Await[wire.ChannelClosed](host); got.Reason != wire.ReasonPeerGone {
		t.Fatalf("the host on the node that was cut off received %+v", got)
	}
	// No one else noticed anything.
	exchange(t, untouched, keptEntry, other, keptHost)
	exchange(t, beside, localEntry, here, localHost)

	way.Heal()
	relaytest.Await[wire.DeviceOnline](entry)
	heals(t, entry, host)
}

func TestStoppedBusClosesWhatIsRemoteAndKeepsWhatIsLocal(t *testing.T) {
	s := natstest.Start(t)
	nodes := startNodes(t, nil, nil, s.URL(), s.URL(), s.URL())
	host, entry := apart(t, nodes[1], nodes[0])
	here, beside := nodes[0].PairedPeers(t)
	relaytest.Open(t, entry, host)
	localEntry, localHost := relaytest.Open(t, beside, here)

	s.Stop()
	for _, p := range []*relaytest.Peer{entry, host} {
		if got := relaytest.Await[wire.ChannelClosed](p); got.Reason != wire.ReasonPeerGone {
			t.Fatalf("%s received %+v", p.ID, got)
		}
	}
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	if f := relaytest.Await[wire.ErrorFrame](entry); f.Kind != wire.KindUnavailable {
		t.Fatalf("received %+v", f)
	}
	exchange(t, beside, localEntry, here, localHost)
	relaytest.Open(t, beside, here) // the store can still be asked

	// A revocation during the outage counts on the other nodes all the same.
	tab := nodes[2].Login(t, beside.Keys, "cut off as well")
	tab.Send(&wire.RevokeBinding{RequestID: "r", PeerID: here.ID})
	relaytest.Await[wire.BindingRevoked](tab)
	if got := relaytest.Await[wire.ChannelClosed](beside); got.Reason != wire.ReasonRevoked {
		t.Fatalf("received %+v", got)
	}

	s.Restart()
	heals(t, entry, host)
}

// heals: a channel opens and carries after the end of a fault, without a new login.
func heals(t *testing.T, entry, host *relaytest.Peer) {
	t.Helper()
	onEntry, onHost := openAgain(t, entry, host, relaytest.Patience)
	exchange(t, entry, onEntry, host, onHost)
}

// Neither the bus nor the store can tell what was revoked: nothing stays open.
func TestWithoutBusAndStoreNothingIsOpen(t *testing.T) {
	s := natstest.Start(t)
	st := &brokenStore{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db"), broken: make(chan struct{})}
	nodes := startNodes(t, st, nil, s.URL(), s.URL())
	here, beside := nodes[0].PairedPeers(t)
	relaytest.Open(t, beside, here)
	close(st.broken)
	s.Stop()
	for _, p := range []*relaytest.Peer{beside, here} {
		if got := relaytest.Await[wire.ChannelClosed](p); got.Reason != wire.ReasonPeerGone {
			t.Fatalf("%s received %+v", p.ID, got)
		}
	}
	beside.Send(&wire.OpenChannel{RequestID: "o", DeviceID: here.ID})
	if f := relaytest.Await[wire.ErrorFrame](beside); f.Kind != wire.KindUnavailable {
		t.Fatalf("received %+v", f)
	}
}

// Two nodes admit the same device at the same time, again and again: one remains.
func TestSimultaneousLoginsLeaveOne(t *testing.T) {
	s := natstest.Start(t)
	nodes := startNodes(t, nil, nil, s.URL(), s.URL())
	host, entry := apart(t, nodes[0], nodes[1])
	for range 5 {
		var both [2]*relaytest.Peer
		var logins sync.WaitGroup
		for i := range both {
			logins.Go(func() { both[i] = nodes[i].Login(t, host.Keys, "twin") })
		}
		logins.Wait()
		ended := make(chan int, 2)
		for i, p := range both {
			go func() {
				for {
					if _, _, err := p.Next(); err != nil {
						ended <- i
						return
					}
				}
			}()
		}
		loser := <-ended
		onEntry := waitOpen(t, entry, host.ID)
		entry.SendRecord(onEntry, []byte("x"))
		select {
		case <-ended:
			t.Fatal("both logins were ended")
		default:
		}
		both[1-loser].Close()
		<-ended
		relaytest.Await[wire.ChannelClosed](entry)
	}
}

// waitOpen opens a channel without looking at the host.
func waitOpen(t *testing.T, entry *relaytest.Peer, device ident.ID) uint32 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), relaytest.Patience)
	defer cancel()
	for ctx.Err() == nil {
		entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: device})
		for {
			f, _, err := entry.Next()
			if err != nil {
				t.Fatal(err)
			}
			if opened, ok := f.(*wire.ChannelOpened); ok {
				return opened.Channel
			}
			if _, refused := f.(*wire.ErrorFrame); refused {
				break
			}
		}
		<-time.After(20 * time.Millisecond) // a retry as a client makes it
	}
	t.Fatal("the device cannot be reached")
	return 0
}

// Fifty hosts on three nodes, each reached from every node, through an outage.
func TestFiftyHosts(t *testing.T) {
	servers := natstest.StartCluster(t, 3)
	nodes := startNodes(t, nil, func(cfg *relay.Config) {
		cfg.Limits.Pairs = relay.Rate{Burst: 1000, Every: time.Millisecond}
	}, servers[0].URL(), servers[1].URL(), servers[2].URL())
	const n = 50
	hosts := make([]*relaytest.Peer, n)
	entries := make([]*relaytest.Peer, n)
	for i := range n {
		hosts[i], entries[i] = apart(t, nodes[i%3], nodes[(i/3)%3])
	}
	talk := func() {
		var talks sync.WaitGroup
		for i := range n {
			talks.Go(func() {
				onEntry, onHost := openAgain(t, entries[i], hosts[i], relaytest.Patience)
				for j := range 20 {
					entries[i].SendRecord(onEntry, fmt.Append(nil, j))
					awaitRecord(t, hosts[i], onHost, fmt.Append(nil, j))
					hosts[i].SendRecord(onHost, fmt.Append(nil, j))
					awaitRecord(t, entries[i], onEntry, fmt.Append(nil, j))
				}
			})
		}
		talks.Wait()
	}
	talk()
	for _, s := range servers {
		s.Stop()
	}
	for i := range n {
		if i%3 != (i/3)%3 {
			relaytest.Await[wire.ChannelClosed](entries[i])
			relaytest.Await[wire.ChannelClosed](hosts[i])
		}
	}
	for _, s := range servers {
		s.Restart()
	}
	talk()
}
