package relay

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
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

// pipeConn adopts one end of an in-memory pipe as a connection that is logged
// in, and returns the other.
func pipeConn(t *testing.T, r *Relay) (*conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	c := newConn(r, &ws.Upgraded{Conn: near}, netip.Addr{}, dialled{})
	c.loggedIn = true
	c.reader.SetLimits(maxControl, wire.MaxMessage)
	c.id = ident.NewID(ident.KindClient, ident.Public{})
	r.conns[c] = struct{}{}
	return c, far
}

func TestHalfOpenPeerIsFoundInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		c, far := pipeConn(t, r)
		c.alive.Store(true)
		c.startPings()
		start := time.Now()
		go io.Copy(io.Discard, far) // takes what is sent and never answers
		c.readLoop()
		c.teardown()
		if took := time.Since(start); took > wire.DeadPeerTimeout || took < r.cfg.Limits.PingInterval {
			t.Errorf("found after %s, want within %s", took, wire.DeadPeerTimeout)
		}
		if got := *c.reason.Load(); got != wire.ReasonPingTimeout {
			t.Errorf("reason %s", got)
		}
		if n := testutil.ToFloat64(r.metrics.ends.WithLabelValues(string(wire.ReasonPingTimeout))); n != 1 {
			t.Errorf("counted %v times", n)
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestPeerThatAnswersPingsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		c, far := pipeConn(t, r)
		c.startPings()
		served := make(chan struct{})
		go func() {
			defer close(served)
			c.readLoop()
			c.teardown()
		}()
		go func() { // every message that comes is answered with a masked, empty pong
			buf := make([]byte, 4096)
			for {
				if _, err := far.Read(buf); err != nil {
					return
				}
				if _, err := far.Write([]byte{0x80 | byte(ws.OpPong), 0x80, 0, 0, 0, 0}); err != nil {
					return
				}
			}
		}()
		<-time.After(10 * wire.DeadPeerTimeout) // virtual
		if c.ended() {
			t.Errorf("ended for %s", *c.reason.Load())
		}
		_ = far.Close() // ends it
		<-served
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStuckPeerIsCutByTheWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{PingInterval: time.Hour})
		c, far := pipeConn(t, r)
		start := time.Now()
		c.tell(&wire.CloseChannel{Channel: 1}) // never taken
		c.readLoop()
		c.teardown()
		if got := *c.reason.Load(); got != wire.ReasonWriteTimeout || time.Since(start) != r.cfg.Limits.WriteTimeout {
			t.Errorf("reason %s after %s", got, time.Since(start))
		}
		_ = far.Close() // the pipe's other end
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHealthFailsWhenTheRoutingStateIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		release := make(chan struct{})
		go func() { _ = r.dir.do(func() { <-release }) }()
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

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter[int](Rate{Burst: 2, Every: time.Second})
		take := func(key int, want bool) {
			t.Helper()
			if got := l.take(key); got != want {
				t.Errorf("take(%d) = %v", key, got)
			}
		}
		take(1, true)
		take(1, true)
		take(1, false)
		take(2, true)
		if l.left(1) || !l.left(2) || !l.left(3) {
			t.Error("left disagrees with take")
		}
		<-time.After(time.Second) // virtual
		take(1, true)
		take(1, false)

		l.most = 3
		take(2, true)
		take(3, true)
		take(4, true) // over the bound: shared
		take(5, true)
		take(6, false)
		if len(l.buckets) > 3 {
			t.Errorf("%d buckets kept", len(l.buckets))
		}
		<-time.After(time.Minute) // virtual; all are full again and forgotten
		take(7, true)
		if len(l.buckets) != 1 {
			t.Errorf("%d buckets kept after a minute", len(l.buckets))
		}
	})
}

func TestClientAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, tc := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.9:1", nil, "203.0.113.9"},
		{"203.0.113.9:1", []string{"1.2.3.4"}, "203.0.113.9"}, // not from a proxy of ours
		{"10.0.0.1:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{"6.6.6.6, 1.2.3.4"}, "1.2.3.4"}, // the first is made up
		{"10.0.0.1:1", []string{"6.6.6.6", "1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{"rubbish"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"1.2.3.4, unknown"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"1.2.3.4:5678"}, "1.2.3.4"}, // some proxies add the port
		{"10.0.0.1:1", []string{"[2001:db8::1]:5678"}, "2001:db8::"},
		{"10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::"},
		{"10.0.0.1:1", []string{"1.2.3.4, , 10.0.0.2,"}, "1.2.3.4"}, // empty elements are none
		{"10.0.0.1:1", []string{"", "1.2.3.4"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"10.0.0.3, ::ffff:10.0.0.2"}, "10.0.0.3"}, // made on our own network
		{"10.0.0.1:1", []string{"fe80::1%eth0"}, "fe80::"},
		{"[::ffff:10.0.0.1]:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"@", []string{"1.2.3.4"}, "invalid IP"}, // no address: nobody is believed
		{"[2001:db8:1:2:3::4]:1", nil, "2001:db8:1:2::"},
		{"[::ffff:203.0.113.9]:1", nil, "203.0.113.9"},
	} {
		if got := addressKey(clientAddr(tc.remote, tc.forwarded, proxies)).String(); got != tc.want {
			t.Errorf("%s %v: %s, want %s", tc.remote, tc.forwarded, got, tc.want)
		}
	}
}

func TestDirectoryThatStoppedRefuses(t *testing.T) {
	r := newTestRelay(t, Limits{})
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.dir.do(func() { t.Error("ran") }); !errors.Is(err, errStopped) {
		t.Fatalf("got %v", err)
	}
}
