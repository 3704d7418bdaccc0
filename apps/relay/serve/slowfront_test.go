package serve

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clientHello is the beginning of a TLS handshake.
const clientHello = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"

// What comes before HTTP can be slow as well: the handshake of TLS and the header of a
// proxy.
func TestSlowPeersAreDisconnectedBeforeHTTP(t *testing.T) {
	secured := func(t *testing.T, o *Options) {
		p := newPair(t, t.TempDir())
		p.write(t, 1, time.Now().Add(24*time.Hour))
		o.TLS = TLS{CertFile: p.cert, KeyFile: p.key}
	}
	proxied := func(_ *testing.T, o *Options) {
		o.Guard.ProxyProtocol, o.TrustedProxies = true, []netip.Prefix{netip.MustParsePrefix("203.0.113.7/32")}
	}
	for name, tc := range map[string]struct {
		front        func(*testing.T, *Options)
		sends, drips string        // at once, and then byte by byte, one a second
		within       time.Duration // it is over
	}{
		"TLS: connected and silent":         {secured, "", "", headerTimeout},
		"TLS: half of a hello":              {secured, clientHello, "", headerTimeout},
		"TLS: a hello byte by byte":         {secured, clientHello[:5], clientHello[5:] + string(make([]byte, 200)), headerTimeout},
		"a proxy that says nothing":         {proxied, "", "", headerTimeout},
		"half of a proxy's header":          {proxied, "PROXY TCP4 203.0", "", headerTimeout},
		"a proxy's header byte by byte":     {proxied, "", "PROXY TCP4 203.0.113.9 192.0.2.1 5000 443\r\n", headerTimeout},
		"a binary header, half":             {proxied, "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c", "", headerTimeout},
		"a proxy's header, then no request": {proxied, "PROXY TCP4 203.0.113.9 192.0.2.1 5000 443\r\n", "", 2 * headerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipeListener()
				opts := Options{Listener: l, DataDir: t.TempDir()}
				tc.front(t, &opts)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- Run(ctx, opts) }()
				var peers sync.WaitGroup
				for range 10 {
					peers.Go(func() { holdOn(t, l.dial(), tc.sends, tc.drips, tc.within) })
				}
				peers.Wait()
				cancel()
				if err := <-ended; err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		})
	}
}

// holdOn keeps a connection as long as the relay lets it.
func holdOn(t *testing.T, conn net.Conn, sends, drips string, within time.Duration) {
	_ = conn.SetDeadline(time.Now().Add(within + time.Minute)) // the test must be able to fail
	start := time.Now()
	var writer sync.WaitGroup
	writer.Go(func() { dribble(conn, sends, drips) })
	_, _ = io.Copy(io.Discard, conn) // ends with the connection
	if took := time.Since(start); took > within+time.Second {
		t.Errorf("held a connection for %s, want %s", took, within)
	}
	_ = conn.Close()
	writer.Wait()
}
