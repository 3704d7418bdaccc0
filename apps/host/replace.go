package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// How long the lock of a home is waited for.
const (
	lookPatience  = 200 * time.Millisecond // a look at whether a host lives takes it for an instant
	startPatience = 2 * time.Second        // a host that is just ending
	endPatience   = 30 * time.Second       // a host that was asked to stop: its turns end first
	stopPatience  = 10 * time.Second       // until a running host has received the request to stop
)

// takeLock takes the lock of a home; with replace it ends a live host first. This is
// the only place that does: stopped elsewhere, the home could be taken by a third host.
func takeLock(ctx context.Context, paths state.Paths, replace bool) (*state.Lock, error) {
	lock, err := tryLock(ctx, paths, lookPatience)
	if !errors.Is(err, state.ErrLocked) {
		return lock, err
	}
	run, runErr := state.ReadRun(paths)
	if runErr != nil { // it is just starting or ending
		if lock, err = tryLock(ctx, paths, startPatience); !errors.Is(err, state.ErrLocked) {
			return lock, err
		}
		if run, runErr = state.ReadRun(paths); runErr != nil {
			return nil, &LiveError{}
		}
	}
	if !replace {
		return nil, &LiveError{PID: run.PID}
	}
	if err := stopLive(ctx, run); err != nil {
		if lock, lockErr := tryLock(ctx, paths, lookPatience); lockErr == nil {
			return lock, nil // it did not answer because it had stopped
		}
		return nil, fmt.Errorf("replacing the running host: %w", err)
	}
	lock, err = tryLock(ctx, paths, endPatience)
	if errors.Is(err, state.ErrLocked) {
		return nil, fmt.Errorf("the running host (process %d) was asked to stop but did not stop within %s: see `scorel host status`", run.PID, endPatience)
	}
	return lock, err
}

func tryLock(ctx context.Context, paths state.Paths, patience time.Duration) (*state.Lock, error) {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := state.AcquireBefore(patient, paths.Lock())
	if errors.Is(err, state.ErrLocked) && ctx.Err() != nil {
		return nil, fmt.Errorf("waiting for the running host to stop: %w", context.Cause(ctx))
	}
	return lock, err
}

// stopLive asks a live host to end.
func stopLive(ctx context.Context, run State) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	transport, err := client.DialDirect(ctx, run.Addr, run.Token)
	if err != nil {
		return fmt.Errorf("process %d does not respond: stop it yourself: %w", run.PID, err)
	}
	c := client.New(transport, nil)
	_, err = client.Call(ctx, c, api.StopHost, api.Empty{})
	_ = c.Close()
	if errors.Is(err, client.ErrLost) { // it was gone before its answer was
		return nil
	}
	return err
}
