package relay

import (
	"net"
	"syscall"
)

// direct writes to a socket as much as it takes at once. It never waits, so a reader
// may use it: most batches leave this way, without a goroutine that is started and
// scheduled for each.
type direct struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool // made once, so that writing allocates nothing
	data []byte
	n    int
}

// newDirect returns nil for a connection that must be written to in another way, as
// one that encrypts.
func newDirect(conn sink) *direct {
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

// write returns how many bytes the socket took. An error is left to whoever writes
// the rest. One goroutine calls it at a time.
func (d *direct) write(data []byte) int {
	d.data, d.n = data, 0
	_ = d.raw.Write(d.try) // the rest meets the same error
	d.data = nil
	return d.n
}
