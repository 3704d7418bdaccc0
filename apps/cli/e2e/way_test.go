package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestThePromptTravelsSealed runs a prompt from an entry through the relay, and
// then looks for it everywhere: it is in the session file with the entry's id, and
// nothing that the relay keeps or logs holds any part of it.
func TestThePromptTravelsSealed(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	events := make(chan api.EventEnvelope, 4096)
	c := w.open(t, e, func(envelope api.EventEnvelope) { events <- envelope })
	const marker = "zebra-quartz-4711"
	if err := os.WriteFile(filepath.Join(w.project.Path, "note.txt"), []byte(marker+"-inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := w.newSession(t, c, "s1")
	if ended := turn(t, c, events, id, "k1", "read note.txt"); ended.StopReason != session.StopEnd {
		t.Fatalf("the turn ended with %+v", ended)
	}
	turn(t, c, events, id, "k2", marker+" please")

	file := readOne(t, filepath.Join(w.home, "scorel", "sessions", "*", "*.jsonl"))
	for _, want := range []string{marker + " please", marker + "-inside", `"clientId":"` + e.keys.ID().String() + `"`} {
		if !bytes.Contains(file, []byte(want)) {
			t.Errorf("the session file lacks %s", want)
		}
	}
	if err := w.relay.Store.Close(); err != nil { // flushes the database into its file
		t.Fatal(err)
	}
	kept := w.relayLogs.bytes()
	if len(kept) == 0 {
		t.Fatal("the relay logged nothing: the search below proves nothing")
	}
	files, err := filepath.Glob(filepath.Join(w.relayDir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the relay keeps no file: %v", err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, data...)
	}
	if !bytes.Contains(kept, []byte("Test entry")) {
		t.Fatal("the database does not even hold the entry's label: the search below proves nothing")
	}
	for _, needle := range []string{marker, "zebra", base64.StdEncoding.EncodeToString([]byte(marker)), "note.txt"} {
		if bytes.Contains(kept, []byte(needle)) {
			t.Errorf("what the relay keeps and logs holds %q", needle)
		}
	}
}

func readOne(t *testing.T, pattern string) []byte {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v %v", pattern, paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEntryStartedPairing: the entry shows the code, the host redeems it.
func TestEntryStartedPairing(t *testing.T) {
	w := newWorld(t)
	keys := newKeys(t)
	e := dialEntry(t, w.relay.URL, keys)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pairing, err := e.Pairings().Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		redeemed, err := client.Call(ctx, w.local, api.RedeemPairing,
			api.RedeemPairingRequest{Code: strings.ToLower(pairing.Code.Reveal())})
		if err != nil {
			t.Errorf("redeem_pairing: %v", err)
			return
		}
		w.acceptPairing(t, redeemed.PairingID)
	}()
	peer, err := pairing.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pairing.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	<-finished
	c := w.open(t, &entry{Entry: e, keys: keys, pin: peer.Seal}, nil)
	info := ask(t, c, api.GetHost, api.Empty{})
	if info.Host.DeviceID != w.id || info.Host.RelayState != "connected" {
		t.Fatalf("get_host through the relay: %+v", info.Host)
	}
	var refused *api.Error
	_, err = client.Call(ctx, c, api.StopHost, api.Empty{})
	if !errors.As(err, &refused) || refused.Kind != api.KindNotAllowed {
		t.Fatalf("an entry could stop the host: %v", err)
	}
}

func TestAWrongCodeBurnsTheSlot(t *testing.T) {
	w := newWorld(t)
	e := dialEntry(t, w.relay.URL, newKeys(t))
	created := ask(t, w.local, api.CreatePairing, api.CreatePairingRequest{})
	right, err := pair.ParseCode(created.Code)
	if err != nil {
		t.Fatal(err)
	}
	last := byte('0')
	if strings.HasSuffix(created.Code, "0") {
		last = '1'
	}
	wrong, err := pair.ParseCode(created.Code[:len(created.Code)-1] + string(last))
	if err != nil {
		t.Fatal(err)
	}
	hostSide := make(chan error, 1)
	go func() {
		_, err := client.Call(context.Background(), w.local, api.AwaitPairing, api.PairingRequest{PairingID: created.PairingID})
		hostSide <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pairing, err := e.Pairings().Redeem(ctx, wrong)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pairing.Await(ctx); err == nil {
		t.Fatal("a wrong secret was confirmed")
	}
	if err := <-hostSide; err == nil {
		t.Fatal("the host confirmed a wrong secret")
	}
	var failed *client.PairError
	if _, err := e.Pairings().Redeem(ctx, right); !errors.As(err, &failed) || failed.Kind != wire.KindPairUnknown {
		t.Fatalf("the right code works after a failed attempt: %v", err)
	}
	if clients := ask(t, w.local, api.ListClients, api.Empty{}); len(clients.Clients) != 0 {
		t.Fatalf("the host knows %+v", clients.Clients)
	}
}

func TestARevokedClientIsRefused(t *testing.T) {
	w := newWorld(t)
	e, other := w.pairEntry(t), w.pairEntry(t)
	c, stays := w.open(t, e, nil), w.open(t, other, nil)
	ask(t, c, api.GetHost, api.Empty{})
	ask(t, stays, api.GetHost, api.Empty{})

	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: e.keys.ID()})
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("a revoked entry is still connected")
	}
	var closed *client.ClosedError
	if !errors.As(c.Err(), &closed) || (closed.Reason != wire.ReasonRevoked && closed.Reason != wire.ReasonNotAuthorized) {
		t.Fatalf("the channel ended with %v", c.Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if transport, err := e.OpenDevice(ctx, w.id, e.pin, "the host"); err == nil {
		_ = transport.Close()
		t.Fatal("a revoked entry could open a channel again")
	}
	ask(t, stays, api.GetHost, api.Empty{})
}

// TestTheHostsListIsTheLastWord: an entry that the relay believes to be bound, but
// that the host never admitted, gets nowhere; neither does one that expects
// another key, or that is not bound to a client.
func TestTheHostsListIsTheLastWord(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	known := ask(t, w.local, api.ListClients, api.Empty{}).Clients
	if len(known) != 1 {
		t.Fatalf("clients: %+v", known)
	}
	wrong := newKeys(t).Public().Seal
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if transport, err := e.OpenDevice(ctx, w.id, wrong, "the host"); err == nil {
		_ = transport.Close()
		t.Fatal("a channel opened against another key than the device's")
	}
	stranger := dialEntry(t, w.relay.URL, newKeys(t))
	if transport, err := stranger.OpenDevice(ctx, w.id, e.pin, "the host"); err == nil {
		_ = transport.Close()
		t.Fatal("an entry without a binding opened a channel")
	}
}

// TestARelayThatForgetsARevocation: the relay never hears that the host removed a
// client, still believes the two bound, and opens a channel: the host refuses it.
func TestARelayThatForgetsARevocation(t *testing.T) {
	w := newWorldBehind(t, func(relayURL string) string {
		m := newMiddle(t, relayURL)
		m.outgoing = func(data []byte) []byte {
			if frame, err := wire.DecodeControl(data, wire.MaxControl); err == nil && frame.FrameType() == "revoke_binding" {
				return nil
			}
			return data
		}
		return m.URL
	})
	e := w.pairEntry(t)
	ask(t, w.open(t, e, nil), api.GetHost, api.Empty{})
	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: e.keys.ID()})
	if len(e.Peers()) != 1 {
		t.Fatal("the relay knows of the revocation: the test proves nothing")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var closed *client.ClosedError
	transport, err := e.OpenDevice(ctx, w.id, e.pin, "the host")
	if err == nil {
		_ = transport.Close()
		t.Fatal("a removed client opened a channel")
	}
	if !errors.As(err, &closed) || closed.Reason != wire.ReasonNotAuthorized {
		t.Fatalf("got %v, want not_authorized", err)
	}
}

// TestALargeSessionReachesASlowEntry: a burst far over the relay's queue is paced
// by the window and arrives whole, while another entry is served in the meantime.
func TestALargeSessionReachesASlowEntry(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	c := w.open(t, e, nil)
	events := make(chan api.EventEnvelope, 4096)
	transport, err := client.DialDirect(t.Context(), w.host.State().Addr, w.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	local := client.New(transport, func(envelope api.EventEnvelope) { events <- envelope })
	defer local.Close()
	id := w.newSession(t, local, "big")
	prompt := noise(700_000)
	for i := range 5 {
		turn(t, local, events, id, string(rune('a'+i)), "think "+prompt)
	}
	loaded := ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	earlier, err := client.Earlier(t.Context(), c, id, loaded.Before, 0)
	if err != nil || len(earlier) == 0 {
		t.Fatalf("the log came in one piece, or not at all: %d entries before, %v", len(earlier), err)
	}
	size := 0
	for _, entry := range append(earlier, loaded.Entries...) {
		size += len(entry.Raw)
	}
	if size < 5*len(prompt) {
		t.Fatalf("the load has %d bytes of entries", size)
	}
	ask(t, c, api.GetHost, api.Empty{})
}

// noise is text of n bytes or more that does not compress below the relay's queue.
func noise(n int) string {
	random := rand.NewChaCha8([32]byte{})
	raw := make([]byte, n)
	_, _ = random.Read(raw) // never fails
	return base64.StdEncoding.EncodeToString(raw)
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }
