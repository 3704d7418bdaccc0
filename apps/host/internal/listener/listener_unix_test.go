//go:build unix

package listener

import (
	"log/slog"
	"testing"
)

// TestAnAddressInUse: the error says what to do, without the names of system calls.
func TestAnAddressInUse(t *testing.T) {
	addr := newEntrance(t).door.Addr().String()
	_, err := Listen(addr, slog.New(slog.DiscardHandler))
	if err == nil || err.Error() != addr+" is in use by another program: end that, or choose another port with --listen" {
		t.Errorf("got %v", err)
	}
}
