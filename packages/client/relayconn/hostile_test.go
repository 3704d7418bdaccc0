package relayconn

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A relay that answers with a redirect does not choose what this machine asks for.
func TestARelayCannotRedirect(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inside.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		relay := httptest.NewServer(http.RedirectHandler(inside.URL+"/secret", status))
		for name, client := range map[string]*http.Client{"own": nil, "given": {Transport: &http.Transport{DisableKeepAlives: true}}} {
			_, err := Dial(t.Context(), Config{RelayURL: relay.URL, Keys: clientKeys(t), Label: "test", HTTPClient: client})
			if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "redirect to \""+inside.URL+"/secret\"") {
				t.Errorf("%d, %s client: %v", status, name, err)
			}
		}
		relay.Close()
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the address inside was asked %d times", n)
	}
}

func clientKeys(t *testing.T) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// pipes is a network of its own, so that a relay runs on the time of a test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A relay that admits everybody and sends them away at once, to come back after a
// millisecond, is not dialed in a loop.
func TestARelayCannotHurryItsPeers(t *testing.T) {
	keys := clientKeys(t)
	synctest.Test(t, func(t *testing.T) {
		network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sendAway(t, w, r, keys.ID()) })}
		go func() { _ = server.Serve(network) }()
		transport := &http.Transport{DialContext: network.dial, DisableKeepAlives: true}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		logins := 0
		cfg := Config{RelayURL: "http://relay.example", Keys: keys, Label: "test", HTTPClient: &http.Client{Transport: transport}}
		err := Keep(ctx, cfg, func(s State) {
			if s.Connected {
				logins++
			}
		}, func(ctx context.Context, c *Conn) error { return c.Run(ctx, idle{}) })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if logins < 10 || logins > 60 {
			t.Errorf("%d logins in ten minutes", logins)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

type idle struct{}

func (idle) Control(wire.Frame)       {}
func (idle) Records(uint32, [][]byte) {}

// TestARelayThatPings: it is not pinged as well. One that sends nothing any more is, and does not answer.
func TestARelayThatPings(t *testing.T) {
	keys := clientKeys(t)
	synctest.Test(t, func(t *testing.T) {
		network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		var pinged atomic.Int32
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws := welcome(t, w, r, keys.ID(), func(context.Context, []byte) bool { pinged.Add(1); return false })
			if ws == nil {
				return
			}
			defer func() { _ = ws.CloseNow() }()
			ctx := ws.CloseRead(context.Background())
			for range 30 {
				time.Sleep(24 * time.Second) // virtual
				if err := ws.Ping(ctx); err != nil {
					t.Error(err)
				}
			}
			if n := pinged.Load(); n != 0 {
				t.Errorf("the relay was pinged %d times", n)
			}
			<-ctx.Done()
		})}
		go func() { _ = server.Serve(network) }()
		transport := &http.Transport{DialContext: network.dial, DisableKeepAlives: true}
		c, err := Dial(t.Context(), Config{RelayURL: "http://relay.example", Keys: keys, Label: "test", HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = c.Run(t.Context(), idle{})
		if took := time.Since(start) - 30*24*time.Second; err == nil || !strings.Contains(err.Error(), "no longer answers") || took > wire.DeadPeerTimeout || pinged.Load() != 1 {
			t.Errorf("after %s and %d pings: %v", took, pinged.Load(), err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// sendAway is a relay that says welcome and goodbye.
func sendAway(t *testing.T, w http.ResponseWriter, r *http.Request, peer ident.ID) {
	if ws := welcome(t, w, r, peer, nil); ws != nil {
		send(t, r, ws, wire.Goodbye{Reason: wire.ReasonShutdown, RetryAfter: 1})
		_ = ws.CloseNow() // the peer has been notified
	}
}

// send sends a frame of a relay.
func send(t *testing.T, r *http.Request, ws *websocket.Conn, f wire.Frame) {
	data, err := wire.EncodeControl(f)
	if err == nil {
		err = ws.Write(r.Context(), websocket.MessageText, data)
	}
	if err != nil {
		t.Error(err)
	}
}

// welcome is a relay that admits everybody. It returns nil if that fails.
func welcome(t *testing.T, w http.ResponseWriter, r *http.Request, peer ident.ID, onPing func(context.Context, []byte) bool) *websocket.Conn {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}, OnPingReceived: onPing})
	if err != nil {
		t.Error(err)
		return nil
	}
	send(t, r, ws, wire.RelayHello{Version: wire.Version, Nonce: make([]byte, wire.NonceLen), Limits: wire.DefaultLimits()})
	if _, _, err := ws.Read(r.Context()); err != nil {
		t.Error(err)
	}
	send(t, r, ws, wire.Welcome{ID: peer})
	return ws
}
