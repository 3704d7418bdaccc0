package serve

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"
)

// scarceEvery is the minimum time between log lines about connections that cannot
// be accepted.
const scarceEvery = time.Minute

// watched is a listener that logs when the process or the system has no file
// descriptors left for a connection. The server itself retries silently.
type watched struct {
	net.Listener
	log *slog.Logger

	// Owned by Accept.
	logged   time.Time // when it was last logged
	refusals int       // since then
}

// Accept implements net.Listener.
func (w *watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return conn, err
	}
	w.refusals++
	if now := time.Now(); w.logged.IsZero() || now.Sub(w.logged) >= scarceEvery {
		w.log.Error("connections cannot be accepted: no file descriptors are left. Raise the limit on open files (ulimit -n, LimitNOFILE), or lower the relay's limits", "failed", w.refusals, "error", err)
		w.logged, w.refusals = now, 0
	}
	return conn, err
}
