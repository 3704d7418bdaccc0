package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// twoRelays is a host on two relays. The second is behind a proxy that can fail.
type twoRelays struct {
	*world
	second *relaytest.Server
	way    *proxy.Proxy
	url    string // of the second relay as the host dials it
	// watcher is a direct connection, of which events has the types of the events.
	watcher *client.Client
	events  chan string
}

func newTwoRelays(t *testing.T) *twoRelays {
	t.Helper()
	w := &twoRelays{world: &world{relayDir: t.TempDir(), home: t.TempDir()}, events: make(chan string, 1024)}
	w.relay = relaytest.Start(t, func(cfg *relay.Config) { cfg.Store = relaytest.OpenStore(t, filepath.Join(w.relayDir, "relay.db")) })
	w.second = relaytest.Start(t, nil)
	w.way = proxy.New(t, proxy.TCP(w.second.Authority()))
	w.url = "http://" + w.way.Addr()
	w.start(t)
	w.await(t, 0, api.PathConnected) // pairings run over the first one that is connected
	w.await(t, 1, api.PathConnected)
	return w
}

// start starts the host, and the watcher.
func (w *twoRelays) start(t *testing.T) {
	t.Helper()
	w.startHost(t, w.relay.URL, w.url)
	transport, err := client.DialDirect(t.Context(), w.host.State().Addr, w.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	w.watcher = client.New(transport, func(envelope api.EventEnvelope) { w.events <- envelope.Event.EventType() })
	t.Cleanup(func() { _ = w.watcher.Close() })
}

// await waits until the host says that one of its relays has a state.
func (w *twoRelays) await(t *testing.T, at int, state string) {
	t.Helper()
	for {
		paths := ask(t, w.watcher, api.ListPaths, api.Empty{}).Paths
		if len(paths) != 2 || paths[0].URL != w.relay.URL || paths[1].URL != w.url || paths[1].Kind != api.PathRelay {
			t.Fatalf("the host lists %+v", paths)
		}
		if paths[at].State == state {
			return
		}
		for <-w.events != (api.PathsChanged{}).EventType() {
		}
	}
}

// pairs pairs an entry over the first relay, and opens a channel to the host.
func (w *twoRelays) pairs(t *testing.T) (*entry, *client.Client) {
	t.Helper()
	e := w.pairEntry(t)
	return e, w.open(t, e, nil)
}

// claim is what the host signed for an entry.
func (w *twoRelays) claim(t *testing.T, c *client.Client) *wire.ClaimBinding {
	t.Helper()
	proof := ask(t, c, api.ListPaths, api.Empty{}).Proof
	if proof == nil {
		t.Fatal("the host signed nothing")
	}
	return &wire.ClaimBinding{RequestID: "claim", DeviceID: w.id, SignedAt: proof.SignedAt, Proof: proof.Signature}
}

// TestOneHostOnTwoRelays: a client that is paired over one relay reaches the host over the
// other while the first is gone, with the keys that it pinned, and is removed from both.
func TestOneHostOnTwoRelays(t *testing.T) {
	w := newTwoRelays(t)
	e, c := w.pairs(t)
	info := ask(t, c, api.GetHost, api.Empty{}).Host
	if info.RelayURL != w.relay.URL || len(info.Paths) != 2 {
		t.Errorf("get_host lists %q and %+v", info.RelayURL, info.Paths)
	}
	phone := w.second.Login(t, e.keys, "phone")
	phone.Send(w.claim(t, c))
	if got := relaytest.Await[wire.BindingClaimed](phone); got.Peer.ID != w.id || !got.Peer.Online {
		t.Fatalf("the second relay answered %+v", got)
	}
	w.relay.Stop(t)
	again := w.open(t, &entry{Entry: dialEntry(t, w.second.URL, e.keys), keys: e.keys, pin: e.pin}, nil)
	if info := ask(t, again, api.GetHost, api.Empty{}).Host; info.DeviceID != w.id {
		t.Errorf("another host answered: %s", info.DeviceID)
	}
	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: e.keys.ID()})
	relaytest.Await[wire.BindingRevoked](phone)
	if _, err := client.Call(t.Context(), again, api.GetHost, api.Empty{}); err == nil {
		t.Error("a removed client still reaches the host")
	}
}

// TestRevocationWaitsForARelay: a relay that cannot be reached while a client is removed
// learns of it at the host's next login.
func TestRevocationWaitsForARelay(t *testing.T) {
	w := newTwoRelays(t)
	e, c := w.pairs(t)
	phone := w.second.Login(t, e.keys, "phone")
	phone.Send(w.claim(t, c))
	relaytest.Await[wire.BindingClaimed](phone)
	w.way.Cut()
	w.await(t, 1, api.PathConnecting)
	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: e.keys.ID()})
	if again := w.second.Login(t, e.keys, "phone"); len(again.Welcome.Peers) != 1 {
		t.Fatalf("the second relay lists %+v", again.Welcome.Peers)
	}
	w.way.Heal()
	relaytest.Await[wire.BindingRevoked](phone)
}

// TestABindingThatAClientEnds: what one relay says about a binding counts for that relay. The
// client stays on the host's list, and is served over the other relay, until none holds one.
func TestABindingThatAClientEnds(t *testing.T) {
	w := newTwoRelays(t)
	e, c := w.pairs(t)
	phone := w.second.Login(t, e.keys, "phone")
	phone.Send(w.claim(t, c))
	relaytest.Await[wire.BindingClaimed](phone)
	// A channel over the second relay: the host knows by then that this relay has a binding.
	first := client.New(openOver(t, w, e), nil)
	ask(t, first, api.GetHost, api.Empty{})
	_ = first.Close()
	if err := e.Revoke(t.Context(), w.id); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	over := dialEntry(t, w.second.URL, e.keys)
	transport, err := over.OpenDevice(t.Context(), w.id, e.pin, "the host")
	if err != nil {
		t.Fatalf("over the other relay: %v", err)
	}
	still := client.New(transport, nil)
	defer still.Close()
	if len(ask(t, still, api.ListPaths, api.Empty{}).Paths) != 2 || len(ask(t, w.local, api.ListClients, api.Empty{}).Clients) != 1 {
		t.Error("one relay had the client removed")
	}
	if err := over.Revoke(t.Context(), w.id); err != nil {
		t.Fatal(err)
	}
	w.awaitClients(t, 0)
}

func openOver(t *testing.T, w *twoRelays, e *entry) client.Transport {
	t.Helper()
	transport, err := dialEntry(t, w.second.URL, e.keys).OpenDevice(t.Context(), w.id, e.pin, "the host")
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

// TestABindingEndsBeforeARestart: a client ended its binding while the other relay could not be
// asked. The host remembers that over a restart, and removes the client once that relay has none.
func TestABindingEndsBeforeARestart(t *testing.T) {
	w := newTwoRelays(t)
	e, _ := w.pairs(t)
	w.way.Cut()
	w.stopHost()
	w.start(t)
	w.await(t, 0, api.PathConnected)
	c := w.open(t, e, nil)
	if err := e.Revoke(t.Context(), w.id); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	for marked := false; !marked; { // the channel may end before the host has recorded why
		list, err := os.ReadFile(filepath.Join(w.home, "scorel", "clients.json"))
		if err != nil {
			t.Fatal(err)
		}
		marked = strings.Contains(string(list), `"left"`)
	}
	if len(ask(t, w.local, api.ListClients, api.Empty{}).Clients) != 1 {
		t.Fatal("the client was removed although a relay was not asked")
	}
	w.stopHost()
	w.way.Heal()
	w.start(t)
	w.await(t, 1, api.PathConnected)
	w.awaitClients(t, 0)
}

// TestAClientThatLeaves tells the host over the sealed channel, and is answered: it is removed on
// all paths, also at a relay that cannot be reached now.
func TestAClientThatLeaves(t *testing.T) {
	w := newTwoRelays(t)
	e, c := w.pairs(t)
	phone := w.second.Login(t, e.keys, "phone")
	phone.Send(w.claim(t, c))
	relaytest.Await[wire.BindingClaimed](phone)
	other, err := dialEntry(t, w.second.URL, e.keys).OpenDevice(t.Context(), w.id, e.pin, "the host")
	if err != nil {
		t.Fatal(err)
	}
	another := client.New(other, nil)
	defer another.Close()
	ask(t, another, api.GetHost, api.Empty{})
	ask(t, c, api.Leave, api.Empty{})
	<-c.Done()
	<-another.Done()
	relaytest.Await[wire.BindingRevoked](phone)
	if clients := ask(t, w.local, api.ListClients, api.Empty{}).Clients; len(clients) != 0 {
		t.Errorf("the list has %+v", clients)
	}
	if _, err := client.Call(t.Context(), w.local, api.Leave, api.Empty{}); err == nil {
		t.Error("a program of the machine left")
	}
}

// awaitClients waits until the host's list has a number of clients.
func (w *twoRelays) awaitClients(t *testing.T, n int) {
	t.Helper()
	for len(ask(t, w.local, api.ListClients, api.Empty{}).Clients) != n {
		for <-w.events != (api.ClientsChanged{}).EventType() {
		}
	}
}

// TestAClaimOfARemovedClient: a client kept what the host signed and claims it at a relay
// where it had no binding. The host ends that binding at once, and nothing gets in.
func TestAClaimOfARemovedClient(t *testing.T) {
	w := newTwoRelays(t)
	e, c := w.pairs(t)
	kept := w.claim(t, c)
	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: e.keys.ID()})
	thief := w.second.Login(t, e.keys, "phone")
	thief.Send(kept)
	relaytest.Await[wire.BindingRevoked](thief)
	thief.Send(kept)
	if got := relaytest.Await[wire.ErrorFrame](thief); got.Kind != wire.KindStaleProof {
		t.Errorf("the second claim: %+v", got)
	}
	thief.Send(&wire.OpenChannel{RequestID: "open", DeviceID: w.id})
	if got := relaytest.Await[wire.ErrorFrame](thief); got.Kind != wire.KindUnauthorized {
		t.Errorf("a channel: %+v", got)
	}
}

// TestPairingOnEachRelay: the person chooses the relay, or the host tries all that it uses.
func TestPairingOnEachRelay(t *testing.T) {
	w := newTwoRelays(t)
	created := ask(t, w.local, api.CreatePairing, api.CreatePairingRequest{Relay: w.url})
	if want := w.url + "/pair#" + created.Code; created.URL != want {
		t.Errorf("the link is %s, want %s", created.URL, want)
	}
	_, err := client.Call(t.Context(), w.local, api.CreatePairing, api.CreatePairingRequest{Relay: "https://other.example"})
	if err == nil || !strings.Contains(err.Error(), "does not use the relay") || !strings.Contains(err.Error(), w.url) {
		t.Errorf("a relay that the host does not use: %v", err)
	}
	at := dialEntry(t, w.second.URL, newKeys(t))
	shown, err := at.Pairings().Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask(t, w.local, api.RedeemPairing, api.RedeemPairingRequest{Code: shown.Code.Reveal()})
	w.relay.Stop(t)
	w.await(t, 0, api.PathConnecting)
	if created := ask(t, w.local, api.CreatePairing, api.CreatePairingRequest{}); !strings.HasPrefix(created.URL, w.url) {
		t.Errorf("while the first relay is down the link is %s", created.URL)
	}
}

// TestDoctorOnAnotherRelay: a relay that the device has, and that does not know the pairing yet,
// is a step that a connection takes by itself.
func TestDoctorOnAnotherRelay(t *testing.T) {
	w := newTwoRelays(t)
	e, _ := w.pairs(t)
	device := w.paired(t, e)
	device.New = true
	failure, _ := w.diagnose(t, e, w.second.URL, device)
	expectStop(t, failure, doctor.StepBinding, doctor.BindingNew)
}
