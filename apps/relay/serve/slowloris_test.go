package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// pipeListener accepts connections in memory, whose time can be virtual.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

type tcpNamed struct{ net.Conn }

func (tcpNamed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 1} }

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return tcpNamed{c}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7410} }

func (l *pipeListener) dial() net.Conn {
	near, far := net.Pipe()
	l.conns <- far
	return near
}

const upgradeRequest = "GET " + wire.ConnectPath + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + wire.Subprotocol + "\r\n\r\n"

// maskedText is a text frame of 125 blanks with a mask of zeroes.
var maskedText = string([]byte{0x81, 0x80 | 125, 0, 0, 0, 0}) + strings.Repeat(" ", 125)

// A slow peer holds a connection before the login for a bounded time, and
// nothing afterwards. What is slow after it is in the tests of package relay.
func TestSlowPeersAreDisconnected(t *testing.T) {
	for name, tc := range map[string]struct {
		sends  string        // at once
		drips  string        // and then this, byte by byte, one a second
		reads  bool          // what is answered
		within time.Duration // it is over
	}{
		"connected and silent":              {"", "", true, headerTimeout},
		"half a request line":               {"GET /v1/con", "", true, headerTimeout},
		"a request line byte by byte":       {"", "GET " + strings.Repeat("/", 200), true, headerTimeout},
		"half of the headers":               {upgradeRequest[:90], "", true, headerTimeout},
		"headers byte by byte":              {upgradeRequest[:60], upgradeRequest[60:], true, headerTimeout},
		"a body that never comes":           {"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n", "", true, requestTimeout},
		"a body byte by byte":               {"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n", strings.Repeat("x", 500), true, requestTimeout},
		"answered and silent":               {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "", true, idleTimeout},
		"a page that is not read":           {"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n", "", false, answerTimeout},
		"an answer to the upgrade not read": {upgradeRequest, "", false, answerTimeout},
		"upgraded, and no hello":            {upgradeRequest, "", true, wire.LoginTimeout + 5*time.Second},
		"half of a hello":                   {upgradeRequest + maskedText[:50], "", true, wire.LoginTimeout + 5*time.Second},
		"a hello byte by byte":              {upgradeRequest, maskedText, true, wire.LoginTimeout + 5*time.Second},
		"only pings":                        {upgradeRequest, strings.Repeat("\x89\x80\x00\x00\x00\x00", 40), true, wire.LoginTimeout + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipeListener()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					ended <- Run(ctx, Options{Listener: l, DataDir: t.TempDir(), Web: fstest.MapFS{
						"index.html": {Data: []byte("<html>")}, "app.js": {Data: make([]byte, 1<<20)},
					}})
				}()
				var peers sync.WaitGroup
				for range 10 {
					conn := l.dial()
					_ = conn.SetDeadline(time.Now().Add(tc.within + time.Minute)) // the test must be able to fail
					peers.Go(func() { dribble(conn, tc.sends, tc.drips) })
					start := time.Now()
					peers.Go(func() {
						if tc.reads {
							_, _ = io.Copy(io.Discard, conn) // ends with the connection
						} else {
							untilClosed(conn)
						}
						if took := time.Since(start); took > tc.within+time.Second {
							t.Errorf("held a connection for %s, want %s", took, tc.within)
						}
						_ = conn.Close()
					})
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

func dribble(conn net.Conn, first, drips string) {
	_, err := io.WriteString(conn, first)
	for i := 0; i < len(drips) && err == nil; i++ {
		<-time.After(time.Second) // virtual
		_, err = io.WriteString(conn, drips[i:i+1])
	}
}

// untilClosed returns when the other side has closed, without reading what it sent:
// a write is refused at once then, and waits else.
func untilClosed(conn net.Conn) {
	for range 1000 {
		<-time.After(time.Second) // virtual
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := conn.Write([]byte{0}); err != nil && !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
			return
		}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
