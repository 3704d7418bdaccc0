package relaytest

import (
	"context"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/relay"
)

// StartInMemory runs a relay whose connections are pipes, for a test in a
// testing/synctest bubble: sockets would keep its clock from advancing. It ends
// with the test.
func StartInMemory(t testing.TB, change func(*relay.Config)) *Server {
	t.Helper()
	pipes := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := newServer(t, change)
	s.URL, s.dial = "http://"+pipes.Addr().String(), pipes.dial
	s.HTTP = httptest.NewUnstartedServer(s.Relay.Handler())
	_ = s.HTTP.Listener.Close() // the pipes take its place
	s.HTTP.Listener = pipes
	s.HTTP.Start()
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// pipeListener accepts the other ends of the pipes that dial returns.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is a loopback address, which every relay serves.
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7410} }
