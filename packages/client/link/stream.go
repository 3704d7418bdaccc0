package link

import (
	"bufio"
	"context"
	"net"
	"net/http/httptrace"
	"sync"
)

const (
	streamRead  = 32 << 10 // bytes that are read from the network at once
	streamWrite = 64 << 10 // and written, at the most
)

// stream is a network connection below a WebSocket whose library reads and writes
// 4 KiB at a time: a system call for each would be most of what a batch of records
// costs. It reads ahead, and what is written between hold and release leaves with
// as few writes as it fits in.
type stream struct {
	net.Conn
	in *bufio.Reader // owned by whoever reads

	mu   sync.Mutex
	held bool
	out  []byte
}

func newStream(c net.Conn) *stream { return &stream{Conn: c, in: bufio.NewReaderSize(c, streamRead)} }

// dialStream is what a transport dials with.
func dialStream(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return newStream(c), nil
}

func (s *stream) Read(p []byte) (int, error) { return s.in.Read(p) }

// Write keeps p while the stream is held.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held {
		return s.Conn.Write(p)
	}
	if len(s.out)+len(p) > streamWrite {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	s.out = append(s.out, p...)
	return len(p), nil
}

// hold keeps what is written from here on. A nil stream does nothing.
func (s *stream) hold() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// release writes what was kept, and what follows at once.
func (s *stream) release() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	return s.flush()
}

// flush writes what was kept. s.mu must be held.
func (s *stream) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.Conn.Write(s.out)
	s.out = s.out[:0]
	return err
}

// withStream makes a dial tell which stream it got: nil when the transport dials
// in a way of its own.
func withStream(ctx context.Context, got func(*stream)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		c := info.Conn
		if secured, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS is above it
			c = secured.NetConn()
		}
		s, _ := c.(*stream)
		got(s)
	}})
}
