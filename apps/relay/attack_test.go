package relay_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// safeBuffer is a log sink for many goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestLogsHoldNoPayloadCodeOrKey(t *testing.T) {
	var logs safeBuffer
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const invite = "7K3M-9QXR-2BTD-0V5W"
	invited := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	invited.SendHello(func(h *wire.Hello) { h.Invite = invite })
	relaytest.Expect[wire.Welcome](invited)
	host := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "label-of-the-host")
	entry := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "label-of-the-entry")
	slot := relaytest.Join(t, entry, host)
	const tag, payload = "pairing tag that is opaque", "payload that is sealed"
	host.Send(&wire.PairMessage{Slot: slot, Body: []byte(tag)})
	relaytest.Expect[wire.PairMessage](entry)
	host.Send(&wire.PairAccept{Slot: slot})
	entry.Send(&wire.PairAccept{Slot: slot})
	relaytest.Await[wire.PairComplete](host)
	relaytest.Await[wire.DeviceOnline](entry)
	onEntry, onHost := relaytest.Open(t, entry, host)
	entry.SendRecord(onEntry, []byte(payload))
	host.ExpectRecord(onHost, []byte(payload))
	entry.Send(&wire.RevokeBinding{RequestID: "r", PeerID: host.ID})
	relaytest.Await[wire.BindingRevoked](host)
	host.SendMessage(websocket.MessageText, []byte(`{"type":"pair_message","slot":"`+payload+`"}`))
	host.ExpectError(wire.KindBadFrame)
	bad := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	bad.SendMessage(websocket.MessageText, []byte(payload))
	bad.ExpectError(wire.KindBadFrame)
	for _, p := range []*relaytest.Peer{host, entry, bad, invited} {
		p.Close()
	}
	s.Stop(t)

	text := logs.String()
	if !strings.Contains(text, "binding written") || !strings.Contains(text, "binding revoked") || !strings.Contains(text, "level=DEBUG") {
		t.Fatalf("the log does not tell what happened:\n%s", text)
	}
	forbidden := map[string][]byte{"payload": []byte(payload), "tag": []byte(tag), "nonce": host.Hello.Nonce, "invite": []byte(invite)}
	for _, p := range []*relaytest.Peer{host, entry} {
		pub := p.Keys.Public()
		forbidden["sign key of "+p.ID.String()], forbidden["seal key of "+p.ID.String()] = pub.Sign[:], pub.Seal[:]
	}
	for what, secret := range forbidden {
		for _, form := range []string{
			string(secret), hex.EncodeToString(secret),
			base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret),
		} {
			if strings.Contains(text, form) {
				t.Errorf("the log holds the %s", what)
			}
		}
	}
	for _, word := range []string{"slot", slot + " ", slot + "\n", `"` + slot + `"`} {
		if strings.Contains(text, word) {
			t.Errorf("the log holds %q", word)
		}
	}
}

// A frame that only the relay may send, or one from the wrong role, moves nothing.
func TestFramesOfTheRelayAreRefusedFromPeers(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	victim := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "victim")
	for _, f := range []wire.Frame{
		&wire.Welcome{ID: victim.ID},
		&wire.ChannelOpened{Channel: 1, PeerID: victim.ID},
		&wire.ChannelClosed{Channel: 1, Reason: wire.ReasonClosed},
		&wire.DeviceOnline{DeviceID: host.ID},
		&wire.BindingRevoked{PeerID: victim.ID},
		&wire.PairSession{RequestID: "x", Slot: "0000"},
	} {
		host.Send(f)
		host.ExpectError(wire.KindNotAllowed)
	}
	// A second hello changes no identity.
	h := wire.Hello{Authority: s.Authority(), Label: "x"}
	h.Sign(victim.Keys, entry.Hello.Nonce)
	entry.SendRawHello(h)
	entry.ExpectError(wire.KindNotAllowed)
	relaytest.Open(t, entry, host)
	victim.Quiet()
}

func TestChannelNumbersOfOthersAreOutOfReach(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	thief := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "thief")
	onEntry, onHost := relaytest.Open(t, entry, host)
	thief.SendRecord(onEntry, []byte("forged"))
	relaytest.Expect[wire.ChannelClosed](thief)
	thief.Send(&wire.CloseChannel{Channel: onEntry})
	thief.ExpectError(wire.KindUnknownChannel)
	entry.SendRecord(onEntry, []byte("true"))
	host.ExpectRecord(onHost, []byte("true"))
}

func TestFramesOfNewerPeersAreSkipped(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	entry.SendMessage(websocket.MessageText, []byte(`{"type":"from_the_future","x":[1,{"y":2}]}`))
	entry.SendMessage(websocket.MessageText, []byte(`{"type":"open_channel","requestId":"q","deviceId":"`+host.ID.String()+`","novelty":true}`))
	if got := relaytest.Expect[wire.ChannelOpened](entry); got.RequestID != "q" {
		t.Fatalf("got %+v", got)
	}
}

func TestBadFramesEndTheConnectionOfTheirSenderOnly(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)
	for name, tc := range map[string]struct {
		kind websocket.MessageType
		data string
	}{
		"no JSON":           {websocket.MessageText, "{{{"},
		"no type":           {websocket.MessageText, `{"channel":1}`},
		"wrong field":       {websocket.MessageText, `{"type":"close_channel","channel":"one"}`},
		"bad UTF-8":         {websocket.MessageText, "{\"type\":\"\xff\"}"},
		"text over limit":   {websocket.MessageText, strings.Repeat(" ", 64<<10+1)},
		"empty message":     {websocket.MessageBinary, ""},
		"cut header":        {websocket.MessageBinary, "\x00\x00"},
		"cut record":        {websocket.MessageBinary, "\x00\x00\x00\x01\x00\x00\x00\x09short"},
		"length 0":          {websocket.MessageBinary, "\x00\x00\x00\x01\x00\x00\x00\x00"},
		"length 65536":      {websocket.MessageBinary, "\x00\x00\x00\x01\x00\x01\x00\x00" + strings.Repeat("x", 65536)},
		"message too large": {websocket.MessageBinary, strings.Repeat("\x00\x00\x00\x01\x00\x00\x00\x01x", 30_000)},
	} {
		t.Run(name, func(t *testing.T) {
			bad := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "bad")
			bad.SendMessage(tc.kind, []byte(tc.data))
			relaytest.Await[wire.ErrorFrame](bad)
			bad.ExpectEnd(wire.ReasonBadFrame)
		})
	}
	entry.SendRecord(onEntry, []byte("unharmed"))
	host.ExpectRecord(onHost, []byte("unharmed"))
}

func TestControlFloodEndsItsSender(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Controls = relay.Rate{Burst: 50, Every: time.Hour} })
	flooder := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "flooder")
	for range 51 {
		flooder.Send(&wire.CloseChannel{Channel: 7})
	}
	for range 50 {
		flooder.ExpectError(wire.KindUnknownChannel)
	}
	flooder.ExpectError(wire.KindRateLimited)
	flooder.ExpectEnd(wire.ReasonProtocol)
}

// Pings and pongs cost nothing to send: they count as control frames do.
func TestPingsAndPongsWithoutEndEndTheirSender(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Controls = relay.Rate{Burst: 50, Every: time.Hour} })
	host, entry := s.PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)
	for name, frame := range map[string]string{"pings": "\x89\x80\x00\x00\x00\x00", "pongs": "\x8a\x80\x00\x00\x00\x00"} {
		flooder, err := relaytest.DialRaw(new(net.Dialer), s.Authority(), relaytest.NewKeys(t, ident.KindClient), name)
		if err != nil {
			t.Fatal(err)
		}
		defer flooder.Close()
		if _, err := io.WriteString(flooder.Net, strings.Repeat(frame, 51)); err != nil {
			t.Fatal(err)
		}
		_ = flooder.Net.SetReadDeadline(time.Now().Add(relaytest.Patience))
		said, err := io.ReadAll(flooder.Net) // ends with the connection
		if err != nil || !bytes.Contains(said, []byte("too many control frames")) {
			t.Errorf("%s: %v, and it received %q", name, err, said)
		}
	}
	entry.SendRecord(onEntry, []byte("unharmed"))
	host.ExpectRecord(onHost, []byte("unharmed"))
}

func TestNothingIsLeftAfterManyPeersCameAndWent(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Limits.Logins.Burst, cfg.Limits.LoginFailures.Burst = 1<<20, 1<<20
	})
	host, entry := s.PairedPeers(t)
	for i := range 200 {
		tab := s.Login(t, entry.Keys, "tab")
		tab.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
		_, onHost := relaytest.Expect[wire.ChannelOpened](tab), relaytest.Expect[wire.ChannelOpened](host).Channel
		switch i % 4 {
		case 0:
			tab.Close() // vanishes
		case 1:
			tab.SendMessage(websocket.MessageText, []byte("{")) // misbehaves
			relaytest.Await[wire.Goodbye](tab)
			tab.Close()
		case 2:
			_ = tab.WS.Close(websocket.StatusNormalClosure, "") // says goodbye
		case 3:
			s.Dial(t, entry.Keys).Close() // beside one that never logs in
			tab.Close()
		}
		if got := relaytest.Expect[wire.ChannelClosed](host); got.Channel != onHost || got.Reason != wire.ReasonPeerGone {
			t.Fatalf("round %d: host received %+v", i, got)
		}
	}
	host.Close()
	entry.Close()
	s.Stop(t)
	rec := httptest.NewRecorder()
	s.Relay.MetricsHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`scorel_relay_connections{role="host"} 0`, `scorel_relay_connections{role="entry"} 0`, `scorel_relay_channels 0`,
		`scorel_relay_channel_ends_total{reason="peer_gone"} 200`, `scorel_relay_connection_ends_total{reason="bad_frame"} 50`,
	} {
		if !strings.Contains(rec.Body.String(), want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// FuzzConnection sends garbage to a live relay: it must neither fall over nor
// harm the pair that talks beside it.
func FuzzConnection(f *testing.F) {
	f.Add(true, []byte(`{"type":"open_channel","requestId":"1","deviceId":"dev_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`))
	f.Add(true, []byte(`{"type":"pair_message","slot":"0000","body":"AAAA"}`))
	f.Add(false, []byte("\x00\x00\x00\x01\x00\x00\x00\x05hello\x00\x00\x00\x02\x00\x00\x00\x01x"))
	f.Add(false, []byte("\x00\x00\x00\x01\xff\xff\xff\xff"))
	s := relaytest.Start(f, func(cfg *relay.Config) {
		cfg.Limits.Logins.Burst, cfg.Limits.LoginFailures.Burst = 1<<30, 1<<30
		cfg.Limits.Controls.Burst, cfg.Limits.Pairs.Burst = 1<<30, 1<<30
	})
	host, entry := s.PairedPeers(f)
	onEntry, onHost := relaytest.Open(f, entry, host)
	keys := relaytest.NewKeys(f, ident.KindClient)
	f.Fuzz(func(t *testing.T, text bool, data []byte) {
		kind := websocket.MessageBinary
		if text {
			kind = websocket.MessageText
		}
		host.Under(t)
		entry.Under(t)
		bad := s.Login(t, keys, "fuzz")
		bad.SendMessage(kind, data)
		bad.Close()
		entry.SendRecord(onEntry, []byte("unharmed"))
		host.ExpectRecord(onHost, []byte("unharmed"))
	})
}
