// Package relaytest runs a real relay on 127.0.0.1 for tests, and peers that
// exchange frames with it over real sockets.
package relaytest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
)

// Patience is how long a peer waits for an expected event. It only limits a test
// that fails: a busy machine may need most of it.
const Patience = time.Minute

// Server is a running relay. It ends with the test.
type Server struct {
	URL   string // http://127.0.0.1:port
	Relay *relay.Relay
	Store store.Store
	HTTP  *httptest.Server

	dial   func(ctx context.Context, network, address string) (net.Conn, error) // nil is the network
	client *http.Client                                                         // nil dials with dial
	onPing func()                                                               // nil ignores pings
}

// At returns a relay that runs elsewhere, such as behind a proxy. Its peers connect to url through
// client, and call onPing, unless it is nil, for each ping that they read. It has no Relay, Store
// or HTTP.
func At(url string, client *http.Client, onPing func()) *Server {
	return &Server{URL: url, client: client, onPing: onPing}
}

// Start runs a relay with a SQLite store in a temporary folder, unless change
// sets another store. change, which may be nil, edits the configuration.
func Start(t testing.TB, change func(*relay.Config)) *Server {
	t.Helper()
	s := newServer(t, change)
	s.HTTP = httptest.NewServer(s.Relay.Handler())
	s.URL = s.HTTP.URL
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// newServer creates the relay and its store; it does not listen yet.
func newServer(t testing.TB, change func(*relay.Config)) *Server {
	t.Helper()
	cfg := relay.Config{Version: "test"}
	if change != nil {
		change(&cfg)
	}
	if cfg.Store == nil {
		cfg.Store = OpenStore(t, filepath.Join(t.TempDir(), "relay.db"))
	}
	r, err := relay.New(cfg)
	if err != nil {
		t.Fatalf("starting a relay: %v", err)
	}
	return &Server{Relay: r, Store: cfg.Store}
}

// OpenStore opens a SQLite store that closes with the test.
func OpenStore(t testing.TB, path string) store.Store {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatalf("opening a store: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return db
}

// Stop shuts the relay down and fails the test if that takes too long. Stopping
// again is harmless.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := s.Relay.Shutdown(ctx); err != nil {
		t.Errorf("shutting the relay down: %v", err)
	}
	s.HTTP.Close()
}

// Authority is host:port as a peer dials it.
func (s *Server) Authority() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}
