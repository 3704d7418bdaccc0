package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// networkName is how other machines name the listener of a test, which is on a loopback
// address like everything in tests.
const networkName = "192.168.7.7:7430"

// listening is a host that serves its page and the wire itself, at its loopback address and
// at one in the local network.
type listening struct {
	host    *host.Host
	own     string // host:port of the loopback address
	network string // host:port to dial for networkName
}

func startListening(t *testing.T, relays ...string) listening {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := newBeside([]string{"http://" + networkName})
	b.page, b.gate = true, openGate([]net.Listener{l})
	return startListeningWith(t, b, l, relays...)
}

// startListeningWith runs a host with a relay beside it that listens on l.
func startListeningWith(t *testing.T, b *beside, l net.Listener, relays ...string) listening {
	t.Helper()
	cfg := host.Config{
		Home: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Beside: b.forHost(), RelayURLs: relays, Getenv: func(string) string { return "" },
	}
	h, err := host.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	relay := startBeside(t.Context(), io.Discard, b, h, cfg)
	running := runHost(context.WithoutCancel(t.Context()), h)
	t.Cleanup(func() {
		if err := errors.Join(running.stop(), relay.stop()); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	<-b.ready
	if err := running.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return listening{h, h.State().Addr, l.Addr().String()}
}

// request is what a browser, or a program, sends to a listener.
type request struct {
	to                         string // host:port to dial
	method, path, host, origin string
	token                      string
	upgrade                    bool
	header, body               string // more lines of the header, each with its end; and the body
}

// status sends a request and returns the status of the answer.
func (r request) status(t *testing.T) int {
	t.Helper()
	return r.send(t).StatusCode
}

// send sends a request and returns the answer without its body.
func (r request) send(t *testing.T) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", r.to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, r.path, r.host)
	for name, value := range map[string]string{"Origin": r.origin, "Authorization": r.token} {
		if value != "" {
			fmt.Fprintf(&text, "%s: %s\r\n", name, value)
		}
	}
	if r.upgrade {
		text.WriteString("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: scorel.v1, scorel.direct.v1\r\n")
	}
	fmt.Fprintf(&text, "%sContent-Length: %d\r\n\r\n%s", r.header, len(r.body), r.body)
	if _, err := io.WriteString(conn, text.String()); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	_ = answer.Body.Close() // only its head counts
	return answer
}

// TestListenersRefuseOtherSites: no page of another origin, and no name that was rebound to a
// listener's address, gets anything from it; its own page does.
func TestListenersRefuseOtherSites(t *testing.T) {
	l := startListening(t)
	wire := func(to, host, origin string) request {
		return request{to: to, method: "GET", path: "/v1/connect", host: host, origin: origin, upgrade: true}
	}
	page := func(to, host string) request { return request{to: to, method: "GET", path: "/healthz", host: host} }
	const ok, forbidden, misdirected, upgraded = 200, 403, 421, 101
	_, port, _ := net.SplitHostPort(l.own)
	for name, c := range map[string]struct {
		request
		want int
	}{
		"page":                             {page(l.own, l.own), ok},
		"page, by localhost":               {page(l.own, "localhost:"+port), ok},
		"page, rebound":                    {page(l.own, "evil.example"), forbidden},
		"page, rebound with the port":      {page(l.own, "evil.example:"+port), forbidden},
		"wire, of a program":               {wire(l.own, l.own, ""), upgraded},
		"wire, of the page":                {wire(l.own, l.own, "http://"+l.own), upgraded},
		"wire, of another site":            {wire(l.own, l.own, "https://evil.example"), forbidden},
		"wire, of a file":                  {wire(l.own, l.own, "null"), forbidden},
		"wire, of another port":            {wire(l.own, l.own, "http://127.0.0.1:1"), forbidden},
		"wire, of another loopback name":   {wire(l.own, l.own, "http://localhost:"+port), forbidden},
		"wire, of the network's page":      {wire(l.own, l.own, "http://"+networkName), forbidden},
		"wire, rebound":                    {wire(l.own, "evil.example:"+port, "http://evil.example:"+port), forbidden},
		"network page":                     {page(l.network, networkName), ok},
		"network page, rebound":            {page(l.network, "evil.example:7430"), misdirected},
		"network page, other address":      {page(l.network, "192.168.7.8:7430"), misdirected},
		"network wire, of a program":       {wire(l.network, networkName, ""), upgraded},
		"network wire, of the page":        {wire(l.network, networkName, "http://"+networkName), upgraded},
		"network wire, of another site":    {wire(l.network, networkName, "https://evil.example"), forbidden},
		"network wire, of a loopback page": {wire(l.network, networkName, "http://127.0.0.1:3000"), forbidden},
		"network wire, of a file":          {wire(l.network, networkName, "null"), forbidden},
		"network wire, rebound":            {wire(l.network, "evil.example:7430", "http://evil.example:7430"), misdirected},
	} {
		if got := c.status(t); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestTheAPIIsServedToThisMachineOnly: a listener in the local network knows no token, and at
// the loopback address pages have no use for one.
func TestTheAPIIsServedToThisMachineOnly(t *testing.T) {
	l := startListening(t)
	token := "Bearer " + l.host.State().Token
	call := func(to, host, origin string) request {
		return request{to: to, method: "POST", path: "/v1/get_host", host: host, origin: origin, token: token}
	}
	direct := func(to, host string) request {
		return request{to: to, method: "GET", path: "/v1/direct", host: host, token: token, upgrade: true}
	}
	for name, c := range map[string]struct {
		request
		want int
	}{
		"request":             {call(l.own, l.own, ""), 200},
		"request of the page": {call(l.own, l.own, "http://"+l.own), 403},
		"without a token":     {request{to: l.own, method: "POST", path: "/v1/get_host", host: l.own}, 401},
		"unknown path":        {request{to: l.own, method: "GET", path: "/v1/other", host: l.own}, 401},
		"network request":     {call(l.network, networkName, ""), 404},
		"network direct":      {direct(l.network, networkName), 404},
		"network metrics":     {request{to: l.network, method: "GET", path: "/metrics", host: networkName}, 404},
		"metrics":             {request{to: l.own, method: "GET", path: "/metrics", host: l.own}, 404},
	} {
		if got := c.status(t); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestTheRelayBesideAHostAdmitsNoOtherDevice: it is no relay for the network.
func TestTheRelayBesideAHostAdmitsNoOtherDevice(t *testing.T) {
	l := startListening(t)
	for _, kind := range []ident.Kind{ident.KindDevice, ident.KindClient} {
		keys, err := ident.Generate(kind, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := relayconn.Dial(t.Context(), relayconn.Config{RelayURL: "http://" + l.own, Keys: keys, Label: "other"})
		var refused *wire.Error
		switch {
		case kind == ident.KindDevice && (!errors.As(err, &refused) || refused.Kind != wire.KindNotAdmitted):
			t.Errorf("another device: %v", err)
		case kind == ident.KindClient && err != nil:
			t.Errorf("a client: %v", err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// TestPathsOfAListeningHost: what list_paths says is where the host listens.
func TestPathsOfAListeningHost(t *testing.T) {
	l := startListening(t)
	want := []string{"http://" + l.own, "http://" + networkName}
	if got := l.host.State().Relays; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("the paths are %q, want %q", got, want)
	}
	if l.host.State().RelayURL != "" {
		t.Errorf("its relay is %q", l.host.State().RelayURL)
	}
}

// TestAListenerIsAPathWhileTheRelayIsDown: a client that was paired over a relay claims its
// binding at the host's own listener, and uses that when the relay is gone.
func TestAListenerIsAPathWhileTheRelayIsDown(t *testing.T) {
	relay := relaytest.Start(t, nil)
	l := startListening(t, relay.URL)
	transport, err := client.DialDirect(t.Context(), l.own, l.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	local := client.New(transport, nil)
	defer local.Close()
	keys := relaytest.NewKeys(t, ident.KindClient)
	pin := pairAt(t, local, relay.URL, keys)
	c := openAt(t, relay.URL, l.host.DeviceID(), keys, pin)
	paths, err := client.Call(t.Context(), c, api.ListPaths, api.Empty{})
	if err != nil || len(paths.Paths) != 3 || paths.Paths[1].Kind != api.PathMachine || paths.Paths[2].Kind != api.PathNetwork || paths.Proof == nil {
		t.Fatalf("the paths are %+v, %v", paths, err)
	}
	own := relaytest.Server{URL: "http://" + l.own}
	peer := own.Login(t, keys, "phone")
	peer.Send(&wire.ClaimBinding{RequestID: "claim", DeviceID: l.host.DeviceID(), SignedAt: paths.Proof.SignedAt, Proof: paths.Proof.Signature})
	if got := relaytest.Await[wire.BindingClaimed](peer); !got.Peer.Online {
		t.Errorf("the listener answered %+v", got)
	}
	relay.Stop(t)
	again := openAt(t, own.URL, l.host.DeviceID(), keys, pin)
	if info, err := client.Call(t.Context(), again, api.GetHost, api.Empty{}); err != nil || info.Host.DeviceID != l.host.DeviceID() {
		t.Errorf("over the listener: %+v, %v", info, err)
	}
}

// pairAt pairs a client with the host over a relay, and returns the host's key.
func pairAt(t *testing.T, local *client.Client, url string, keys *ident.Private) ident.SealPublic {
	t.Helper()
	return pairBoth(t, local, url, keys).Seal
}

// pairBoth is pairAt that returns all keys of the host.
func pairBoth(t *testing.T, local *client.Client, url string, keys *ident.Private) ident.Public {
	t.Helper()
	created, err := client.Call(t.Context(), local, api.CreatePairing, api.CreatePairingRequest{Relay: url})
	if err != nil {
		t.Fatal(err)
	}
	code, err := pair.ParseCode(created.Code)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := client.DialEntry(t.Context(), relayconn.Config{RelayURL: url, Keys: keys, Label: "phone"})
	if err != nil {
		t.Fatal(err)
	}
	defer entry.Close()
	accepted := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), local, api.AwaitPairing, api.PairingRequest{PairingID: created.PairingID})
		if err == nil {
			_, err = client.Call(t.Context(), local, api.FinishPairing, api.FinishPairingRequest{PairingID: created.PairingID, Accept: true})
		}
		accepted <- err
	}()
	ceremony, err := entry.Pairings().Redeem(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := ceremony.Await(t.Context())
	if err == nil {
		_, err = ceremony.Accept(t.Context())
	}
	if err := errors.Join(err, <-accepted); err != nil {
		t.Fatal(err)
	}
	return peer.Public
}

// openAt opens a sealed channel to the host over a relay or listener.
func openAt(t *testing.T, url string, device ident.ID, keys *ident.Private, pin ident.SealPublic) *client.Client {
	t.Helper()
	entry, err := client.DialEntry(t.Context(), relayconn.Config{RelayURL: url, Keys: keys, Label: "phone"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(entry.Close)
	channel, err := entry.OpenDevice(t.Context(), device, pin, "the host")
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(channel, nil)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
