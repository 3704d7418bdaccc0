package uplink

import (
	"log/slog"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
)

const (
	// failureLogEvery is how often one kind of line about a failing connection is logged.
	failureLogEvery = 5 * time.Minute
	// steadyAfter is how long a connection lasts until its end begins a new run of failures.
	steadyAfter = time.Minute
)

// connLog logs the state of the connection to the relay without filling the log, even when
// the relay is down or closes every connection soon. Of a run of failures it logs the
// first, one every failureLogEvery with the number of those in between, and the return of the
// connection. It belongs to the goroutine of relayconn.Keep.
type connLog struct {
	log *slog.Logger
	url string

	since     time.Time // of the connection; zero while disconnected
	failures  int       // of this run
	failedAt  time.Time // when one was last logged
	unlogged  int       // failures after that
	restored  bool      // it was logged in this run that the connection is back
	restoreAt time.Time // when that was logged
}

func (l *connLog) report(state relayconn.State) {
	now := time.Now()
	if state.Connected {
		l.since = now
		l.connected(now)
		return
	}
	if !l.since.IsZero() && now.Sub(l.since) >= steadyAfter {
		*l = connLog{log: l.log, url: l.url}
	}
	l.since = time.Time{}
	l.failed(now, state)
}

func (l *connLog) connected(now time.Time) {
	if l.restored && now.Sub(l.restoreAt) < failureLogEvery {
		return
	}
	l.restored, l.restoreAt = true, now
	if l.failures == 0 {
		l.log.Info("connected to the relay", "relay", l.url)
		return
	}
	l.log.Info("connected to the relay again", "relay", l.url, "failures", l.failures)
}

func (l *connLog) failed(now time.Time, state relayconn.State) {
	l.failures++
	if l.failures > 1 && now.Sub(l.failedAt) < failureLogEvery {
		l.unlogged++
		return
	}
	l.log.Warn("not connected to the relay", "relay", l.url, "error", state.Err,
		"retryIn", state.RetryIn.Round(time.Millisecond), "unlogged", l.unlogged)
	l.failedAt, l.unlogged = now, 0
}
