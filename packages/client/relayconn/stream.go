package relayconn

import (
	"bufio"
	"cmp"
	"io"
	"net/http"
	"sync"
)

// streamRead is how many bytes are read from the network at once.
const streamRead = 16 << 10

// stream is the connection below a WebSocket library that reads and writes 4 KiB at
// a time: a system call and a copy for each would be most of the cost of a batch of
// records. It reads ahead, and writes whole messages itself, so the library writes
// only control frames, each in one write.
type stream struct {
	below io.ReadWriteCloser
	in    *bufio.Reader // owned by the reader

	mu sync.Mutex // held for each write
}

func newStream(below io.ReadWriteCloser) *stream {
	return &stream{below: below, in: bufio.NewReaderSize(below, streamRead)}
}

// upgrader is a transport that inserts a stream below a connection that became a
// WebSocket.
type upgrader struct {
	next   http.RoundTripper
	stream *stream // nil before the upgrade
}

// through returns a copy of client c whose transport is an upgrader.
func through(c *http.Client) (*http.Client, *upgrader) {
	u := &upgrader{next: cmp.Or(c.Transport, http.DefaultTransport)}
	with := *c
	with.Transport = u
	with.CheckRedirect = NoRedirects
	return &with, u
}

// RoundTrip implements http.RoundTripper.
func (u *upgrader) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		return response, err
	}
	if below, ok := response.Body.(io.ReadWriteCloser); ok { // otherwise the WebSocket library reports it
		u.stream = newStream(below)
		response.Body = u.stream
	}
	return response, nil
}

func (s *stream) Read(p []byte) (int, error) { return s.in.Read(p) }

// Close may be called during reads and writes, which then fail.
func (s *stream) Close() error { return s.below.Close() }

// Write is called by the WebSocket library.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.below.Write(p)
}

// writeMessage writes a message as one frame, with one write. It modifies the
// message, which has frameRoom unused bytes in front.
func (s *stream) writeMessage(opcode byte, message []byte) error {
	made, err := frame(opcode, message)
	if err != nil {
		return err
	}
	_, err = s.Write(made)
	return err
}
