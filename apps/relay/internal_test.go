package relay

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// silentStore is enough for tests below the store.
type silentStore struct{ store.Store }

func newTestRelay(t *testing.T, limits Limits) *Relay {
	t.Helper()
	r, err := New(Config{Store: silentStore{}, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pipeConn serves one end of an in-memory pipe as a connection, and returns the other. Its
// peer is still to log in.
func pipeConn(t *testing.T, r *Relay) (*conn.Conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	before := len(r.open)
	if err := r.serve(&ws.Upgraded{Conn: near}, netip.Addr{}, authority.Dialed{}); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) != 1 || before != 0 {
		t.Fatal("pipeConn serves one connection for each relay")
	}
	for c := range r.open {
		return c, far
	}
	return nil, nil
}

// stop ends a relay. In a bubble nothing of it may be left.
func stop(t *testing.T, r *Relay) {
	t.Helper()
	for _, c := range r.close() {
		c.Cut(wire.ReasonClosed)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// fillMemory borrows until a share in percent is used, and returns what gives it back.
func fillMemory(r *Relay, percent int64) func() {
	var held [][]byte
	for r.memory.Used() < r.memory.Share(percent) {
		held = append(held, r.conns.Pool.Get(bufpool.Large))
	}
	return func() {
		for _, b := range held {
			r.conns.Pool.Put(b)
		}
	}
}

func TestHealthFailsWhenTheRoutingStateIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		release := make(chan struct{})
		go func() { _ = r.loop.Do(func() { <-release }) }()
		synctest.Wait()
		for _, path := range []string{"/healthz", "/readyz"} {
			rec := httptest.NewRecorder()
			req := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			r.Handler().ServeHTTP(rec, req)
			if rec.Code != http.StatusServiceUnavailable {
				t.Errorf("%s says %d while the routing state is stuck", path, rec.Code)
			}
		}
		rec := httptest.NewRecorder()
		r.MetricsHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if !strings.Contains(rec.Body.String(), "\nscorel_relay_healthy 0\n") {
			t.Error("the metrics call a stuck relay healthy")
		}
		close(release)
		synctest.Wait()
		rec = httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		if rec.Code != http.StatusOK {
			t.Errorf("healthz says %d after it came free", rec.Code)
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDirectoryThatStoppedRefuses(t *testing.T) {
	r := newTestRelay(t, Limits{})
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.loop.Do(func() { t.Error("ran") }); !errors.Is(err, loop.ErrStopped) {
		t.Fatalf("got %v", err)
	}
}
