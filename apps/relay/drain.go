package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// restartPause is the least time for which a restarting relay is away.
	restartPause = 500 * time.Millisecond
	// returnEvery is the pace at which peers come back to a restarting relay: it
	// can easily handle a thousand logins per second.
	returnEvery = time.Millisecond
	// returnLeast and returnMost bound the time over which they come back.
	returnLeast = time.Second
	returnMost  = 20 * time.Second
	// elsewhereFirst and elsewhereSpread are when a peer dials again that another
	// node will take. Its turn to leave was spread already.
	elsewhereFirst  = 100 * time.Millisecond
	elsewhereSpread = 900 * time.Millisecond
)

// Drain asks the peers to leave, one after another over window, in random order. It
// returns when each has been asked or has left, or with ctx.Err() when ctx ends first.
// Shutdown does the rest.
//
// From its start new connections are refused and /readyz fails. Until its turn a peer is
// served as usual, including new channels. Each peer learns when to reconnect: at once if
// other nodes are there, otherwise spread over some time after the end of the window.
func (r *Relay) Drain(ctx context.Context, window time.Duration) error {
	conns, left := r.beginDrain()
	rand.Shuffle(len(conns), func(i, j int) { conns[i], conns[j] = conns[j], conns[i] })
	r.log.Info("draining", "connections", len(conns), "window", window)
	start := time.Now()
	for i, c := range conns {
		turn := spread(i, len(conns), window)
		if err := awaitTurn(ctx, c, start.Add(turn), left); err != nil {
			return err
		}
		dismiss(c, r.comeBack(i, len(conns), window-time.Since(start)))
	}
	return nil
}

// retryAfter is when a refused client may dial again, in seconds.
func retryAfter(err error) string {
	if errors.Is(err, errClosing) {
		return "1" // another node accepts it, or this one restarts
	}
	return "10"
}

// beginDrain refuses new connections. It returns the open ones, and a channel that is
// signaled when a connection has ended.
func (r *Relay) beginDrain() ([]*conn.Conn, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	return r.openConns(), r.left
}

// awaitTurn returns at the given time, or as soon as the peer has left.
func awaitTurn(ctx context.Context, c *conn.Conn, at time.Time, left <-chan struct{}) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	for !c.Ended() {
		select {
		case <-timer.C:
			return nil
		case <-left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// dismiss ends the connection because the relay ends.
func dismiss(c *conn.Conn, comeBack time.Duration) {
	c.Goodbye(wire.ReasonShutdown, ws.StatusGoingAway,
		&wire.Goodbye{Reason: wire.ReasonShutdown, RetryAfter: max(1, comeBack.Milliseconds())})
}

// comeBack is when the i-th of n leaving peers may dial again; the relay ends after
// remaining.
func (r *Relay) comeBack(i, n int, remaining time.Duration) time.Duration {
	if r.cluster.Others() {
		return elsewhereFirst + rand.N(elsewhereSpread)
	}
	over := min(max(time.Duration(n)*returnEvery, returnLeast), returnMost)
	return max(0, remaining) + restartPause + spread(i, n, over)
}

// spread is a random point in the i-th of n equal parts of window.
func spread(i, n int, window time.Duration) time.Duration {
	return time.Duration((float64(i) + rand.Float64()) / float64(n) * float64(window))
}
