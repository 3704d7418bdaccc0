package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestLoginTellsWhoAndWhatIsBound(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	host.Close()
	host = s.Login(t, host.Keys, "renamed host")
	if w := host.Welcome; w.ID != host.ID || len(w.Peers) != 1 || w.Peers[0].ID != entry.ID || w.Peers[0].Online ||
		w.Peers[0].Public != entry.Keys.Public() || time.Since(time.UnixMilli(w.ServerTime)).Abs() > time.Minute {
		t.Fatalf("host's welcome, with the entry connected: %+v", w)
	}
	entry = s.Login(t, entry.Keys, "entry")
	if p := entry.Welcome.Peers; len(p) != 1 || p[0].ID != host.ID || !p[0].Online || p[0].Label != "renamed host" {
		t.Fatalf("entry's welcome: %+v", entry.Welcome)
	}
}

func TestLoginIsRefused(t *testing.T) {
	victim := relaytest.NewKeys(t, ident.KindClient)
	for _, tc := range []struct {
		name  string
		hello func(h *wire.Hello, p *relaytest.Peer) // after signing
		want  wire.Kind
	}{
		{"id of another", func(h *wire.Hello, _ *relaytest.Peer) { h.ID = victim.ID() }, wire.KindBadFrame},
		{"id and keys of another", func(h *wire.Hello, _ *relaytest.Peer) { h.ID, h.Public = victim.ID(), victim.Public() }, wire.KindBadProof},
		{"proof for another nonce", func(h *wire.Hello, p *relaytest.Peer) { h.Sign(p.Keys, make([]byte, wire.NonceLen)) }, wire.KindBadProof},
		{"another relay's name", func(h *wire.Hello, p *relaytest.Peer) {
			h.Authority = "other.example"
			h.Sign(p.Keys, p.Hello.Nonce)
		}, wire.KindWrongAuthority},
		{"another port", func(h *wire.Hello, p *relaytest.Peer) {
			h.Authority = "127.0.0.1:1"
			h.Sign(p.Keys, p.Hello.Nonce)
		}, wire.KindWrongAuthority},
		{"newer version", func(h *wire.Hello, _ *relaytest.Peer) { h.Version = 99 }, wire.KindBadVersion},
		{"no label", func(h *wire.Hello, _ *relaytest.Peer) { h.Label = "" }, wire.KindBadFrame},
		{"terminal escape in the label", func(h *wire.Hello, _ *relaytest.Peer) { h.Label = "\x1b[2J" }, wire.KindBadFrame},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := relaytest.Start(t, nil)
			p := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
			h := wire.Hello{Authority: s.Authority(), Label: "x"}
			h.Sign(p.Keys, p.Hello.Nonce)
			tc.hello(&h, p)
			p.SendRawHello(h)
			p.ExpectError(tc.want)
			p.ExpectEnd(wire.ReasonLoginFailed)
		})
	}
}

func TestHelloCannotBeReplayed(t *testing.T) {
	s := relaytest.Start(t, nil)
	first := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	h := wire.Hello{Authority: s.Authority(), Label: "x"}
	h.Sign(first.Keys, first.Hello.Nonce)
	first.SendRawHello(h)
	relaytest.Expect[wire.Welcome](first)
	second := s.Dial(t, first.Keys)
	second.SendRawHello(h)
	second.ExpectError(wire.KindBadProof)
	second.ExpectEnd(wire.ReasonLoginFailed)
}

func TestBeforeLogin(t *testing.T) {
	big := `{"type":"entry_hello","label":"` + strings.Repeat("x", wire.MaxPreLogin) + `"}`
	for _, tc := range []struct {
		name string
		kind websocket.MessageType
		data string
		want wire.Kind
	}{
		{"record", websocket.MessageBinary, "\x00\x00\x00\x01\x00\x00\x00\x01x", wire.KindBadFrame},
		{"over 8 KiB", websocket.MessageText, big, wire.KindBadFrame},
		{"no JSON", websocket.MessageText, "hello", wire.KindBadFrame},
		{"unknown type", websocket.MessageText, `{"type":"future_hello"}`, wire.KindUnknownFrameType},
		{"request", websocket.MessageText, `{"type":"create_pair_session","requestId":"1"}`, wire.KindNotAllowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := relaytest.Start(t, nil)
			p := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
			p.SendMessage(tc.kind, []byte(tc.data))
			p.ExpectError(tc.want)
			p.ExpectEnd(wire.ReasonLoginFailed)
		})
	}
}

func TestLoginMustComeInTime(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.LoginTimeout = 50 * time.Millisecond })
	p := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	p.ExpectError(wire.KindLoginTimeout)
	p.ExpectEnd(wire.ReasonLoginFailed)
}

func TestFailedLoginsAreLimitedPerAddress(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Limits.LoginFailures = relay.Rate{Burst: 3, Every: time.Hour}
	})
	in := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "in before")
	for range 3 {
		p := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
		p.SendMessage(websocket.MessageText, []byte("{}"))
		p.ExpectError(wire.KindBadFrame)
	}
	ctx, cancel := context.WithTimeout(context.Background(), relaytest.Patience)
	defer cancel()
	_, resp, err := websocket.Dial(ctx, s.URL+wire.ConnectPath, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}})
	if err == nil || resp == nil || resp.StatusCode != 429 {
		t.Fatalf("fourth try: response %v, error %v; want 429", resp, err)
	}
	in.Quiet() // who is in stays in
}

func TestLoginsOfOneIdentityAreLimited(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Logins = relay.Rate{Burst: 2, Every: time.Hour} })
	keys := relaytest.NewKeys(t, ident.KindDevice)
	s.Login(t, keys, "one")
	s.Login(t, keys, "two")
	third := s.Dial(t, keys)
	third.SendHello(nil)
	third.ExpectError(wire.KindRateLimited)
	third.ExpectEnd(wire.ReasonLoginFailed)
	s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "another")
}

func TestNewerHostReplacesTheOlder(t *testing.T) {
	s := relaytest.Start(t, nil)
	older, entry := s.PairedPeers(t)
	onEntry, _ := relaytest.Open(t, entry, older)
	newer := s.Login(t, older.Keys, "newer")
	relaytest.Expect[wire.Goodbye](older) // at once, without the older one's doing
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Channel != onEntry || got.Reason != wire.ReasonPeerGone {
		t.Fatalf("entry received %+v", got)
	}
	a, b := relaytest.Open(t, entry, newer)
	entry.SendRecord(a, []byte("to the newer"))
	newer.ExpectRecord(b, []byte("to the newer"))
	older.Close()
	newer.Quiet() // the older one's end does not take the newer one offline
	relaytest.Open(t, entry, newer)
}

func TestAReplacedHostIsAskedToBackOff(t *testing.T) {
	s := relaytest.Start(t, nil)
	keys := relaytest.NewKeys(t, ident.KindDevice)
	older := s.Login(t, keys, "older")
	s.Login(t, keys, "newer")
	if bye := older.ExpectEnd(wire.ReasonReplaced); bye.RetryAfter < 10_000 {
		t.Fatalf("retryAfter is %d ms", bye.RetryAfter)
	}
}

func TestConnectionsOfOneEntryAreLimited(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.ConnectionsPerEntry = 2 })
	keys := relaytest.NewKeys(t, ident.KindClient)
	s.Login(t, keys, "one")
	s.Login(t, keys, "two")
	third := s.Dial(t, keys)
	third.SendHello(nil)
	third.ExpectError(wire.KindLimit)
}

// brokenStore answers nothing while broken is set.
type brokenStore struct {
	store.Store
	broken chan struct{} // closed: broken
}

func (b *brokenStore) err() error {
	select {
	case <-b.broken:
		return errors.New("the disk is gone")
	default:
		return nil
	}
}

func (b *brokenStore) Bindings(ctx context.Context, id ident.ID) ([]store.Party, error) {
	if err := b.err(); err != nil {
		return nil, err
	}
	return b.Store.Bindings(ctx, id)
}

func (b *brokenStore) Admit(ctx context.Context, p store.Party, invite store.InviteHash, at time.Time) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.Store.Admit(ctx, p, invite, at)
}

func (b *brokenStore) Bind(ctx context.Context, device, client store.Party, at time.Time) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.Store.Bind(ctx, device, client, at)
}

func (b *brokenStore) Revoke(ctx context.Context, device, client, actor ident.ID, at time.Time) error {
	if err := b.err(); err != nil {
		return err
	}
	return b.Store.Revoke(ctx, device, client, actor, at)
}

func (b *brokenStore) Check(ctx context.Context) error {
	return errors.Join(b.err(), b.Store.Check(ctx))
}

func startBreakable(t *testing.T) (*relaytest.Server, *brokenStore) {
	broken := &brokenStore{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db"), broken: make(chan struct{})}
	return relaytest.Start(t, func(cfg *relay.Config) { cfg.Store = broken }), broken
}

func TestStoreThatCannotAnswerKeepsPeersOut(t *testing.T) {
	s, st := startBreakable(t)
	host, entry := s.PairedPeers(t)
	other := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "other")
	onEntry, onHost := relaytest.Open(t, entry, host)
	close(st.broken)

	entry.SendRecord(onEntry, []byte("the data path asks no store"))
	host.ExpectRecord(onHost, []byte("the data path asks no store"))

	p := s.Dial(t, entry.Keys)
	p.SendHello(nil)
	p.ExpectError(wire.KindUnavailable)
	p.ExpectEnd(wire.ReasonLoginFailed)

	slot := relaytest.Join(t, host, other)
	host.Send(&wire.PairAccept{Slot: slot})
	other.Send(&wire.PairAccept{Slot: slot})
	if got := relaytest.Expect[wire.PairClosed](other); got.Kind != wire.KindUnavailable {
		t.Fatalf("pairing without a store: %+v", got)
	}
	relaytest.Expect[wire.PairClosed](host)

	entry.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
	entry.ExpectError(wire.KindUnavailable)
	relaytest.Expect[wire.ChannelClosed](entry)
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindUnauthorized) // in doubt, no
}
