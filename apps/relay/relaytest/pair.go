package relaytest

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Pair takes two logged-in peers of different kinds through a pairing that both
// accept. The creator creates the code. Each has read its pair_complete, and an
// entry also its device_online.
func Pair(t testing.TB, creator, redeemer *Peer) {
	t.Helper()
	slot := Join(t, creator, redeemer)
	creator.Send(&wire.PairAccept{Slot: slot})
	redeemer.Send(&wire.PairAccept{Slot: slot})
	for _, p := range []*Peer{creator, redeemer} {
		if done := awaitComplete(p); done.Slot != slot {
			t.Fatalf("pair_complete for slot %s, want %s", done.Slot, slot)
		}
		if p.ID.Kind() == ident.KindClient {
			Expect[wire.DeviceOnline](p)
		}
	}
}

// awaitComplete reads the end of a pairing. A device of which another node stored the binding may
// hear of that first, when its own node looks at the store in between.
func awaitComplete(p *Peer) *wire.PairComplete {
	p.t.Helper()
	f, _, err := p.Next()
	if done, ok := f.(*wire.PairComplete); ok && err == nil {
		return done
	}
	if _, ok := f.(*wire.PeerBound); !ok || err != nil || p.ID.Kind() != ident.KindDevice {
		p.t.Fatalf("%s: got frame %T %+v, error %v; want pair_complete", p.ID, f, f, err)
	}
	return Expect[wire.PairComplete](p)
}

// Join lets the redeemer redeem a code of the creator and returns the slot.
func Join(t testing.TB, creator, redeemer *Peer) string {
	t.Helper()
	creator.Send(&wire.CreatePairSession{RequestID: "create"})
	slot := Expect[wire.PairSession](creator).Slot
	redeemer.Send(&wire.RedeemPair{RequestID: "redeem", Slot: slot})
	seen := Expect[wire.PairJoined](redeemer)
	other := Expect[wire.PairJoined](creator)
	if seen.Peer.ID != creator.ID || other.Peer.ID != redeemer.ID || seen.RequestID != "redeem" || other.RequestID != "" {
		t.Fatalf("pair_joined names %s and %s, want %s and %s", seen.Peer.ID, other.Peer.ID, creator.ID, redeemer.ID)
	}
	return slot
}

// Open opens a channel from entry to host and returns its number on each.
func Open(t testing.TB, entry, host *Peer) (onEntry, onHost uint32) {
	t.Helper()
	entry.Send(&wire.OpenChannel{RequestID: "open", DeviceID: host.ID})
	a, b := Expect[wire.ChannelOpened](entry), Expect[wire.ChannelOpened](host)
	if a.PeerID != host.ID || b.PeerID != entry.ID || a.RequestID != "open" || b.RequestID != "" {
		t.Fatalf("channel_opened names %s (%q) and %s (%q)", a.PeerID, a.RequestID, b.PeerID, b.RequestID)
	}
	return a.Channel, b.Channel
}

// PairedPeers returns a paired host and entry with new identities.
func (s *Server) PairedPeers(t testing.TB) (host, entry *Peer) {
	t.Helper()
	host = s.Login(t, NewKeys(t, ident.KindDevice), "host")
	entry = s.Login(t, NewKeys(t, ident.KindClient), "entry")
	Pair(t, entry, host)
	return host, entry
}
