package serve

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// SpliceHello is what each peer sends first: the number of its link, big endian.
// The relay joins the two connections that name the same.
const SpliceHello = 4

// serveSplice joins TCP connections in pairs and copies between them with io.Copy,
// which on Linux moves the bytes inside the kernel. It is the floor: no framing, no
// identity, no check, and one connection for each link at both ends.
func serveSplice(ctx context.Context, l net.Listener, _ Options, ready func(string)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // Accept returns then
	s := &splicer{waiting: make(map[uint32]net.Conn)}
	ready("")
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		go s.join(c)
	}
}

type splicer struct {
	mu      sync.Mutex
	waiting map[uint32]net.Conn
}

func (s *splicer) join(c net.Conn) {
	var hello [SpliceHello]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		_ = c.Close() // it said nothing
		return
	}
	id := binary.BigEndian.Uint32(hello[:])
	s.mu.Lock()
	other := s.waiting[id]
	if other == nil {
		s.waiting[id] = c
	} else {
		delete(s.waiting, id)
	}
	s.mu.Unlock()
	if other == nil {
		return
	}
	go pour(c, other)
	pour(other, c)
}

// pour copies until one side ends, and ends both.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from) // either way both end
	_ = to.Close()
	_ = from.Close()
}
