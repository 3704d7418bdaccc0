package relayconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// State is the state of a connection that Keep maintains.
type State struct {
	Connected bool
	Err       error         // why it is not connected; nil during the first attempt
	RetryIn   time.Duration // time until the next attempt
}

const (
	backoffFirst    = 300 * time.Millisecond
	backoffMost     = 30 * time.Second
	backoffReplaced = 60 * time.Second // another process with this identity is connected: do not take turns
	retryMost       = 10 * time.Minute // the longest wait that a relay may request
	steadyAfter     = 20 * time.Second // a connection that lasted this long resets the backoff
	// A random part of lossSpread is added to the first wait after a connection was
	// lost: all peers of a relay that crashes lose it at the same moment and must not
	// all reconnect at once.
	lossSpread = 2 * time.Second
)

// Keep dials, runs serve on the connection, and dials again after every loss until
// ctx ends, with increasing, jittered waits. serve must call Run. report is called
// on every change, from the calling goroutine.
func Keep(ctx context.Context, cfg Config, report func(State), serve func(context.Context, *Conn) error) error {
	wait := backoffFirst
	for {
		start := time.Now()
		connected, err := once(ctx, cfg, report, serve)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Since(start) > steadyAfter {
			wait = backoffFirst
		}
		pause := pauseAfter(err, wait, connected)
		report(State{Err: err, RetryIn: pause})
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
		wait = min(2*wait, backoffMost)
	}
}

func once(ctx context.Context, cfg Config, report func(State), serve func(context.Context, *Conn) error) (connected bool, err error) {
	conn, err := Dial(ctx, cfg)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	report(State{Connected: true})
	return true, serve(ctx, conn)
}

// RetryAfter returns how long the relay asked to wait before the next dial; 0 if
// err does not say. All peers refused at one moment get the same figure, so up to
// the same time again is added at random; a goodbye's figure is for one peer alone.
func RetryAfter(err error) time.Duration {
	var bye *GoodbyeError
	if errors.As(err, &bye) && bye.RetryAfter > 0 {
		return min(time.Duration(bye.RetryAfter), retryMost/time.Millisecond) * time.Millisecond
	}
	var busy *BusyError
	if errors.As(err, &busy) && busy.RetryAfter > 0 {
		return busy.RetryAfter + rand.N(busy.RetryAfter)
	}
	return 0
}

// pauseAfter returns the wait before the next attempt: half of wait plus a random
// half, and more if a connection was lost. A longer wait requested by the relay
// takes precedence: a relay can slow its peers down but not hurry them.
func pauseAfter(err error, wait time.Duration, connected bool) time.Duration {
	var bye *GoodbyeError
	if errors.As(err, &bye) && bye.Reason == wire.ReasonReplaced {
		return backoffReplaced + rand.N(backoffReplaced)
	}
	var refused *wire.Error
	if errors.As(err, &refused) && refused.Kind != wire.KindShuttingDown && refused.Kind != wire.KindUnavailable {
		wait = backoffMost // retrying soon does not change a refusal
	}
	pause := wait/2 + rand.N(wait/2+1)
	if asked := RetryAfter(err); asked > 0 {
		return max(asked, pause)
	}
	if connected {
		pause += rand.N(lossSpread)
	}
	return pause
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
