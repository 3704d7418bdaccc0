package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// restartPause is how long a relay is away at the least when it restarts.
	restartPause = 500 * time.Millisecond
	// returnEvery is the pace at which peers come back to a relay that restarts: a
	// thousand logins a second are well within what one does.
	returnEvery = time.Millisecond
	// returnLeast and returnMost bound the time over which they come back.
	returnLeast = time.Second
	returnMost  = 20 * time.Second
	// elsewhereFirst and elsewhereSpread are when a peer dials again that another
	// node will take. Its turn to leave was spread already.
	elsewhereFirst  = 100 * time.Millisecond
	elsewhereSpread = 900 * time.Millisecond
)

// Drain asks the peers to leave, one after the other over window, in an order that
// chance decides. It returns when each has been asked or has left, or with
// ctx.Err() when ctx ends first. Shutdown does the rest.
//
// From its start nobody new gets in and /readyz fails. Until its turn a peer is
// served as ever, new channels included. Each is told when to come back: at once
// when other nodes are there to take it, else spread over a time after the end of
// the window.
func (r *Relay) Drain(ctx context.Context, window time.Duration) error {
	conns, left := r.beginDrain()
	rand.Shuffle(len(conns), func(i, j int) { conns[i], conns[j] = conns[j], conns[i] })
	r.log.Info("draining", "connections", len(conns), "window", window)
	start := time.Now()
	for i, c := range conns {
		turn := spread(i, len(conns), window)
		if err := c.awaitTurn(ctx, start.Add(turn), left); err != nil {
			return err
		}
		c.dismiss(r.comeBack(i, len(conns), window-time.Since(start)))
	}
	return nil
}

// retryAfter is when whoever was refused may dial again, in seconds.
func retryAfter(err error) string {
	if errors.Is(err, errClosing) {
		return "1" // another node takes it, or this one starts anew
	}
	return "10"
}

// beginDrain lets nobody in any more. It returns who is there, and a channel that
// is signalled when somebody has left.
func (r *Relay) beginDrain() ([]*conn, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	out := make([]*conn, 0, len(r.conns))
	for c := range r.conns {
		out = append(out, c)
	}
	return out, r.left
}

// awaitTurn returns at the given time, or as soon as the peer has left.
func (c *conn) awaitTurn(ctx context.Context, at time.Time, left <-chan struct{}) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	for !c.ended() {
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
func (c *conn) dismiss(comeBack time.Duration) {
	c.end(wire.ReasonShutdown, ws.StatusGoingAway,
		&wire.Goodbye{Reason: wire.ReasonShutdown, RetryAfter: max(1, comeBack.Milliseconds())})
}

// comeBack is when the i-th of n peers that leave may dial again; the relay ends
// after remaining.
func (r *Relay) comeBack(i, n int, remaining time.Duration) time.Duration {
	if r.cluster.others() {
		return elsewhereFirst + rand.N(elsewhereSpread)
	}
	over := min(max(time.Duration(n)*returnEvery, returnLeast), returnMost)
	return max(0, remaining) + restartPause + spread(i, n, over)
}

// spread is a random point in the i-th of n equal parts of window.
func spread(i, n int, window time.Duration) time.Duration {
	return time.Duration((float64(i) + rand.Float64()) / float64(n) * float64(window))
}

// others tells whether another node is there.
func (c *cluster) others() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.nodes {
		if time.Since(p.seen) <= nodeTimeout {
			return true
		}
	}
	return false
}
