package link

import (
	"bufio"
	"cmp"
	"io"
	"net/http"
	"sync"
)

const (
	streamRead  = 16 << 10 // bytes that are read from the network at once
	streamWrite = 64 << 10 // and written, at the most
)

// stream is what a WebSocket runs on, below a library that reads and writes 4 KiB at
// a time: a system call for each would be most of what a batch of records costs. It
// reads ahead, and what is written between hold and release leaves with as few
// writes as it fits in.
type stream struct {
	below io.ReadWriteCloser
	in    *bufio.Reader // owned by whoever reads

	mu   sync.Mutex
	held bool
	out  []byte
}

func newStream(below io.ReadWriteCloser) *stream {
	return &stream{below: below, in: bufio.NewReaderSize(below, streamRead)}
}

// upgrader is a transport that puts a stream between a connection that became a
// WebSocket and whoever uses it.
type upgrader struct {
	next   http.RoundTripper
	stream *stream // nil before
}

// through returns a client that dials as another does, with an upgrader.
func through(c *http.Client) (*http.Client, *upgrader) {
	u := &upgrader{next: cmp.Or(c.Transport, http.DefaultTransport)}
	with := *c
	with.Transport = u
	return &with, u
}

// RoundTrip implements http.RoundTripper.
func (u *upgrader) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		return response, err
	}
	if below, ok := response.Body.(io.ReadWriteCloser); ok { // else the WebSocket library says so
		u.stream = newStream(below)
		response.Body = u.stream
	}
	return response, nil
}

func (s *stream) Read(p []byte) (int, error) { return s.in.Read(p) }

// Close may be called while others read and write: both fail then.
func (s *stream) Close() error { return s.below.Close() }

// Write keeps p while the stream is held.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held {
		return s.below.Write(p)
	}
	if len(s.out)+len(p) > streamWrite {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	s.out = append(s.out, p...)
	return len(p), nil
}

// hold keeps what is written from here on.
func (s *stream) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// release writes what was kept, and what follows at once.
func (s *stream) release() error {
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
	_, err := s.below.Write(s.out)
	s.out = s.out[:0]
	return err
}
