package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// State is how a kept link stands.
type State struct {
	Connected bool
	Err       error         // why it is not connected; nil while the first try runs
	RetryIn   time.Duration // how long until the next try
}

const (
	backoffFirst    = 300 * time.Millisecond
	backoffMost     = 30 * time.Second
	backoffReplaced = 60 * time.Second // a twin is connected: do not flap
	retryMost       = 10 * time.Minute // of what a relay may ask for
	steadyAfter     = 20 * time.Second // a connection that lived so long resets the back-off
	// lossSpread is added, in part, to the first wait after a connection was lost:
	// all peers of a relay that dies lose it at one moment and must not come back
	// at one.
	lossSpread = 2 * time.Second
)

// Keep dials, runs serve on the connection, and dials again after every loss
// until ctx ends, with growing, jittered waits. serve calls Run. report is told
// of every change, from the calling goroutine.
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

// RetryAfter is how long the relay said to wait before the next dial; 0 when err
// holds no word on it. All who were refused in one moment hear the same figure, so
// chance adds up to as much again; a goodbye's figure is for one peer alone.
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

// pauseAfter is the wait before the next try: the relay's own figure where it
// gave one, else half of wait plus a random half, and more where a connection was
// lost.
func pauseAfter(err error, wait time.Duration, connected bool) time.Duration {
	var bye *GoodbyeError
	if errors.As(err, &bye) && bye.Reason == wire.ReasonReplaced {
		return backoffReplaced + rand.N(backoffReplaced)
	}
	if told := RetryAfter(err); told > 0 {
		return told
	}
	var refused *wire.Error
	if errors.As(err, &refused) && refused.Kind != wire.KindShuttingDown && refused.Kind != wire.KindUnavailable {
		wait = backoffMost // asking again soon will not change a refusal
	}
	pause := wait/2 + rand.N(wait/2+1)
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
