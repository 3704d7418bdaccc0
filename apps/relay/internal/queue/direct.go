package queue

import (
	"net"
	"syscall"
)

// direct writes as much to a socket as it accepts at once. It never waits, so a reader may
// use it: most batches leave this way, without starting a goroutine.
type direct struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool // made once, so that writing does not allocate
	data []byte
	n    int
}

// newDirect returns nil for a connection that needs more than writes to its socket, such as
// TLS.
func newDirect(conn Sink) *direct {
	tcp, ok := conn.(*net.TCPConn)
	if !ok || !canTryWrite {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.try = func(fd uintptr) bool {
		d.n = tryWrite(fd, d.data)
		return true
	}
	return d
}

// write returns how many bytes the socket accepted. An error is found by the writer of the
// rest. One goroutine calls it at a time.
func (d *direct) write(data []byte) int {
	d.data, d.n = data, 0
	_ = d.raw.Write(d.try) // writing the rest fails with the same error
	d.data = nil
	return d.n
}
