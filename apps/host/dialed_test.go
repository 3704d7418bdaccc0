package host_test

import (
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// dialed is the part of a fake of a chat platform whose bots dial a WebSocket.
type dialed struct {
	t      *testing.T
	report func() any // what the bot has shown, for the report of a failure

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	conn    *websocket.Conn
}

// change notifies those who wait. d.mu is held.
func (d *dialed) change() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// drop ends the connection as a network does.
func (d *dialed) drop() {
	d.mu.Lock()
	conn := d.conn
	d.conn = nil
	d.mu.Unlock()
	if conn != nil {
		_ = conn.CloseNow()
	}
}

// until waits until something is so.
func (d *dialed) until(what string, ok func() bool) {
	d.t.Helper()
	deadline := time.After(longWait)
	for {
		d.mu.Lock()
		changed, now := d.changed, ok()
		d.mu.Unlock()
		if now {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			d.mu.Lock()
			defer d.mu.Unlock()
			d.t.Fatalf("waiting for %s: %+.2000v", what, d.report())
		}
	}
}
