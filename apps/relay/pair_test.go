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

func newPair(t *testing.T, s *relaytest.Server) (host, entry *relaytest.Peer) {
	t.Helper()
	host = s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
	entry = s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	return host, entry
}

func TestPairingFromEitherSide(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := newPair(t, s)
	relaytest.Pair(t, host, entry)
	relaytest.Open(t, entry, host)

	other := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "other")
	relaytest.Pair(t, other, host)
	relaytest.Open(t, other, host)

	relaytest.Pair(t, entry, host) // again renews it and hurts nothing
	relaytest.Open(t, entry, host)
	peers, err := s.Store.Bindings(context.Background(), host.ID)
	if err != nil || len(peers) != 2 {
		t.Fatalf("bindings of the host: %v, %v", peers, err)
	}
}

func TestPairingShowsBothSidesEachOther(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := newPair(t, s)
	before := time.Now()
	entry.Send(&wire.CreatePairSession{RequestID: "c"})
	session := relaytest.Expect[wire.PairSession](entry)
	expires := time.UnixMilli(session.ExpiresAt)
	if session.RequestID != "c" || expires.Before(before.Add(wire.PairTimeout-time.Second)) || expires.After(time.Now().Add(wire.PairTimeout)) {
		t.Fatalf("pair_session: %+v", session)
	}
	host.Send(&wire.RedeemPair{RequestID: "r", Slot: session.Slot})
	toHost, toEntry := relaytest.Expect[wire.PairJoined](host).Peer, relaytest.Expect[wire.PairJoined](entry).Peer
	if toHost.ID != entry.ID || toHost.Public != entry.Keys.Public() || toHost.Label != "entry" || toHost.Online {
		t.Fatalf("host sees %+v", toHost)
	}
	if toEntry.ID != host.ID || toEntry.Public != host.Keys.Public() || toEntry.Label != "host" || !toEntry.Online {
		t.Fatalf("entry sees %+v", toEntry)
	}
	entry.Send(&wire.PairMessage{Slot: session.Slot, Body: []byte("opaque")})
	if got := relaytest.Expect[wire.PairMessage](host); string(got.Body) != "opaque" || got.Slot != session.Slot {
		t.Fatalf("host got %+v", got)
	}
	// One yes is not a binding.
	entry.Send(&wire.PairAccept{Slot: session.Slot})
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
	entry.Send(&wire.PairAccept{Slot: session.Slot}) // saying it twice is still one yes
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
}

func TestCodeServesOnce(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := newPair(t, s)
	thief := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "thief")
	slot := relaytest.Join(t, entry, host)
	thief.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
	thief.ExpectError(wire.KindPairBusy)
	// Who is no side of a pairing can neither speak in it, nor accept, nor end it.
	thief.Send(&wire.PairMessage{Slot: slot, Body: []byte("x")})
	thief.ExpectError(wire.KindPairUnknown)
	thief.Send(&wire.PairAccept{Slot: slot})
	thief.ExpectError(wire.KindPairUnknown)
	thief.Send(&wire.PairReject{Slot: slot})
	thief.ExpectError(wire.KindPairUnknown)
	host.Send(&wire.PairAccept{Slot: slot})
	entry.Send(&wire.PairAccept{Slot: slot})
	relaytest.Expect[wire.PairComplete](host)
	relaytest.Expect[wire.PairComplete](entry)
	thief.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
	thief.ExpectError(wire.KindPairUnknown)
}

func TestPairingEndsWithoutABinding(t *testing.T) {
	for _, tc := range []struct {
		name  string
		end   func(host *relaytest.Peer, slot string)
		want  wire.Kind
		limit time.Duration
	}{
		{"refused", func(host *relaytest.Peer, slot string) { host.Send(&wire.PairReject{Slot: slot}) }, wire.KindBadProof, 0},
		{"other side gone", func(host *relaytest.Peer, _ string) { host.Close() }, wire.KindPairUnknown, 0},
		{"expired", func(*relaytest.Peer, string) {}, wire.KindPairUnknown, 200 * time.Millisecond},
		{"talked too long", func(host *relaytest.Peer, slot string) {
			for range 33 {
				host.Send(&wire.PairMessage{Slot: slot, Body: []byte("x")})
			}
		}, wire.KindLimit, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.PairTimeout = tc.limit })
			host, entry := newPair(t, s)
			slot := relaytest.Join(t, entry, host)
			tc.end(host, slot)
			if got := relaytest.Await[wire.PairClosed](entry); got.Kind != tc.want || got.Slot != slot || got.Message == "" {
				t.Fatalf("entry received %+v, want %s", got, tc.want)
			}
			second := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "second")
			second.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
			second.ExpectError(wire.KindPairUnknown) // burnt
			entry.Send(&wire.PairAccept{Slot: slot})
			entry.ExpectError(wire.KindPairUnknown)
		})
	}
}

func TestPairingIsBetweenADeviceAndAClient(t *testing.T) {
	s := relaytest.Start(t, nil)
	for _, kind := range []ident.Kind{ident.KindDevice, ident.KindClient} {
		a := s.Login(t, relaytest.NewKeys(t, kind), "a")
		b := s.Login(t, relaytest.NewKeys(t, kind), "b")
		a.Send(&wire.CreatePairSession{RequestID: "c"})
		slot := relaytest.Expect[wire.PairSession](a).Slot
		b.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
		b.ExpectError(wire.KindPairSelf)
		a.Quiet()
	}
}

func TestAttemptsToPairAreLimited(t *testing.T) {
	t.Run("per identity", func(t *testing.T) {
		s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Pairs = relay.Rate{Burst: 4, Every: time.Hour} })
		guesser := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "guesser")
		for range 4 {
			guesser.Send(&wire.RedeemPair{RequestID: "r", Slot: "0000"})
			guesser.ExpectError(wire.KindPairUnknown)
		}
		guesser.Send(&wire.RedeemPair{RequestID: "r", Slot: "0000"})
		guesser.ExpectError(wire.KindRateLimited)
		// A new identity is free to make, so the address counts too.
		fresh := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "fresh")
		fresh.Send(&wire.RedeemPair{RequestID: "r", Slot: "0000"})
		fresh.ExpectError(wire.KindRateLimited)
		fresh.Send(&wire.CreatePairSession{RequestID: "c"})
		fresh.ExpectError(wire.KindRateLimited)
	})
	t.Run("open codes of one connection", func(t *testing.T) {
		s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.SlotsPerConnection = 2 })
		p := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "p")
		for range 2 {
			p.Send(&wire.CreatePairSession{RequestID: "c"})
			relaytest.Expect[wire.PairSession](p)
		}
		p.Send(&wire.CreatePairSession{RequestID: "c"})
		p.ExpectError(wire.KindLimit)
	})
}

func TestTooManyBindings(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := newPair(t, s)
	device := store.Party{ID: host.ID, Public: host.Keys.Public(), Label: "host"}
	for range wire.MaxBindings {
		keys := relaytest.NewKeys(t, ident.KindClient)
		party := store.Party{ID: keys.ID(), Public: keys.Public(), Label: `<<<<"""" label that grows when JSON escapes it >>>>""""`}
		if err := s.Store.Bind(context.Background(), device, party, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	host = s.Login(t, host.Keys, "host") // its welcome is large
	if len(host.Welcome.Peers) != wire.MaxBindings {
		t.Fatalf("welcome lists %d peers", len(host.Welcome.Peers))
	}
	entry.Send(&wire.CreatePairSession{RequestID: "c"})
	slot := relaytest.Expect[wire.PairSession](entry).Slot
	host.Send(&wire.RedeemPair{RequestID: "r", Slot: slot})
	host.ExpectError(wire.KindLimit)
}
