package relay_test

import (
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestRevokeClosesChannelsAtOnceAndTellsBoth(t *testing.T) {
	for _, by := range []ident.Kind{ident.KindDevice, ident.KindClient} {
		t.Run(string(by), func(t *testing.T) {
			s := relaytest.Start(t, nil)
			host, entry := s.PairedPeers(t)
			tab := s.Login(t, entry.Keys, "second tab")
			bystander := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "bystander")
			relaytest.Pair(t, bystander, host)
			relaytest.Open(t, entry, host)
			relaytest.Open(t, tab, host)
			kept, keptHost := relaytest.Open(t, bystander, host)

			asker, about := host, entry.ID
			if by == ident.KindClient {
				asker, about = entry, host.ID
			}
			asker.Send(&wire.RevokeBinding{RequestID: "r", PeerID: about})
			for _, p := range []*relaytest.Peer{entry, tab, host} {
				if got := relaytest.Expect[wire.ChannelClosed](p); got.Reason != wire.ReasonRevoked {
					t.Fatalf("%s: channel closed for %s", p.ID, got.Reason)
				}
				told := relaytest.Await[wire.BindingRevoked](p)
				want := ""
				if p == asker {
					want = "r"
				}
				if told.RequestID != want || told.PeerID != host.ID && told.PeerID != entry.ID {
					t.Fatalf("%s received %+v", p.ID, told)
				}
			}
			entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
			entry.ExpectError(wire.KindUnauthorized)
			bystander.SendRecord(kept, []byte("not mine"))
			host.ExpectRecord(keptHost, []byte("not mine"))

			entry = s.Login(t, entry.Keys, "again")
			if len(entry.Welcome.Peers) != 0 {
				t.Fatalf("welcome still lists %v", entry.Welcome.Peers)
			}
			entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
			entry.ExpectError(wire.KindUnauthorized)
			relaytest.Pair(t, entry, host) // pairing again is a new yes of both
			relaytest.Open(t, entry, host)
		})
	}
}

func TestRevokeOnlyOnesOwnBindings(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	stranger := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "stranger")
	for _, id := range []ident.ID{host.ID, entry.ID, stranger.ID} {
		stranger.Send(&wire.RevokeBinding{RequestID: "r", PeerID: id})
		stranger.ExpectError(wire.KindNotFound)
	}
	relaytest.Open(t, entry, host)
}

func TestPresence(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	stranger := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "stranger")
	host.Close()
	if got := relaytest.Expect[wire.DeviceOffline](entry); got.DeviceID != host.ID {
		t.Fatalf("received %+v", got)
	}
	tab := s.Login(t, entry.Keys, "tab")
	if tab.Welcome.Peers[0].Online {
		t.Fatal("welcome says that a device that left is online")
	}
	host = s.Login(t, host.Keys, "host")
	for _, p := range []*relaytest.Peer{entry, tab} {
		if got := relaytest.Expect[wire.DeviceOnline](p); got.DeviceID != host.ID {
			t.Fatalf("received %+v", got)
		}
	}
	stranger.Quiet()
	host.Quiet()
}

// Nodes that share a bus and a store agree on who may talk to whom.
func TestRevocationAndPairingReachOtherNodes(t *testing.T) {
	st := relaytest.OpenStore(t, t.TempDir()+"/relay.db")
	shared := bus.NewLocal()
	node := func(cfg *relay.Config) { cfg.Store, cfg.Bus = st, shared }
	one, two := relaytest.Start(t, node), relaytest.Start(t, node)
	host, entry := one.PairedPeers(t)
	relaytest.Open(t, entry, host)

	elsewhere := two.Login(t, entry.Keys, "another tab, another node")
	elsewhere.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
	if got := relaytest.Await[wire.BindingRevoked](elsewhere); got.RequestID != "r" {
		t.Fatalf("received %+v", got)
	}
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Reason != wire.ReasonRevoked {
		t.Fatalf("channel on the other node closed for %s", got.Reason)
	}
	relaytest.Await[wire.BindingRevoked](entry)
	relaytest.Await[wire.BindingRevoked](host)

	moved := two.Login(t, host.Keys, "moved to the other node")
	host.ExpectEnd(wire.ReasonReplaced)
	relaytest.Pair(t, elsewhere, moved)
	relaytest.Open(t, elsewhere, moved)
	// The first node learnt of the new binding, and its entry may end it.
	entry.Send(&wire.RevokeBinding{RequestID: "r", PeerID: moved.ID})
	relaytest.Await[wire.BindingRevoked](moved)
}

func TestLostNoticesAreReadAgainFromTheStore(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	other := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "other")
	relaytest.Pair(t, other, host)
	relaytest.Open(t, entry, host)
	kept, keptHost := relaytest.Open(t, other, host)
	// Another node revokes, and its notice never arrives.
	if err := s.Store.Revoke(t.Context(), host.ID, entry.ID, entry.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.Relay.ReportLoss()
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Reason != wire.ReasonRevoked {
		t.Fatalf("channel closed for %s", got.Reason)
	}
	relaytest.Await[wire.BindingRevoked](entry)
	relaytest.Await[wire.BindingRevoked](host)
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
	other.SendRecord(kept, []byte("unharmed"))
	host.ExpectRecord(keptHost, []byte("unharmed"))
}

func TestLostNoticesWithoutAStoreCloseEverything(t *testing.T) {
	s, st := startBreakable(t)
	host, entry := s.PairedPeers(t)
	relaytest.Open(t, entry, host)
	close(st.broken)
	s.Relay.ReportLoss()
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Reason != wire.ReasonPeerGone {
		t.Fatalf("channel closed for %s", got.Reason)
	}
	relaytest.Await[wire.ChannelClosed](host)
}
