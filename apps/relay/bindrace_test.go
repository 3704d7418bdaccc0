package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// slowBind is a store whose answer to a binding takes its time.
type slowBind struct {
	store.Store
	bound func() // after a binding is written and before the relay knows it
}

func (s *slowBind) Bind(ctx context.Context, device, client store.Party, at time.Time) error {
	err := s.Store.Bind(ctx, device, client, at)
	if s.bound != nil {
		s.bound()
	}
	return err
}

// A binding that is ended in the moment in which it is written stays ended.
func TestARevocationOvertakesItsPairing(t *testing.T) {
	slow := &slowBind{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db")}
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Store = slow })
	host := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
	entry := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	tab := s.Login(t, entry.Keys, "second tab")
	slow.bound = func() {
		tab.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
		relaytest.Await[wire.BindingRevoked](tab)
	}
	slot := relaytest.Join(t, host, entry)
	host.Send(&wire.PairAccept{Slot: slot})
	entry.Send(&wire.PairAccept{Slot: slot})
	for _, p := range []*relaytest.Peer{host, entry} {
		relaytest.Await[wire.BindingRevoked](p)
		relaytest.Await[wire.PairComplete](p)
		relaytest.Await[wire.BindingRevoked](p) // the last message has the current state
	}
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
}

// TestAPairingIsHeardOfAfterItsEnd: the news of two other nodes come in the wrong order, and
// the store, which knows better, counts.
func TestAPairingIsHeardOfAfterItsEnd(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	peer := func(of *relaytest.Peer) wire.Peer { // as the other side knows it
		other := map[*relaytest.Peer]*relaytest.Peer{host: entry, entry: host}[of]
		return s.Login(t, other.Keys, "again").Welcome.Peers[0]
	}
	device, client := peer(host), peer(entry)
	host, entry = s.Login(t, host.Keys, "host"), s.Login(t, entry.Keys, "entry")
	entry.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
	relaytest.Await[wire.BindingRevoked](entry)
	if err := s.Relay.ApplyBound(device, client); err != nil {
		t.Fatal(err)
	}
	relaytest.Await[wire.BindingRevoked](entry)
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	if f := entry.ExpectError(wire.KindUnauthorized); f.RequestID != "o" {
		t.Errorf("the error is about %q", f.RequestID)
	}
}
