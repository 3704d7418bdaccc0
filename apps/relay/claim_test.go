package relay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// claimOf is a claim that a device signs for a client, ago before now.
func claimOf(device *ident.Private, client ident.ID, ago time.Duration) *wire.ClaimBinding {
	at := time.Now().Add(-ago).UnixMilli()
	return &wire.ClaimBinding{RequestID: "claim", DeviceID: device.ID(), SignedAt: at, Proof: wire.SignBinding(device, client, at)}
}

// strangers are a host and an entry that have logged in and are not paired at this relay.
func strangers(t *testing.T, hostAt, entryAt *relaytest.Server) (host, entry *relaytest.Peer) {
	t.Helper()
	host = hostAt.Login(t, relaytest.NewKeys(t, ident.KindDevice), "laptop")
	entry = entryAt.Login(t, relaytest.NewKeys(t, ident.KindClient), "phone")
	return host, entry
}

// TestAClaimBindsWhatTheDeviceSigned: both sides are told, the binding is in the audit and
// outlives the connections, and claiming it again changes nothing.
func TestAClaimBindsWhatTheDeviceSigned(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := strangers(t, s, s)
	entry.Send(claimOf(host.Keys, entry.ID, 0))
	got := relaytest.Expect[wire.BindingClaimed](entry)
	if got.RequestID != "claim" || got.Peer.ID != host.ID || got.Peer.Public != host.Keys.Public() || got.Peer.Label != "laptop" || !got.Peer.Online {
		t.Fatalf("the client received %+v", got)
	}
	relaytest.Expect[wire.DeviceOnline](entry)
	if bound := relaytest.Expect[wire.PeerBound](host); bound.Peer.ID != entry.ID || bound.Peer.Label != "phone" || bound.Peer.Online {
		t.Fatalf("the device received %+v", bound)
	}
	relaytest.Open(t, entry, host)
	entry.Send(claimOf(host.Keys, entry.ID, time.Hour))
	if got := relaytest.Expect[wire.BindingClaimed](entry); !got.Peer.Online {
		t.Errorf("the client received %+v", got)
	}
	events, err := s.Store.Audit(t.Context(), 10)
	if err != nil || len(events) != 1 || events[0].Action != store.ActionBound || events[0].Actor != entry.ID || events[0].Device != host.ID {
		t.Errorf("the audit has %+v, %v", events, err)
	}
	host.Quiet()
	if again := s.Login(t, entry.Keys, "again"); len(again.Welcome.Peers) != 1 || !again.Welcome.Peers[0].Online {
		t.Errorf("welcome lists %+v", again.Welcome.Peers)
	}
}

// TestClaimsOfOthersAreRefused: a claim is good for one client and one device, for 30 days.
// Unknown devices are answered like bad signatures.
func TestClaimsOfOthersAreRefused(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := strangers(t, s, s)
	thief := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "thief")
	unknown := relaytest.NewKeys(t, ident.KindDevice)
	forged := claimOf(host.Keys, thief.ID, 0)
	forged.Proof = thief.Keys.Sign(wire.BindMessage(host.ID, thief.ID, forged.SignedAt))
	later := claimOf(host.Keys, entry.ID, wire.MaxClaimAge+time.Minute)
	later.SignedAt = time.Now().UnixMilli()
	for _, c := range []struct {
		why   string
		by    *relaytest.Peer
		claim *wire.ClaimBinding
		kind  wire.Kind
	}{
		{"of another client", thief, claimOf(host.Keys, entry.ID, 0), wire.KindNotFound},
		{"signed by the client", thief, forged, wire.KindNotFound},
		{"of a device that never logged in", entry, claimOf(unknown, entry.ID, 0), wire.KindNotFound},
		{"by the device", host, claimOf(host.Keys, entry.ID, 0), wire.KindNotAllowed},
		{"too old", entry, claimOf(host.Keys, entry.ID, wire.MaxClaimAge+time.Minute), wire.KindStaleProof},
		{"from the future", entry, claimOf(host.Keys, entry.ID, -wire.MaxClaimAhead-time.Minute), wire.KindStaleProof},
		{"with another time", entry, later, wire.KindNotFound},
	} {
		c.by.Send(c.claim)
		if got := c.by.ExpectError(c.kind); got.RequestID != "claim" {
			t.Errorf("%s: the error is about %q", c.why, got.RequestID)
		}
	}
	thief.Send(&wire.OpenChannel{RequestID: "open", DeviceID: host.ID})
	thief.ExpectError(wire.KindUnauthorized)
	host.Quiet()
	entry.Send(claimOf(host.Keys, entry.ID, wire.MaxClaimAge-time.Minute))
	relaytest.Expect[wire.BindingClaimed](entry)
}

// TestAReplayedClaimAfterRevocation: a claim that the client kept does not bring a revoked
// binding back; a new signature of the device does.
func TestAReplayedClaimAfterRevocation(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := strangers(t, s, s)
	kept := claimOf(host.Keys, entry.ID, time.Second)
	entry.Send(kept)
	relaytest.Await[wire.BindingClaimed](entry)
	relaytest.Expect[wire.PeerBound](host)
	host.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: entry.ID})
	relaytest.Await[wire.BindingRevoked](host)
	relaytest.Await[wire.BindingRevoked](entry)
	entry.Send(kept)
	if got := entry.ExpectError(wire.KindStaleProof); !strings.Contains(got.Message, "request a new one") {
		t.Errorf("the message is %q", got.Message)
	}
	entry.Send(&wire.OpenChannel{RequestID: "open", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized)
	host.Quiet()
	entry.Send(claimOf(host.Keys, entry.ID, -time.Minute))
	relaytest.Expect[wire.BindingClaimed](entry)
	relaytest.Expect[wire.PeerBound](host)
}

// TestAClaimWithADeviceThatIsAway: the store knows the device, which learns of the claim at
// its next login.
func TestAClaimWithADeviceThatIsAway(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, other := s.PairedPeers(t)
	host.Close()
	relaytest.Await[wire.DeviceOffline](other)
	entry := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "phone")
	entry.Send(claimOf(host.Keys, entry.ID, 0))
	if got := relaytest.Expect[wire.BindingClaimed](entry); got.Peer.Online || got.Peer.Label != "host" {
		t.Errorf("the client received %+v", got)
	}
	if back := s.Login(t, host.Keys, "host"); len(back.Welcome.Peers) != 2 {
		t.Errorf("the device's welcome has %+v", back.Welcome.Peers)
	}
	relaytest.Expect[wire.DeviceOnline](entry)
}

// TestClaimsReachOtherNodes: the device may be connected to another node than the client,
// and in no store.
func TestClaimsReachOtherNodes(t *testing.T) {
	st, shared := relaytest.OpenStore(t, t.TempDir()+"/relay.db"), bus.NewLocal()
	node := func(cfg *relay.Config) { cfg.Store, cfg.Bus = st, shared }
	one, two := relaytest.Start(t, node), relaytest.Start(t, node)
	host, entry := strangers(t, one, two)
	entry.Send(claimOf(host.Keys, entry.ID, 0))
	if got := relaytest.Expect[wire.BindingClaimed](entry); !got.Peer.Online || got.Peer.Label != "laptop" {
		t.Fatalf("the client received %+v", got)
	}
	if bound := relaytest.Expect[wire.PeerBound](host); bound.Peer.ID != entry.ID {
		t.Fatalf("the device received %+v", bound)
	}
	onEntry, onHost := openAgain(t, entry, host, relaytest.Patience)
	exchange(t, entry, onEntry, host, onHost)
	host.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: entry.ID})
	relaytest.Await[wire.BindingRevoked](entry)
	entry.Send(claimOf(host.Keys, entry.ID, time.Minute))
	relaytest.Await[wire.ErrorFrame](entry)
	if err := st.Revoke(t.Context(), host.ID, entry.ID, host.ID, time.Now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the replayed claim made a binding: %v", err)
	}
}

// TestALostNoticeOfAClaim: the device learns of a claim on another node from the store.
func TestALostNoticeOfAClaim(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, _ := s.PairedPeers(t)
	far := relaytest.NewKeys(t, ident.KindClient)
	device := store.Party{ID: host.ID, Public: host.Keys.Public(), Label: "host"}
	client := store.Party{ID: far.ID(), Public: far.Public(), Label: "phone"}
	if _, err := s.Store.Claim(t.Context(), device, client, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	s.Relay.ReportLoss()
	if bound := relaytest.Expect[wire.PeerBound](host); bound.Peer.ID != far.ID() {
		t.Errorf("the device received %+v", bound)
	}
}

// TestClaimsAreLimited: like attempts to pair, and apart from them.
func TestClaimsAreLimited(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Pairs = relay.Rate{Burst: 3, Every: time.Hour} })
	host, entry := strangers(t, s, s)
	for range 3 {
		entry.Send(claimOf(host.Keys, entry.ID, 0))
		relaytest.Await[wire.BindingClaimed](entry)
	}
	entry.Send(claimOf(host.Keys, entry.ID, 0))
	if got := relaytest.Await[wire.ErrorFrame](entry); got.Kind != wire.KindRateLimited {
		t.Errorf("the fourth claim: %+v", got)
	}
	entry.Send(&wire.CreatePairSession{RequestID: "pair"})
	relaytest.Expect[wire.PairSession](entry)
}
