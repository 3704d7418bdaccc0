package peer

import (
	"net"
	"sync"
)

// stream is a connection that reads what has arrived with one read. It belongs to
// one goroutine, but for close and ended.
type stream struct {
	conn       net.Conn
	buf        []byte // raw bytes from start to end are not parsed yet
	start, end int

	once   sync.Once
	closed chan struct{}
}

func newStream(c net.Conn) stream {
	return stream{conn: c, buf: make([]byte, 1<<10), closed: make(chan struct{})}
}

// raw is what has arrived and was not taken.
func (s *stream) raw() []byte { return s.buf[s.start:s.end] }

// take drops the first n bytes of raw.
func (s *stream) take(n int) { s.start += n }

// fill reads once. It makes the buffer larger when what must be whole does not fit.
func (s *stream) fill() error {
	if s.start == s.end {
		s.start, s.end = 0, 0
	}
	if s.end == len(s.buf) {
		if s.start < len(s.buf)/2 {
			s.buf = append(s.buf, make([]byte, max(len(s.buf), readBuffer))...)
		}
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	n, err := s.conn.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil
	}
	return err
}

// close ends the connection; reads fail then.
func (s *stream) close() (err error) {
	s.once.Do(func() {
		close(s.closed)
		err = s.conn.Close()
	})
	return err
}

// ended reports whether close was called.
func (s *stream) ended() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// serve hands what arrives to pending and then flushes, until the stream is closed.
func (s *stream) serve(pending, flush func() error) error {
	for {
		err := pending()
		if err == nil {
			err = flush()
		}
		if err == nil {
			err = s.fill()
		}
		if s.ended() {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
