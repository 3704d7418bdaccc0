package listener

import (
	"io"
	"log/slog"
	"net"
	"testing"
)

// entrance is a Listener on a socket, with both ends of its connections.
type entrance struct {
	t    *testing.T
	door *Listener
}

func newEntrance(t *testing.T) entrance {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return entrance{t, wrap(listener, slog.New(slog.DiscardHandler))}
}

// enter connects and accepts.
func (e entrance) enter() (outside net.Conn, inside *Conn) {
	e.t.Helper()
	outside, err := net.Dial("tcp", e.door.Addr().String())
	if err != nil {
		e.t.Fatal(err)
	}
	accepted, err := e.door.Accept()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _, _ = outside.Close(), accepted.Close() })
	return outside, accepted.(*Conn)
}

// TestStrangersMakeRoom: connections that show no token are closed, the oldest first,
// where too many come; those that showed one stay.
func TestStrangersMakeRoom(t *testing.T) {
	e := newEntrance(t)
	_, known := e.enter()
	if !known.Identify("tok_1") {
		t.Fatal("a token is refused")
	}
	first, _ := e.enter()
	for range maxStrangers {
		e.enter()
	}
	if _, err := first.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the oldest stranger: %v", err)
	}
	if !known.Identify("tok_1") {
		t.Error("a connection with a token was closed")
	}
	if n := e.door.strangers.Len(); n != maxStrangers {
		t.Errorf("%d strangers, want %d", n, maxStrangers)
	}
}

// TestATokenHasSoManyConnections: one more is refused, and there is room again when one
// has ended; what is closed is counted once.
func TestATokenHasSoManyConnections(t *testing.T) {
	e := newEntrance(t)
	var guests []*Conn
	for range MaxPerToken {
		_, g := e.enter()
		if guests = append(guests, g); !g.Identify("tok_1") {
			t.Fatalf("connection %d is refused", len(guests))
		}
	}
	_, more := e.enter()
	if more.Identify("tok_1") || !more.Identify("tok_2") {
		t.Error("the limit is not that of one token")
	}
	for range 2 {
		_ = guests[0].Close()
	}
	_, again := e.enter()
	if !again.Identify("tok_1") {
		t.Error("there is no room after one has ended")
	}
	if e.door.conns != MaxPerToken+1 {
		t.Errorf("%d connections are counted", e.door.conns)
	}
}
