package paths

import (
	"context"
	"sync"
	"time"
)

// Head starts: how long a better path is alone before the next one is tried as well. A path
// that fails earlier lets the next one start at once.
const (
	machineHeadStart = 100 * time.Millisecond
	networkHeadStart = 200 * time.Millisecond
	relayHeadStart   = 300 * time.Millisecond
)

func (k Kind) headStart() time.Duration {
	switch k {
	case Machine:
		return machineHeadStart
	case Network:
		return networkHeadStart
	}
	return relayHeadStart
}

// finish is how one path of a race ended.
type finish struct {
	path    Known
	channel *Channel
	err     error
}

// race dials paths in order until one has a sealed channel, and closes the others. It returns
// the attempts that failed before, in the order in which they did.
func race(ctx context.Context, order []Known, dial func(context.Context, Path) (*Channel, error)) (winner *finish, failed []Attempt) {
	ctx, cancel := context.WithCancel(ctx)
	finishes := make(chan finish, len(order))
	var running sync.WaitGroup
	next := 0
	start := func() time.Duration {
		path := order[next]
		next++
		running.Go(func() {
			channel, err := dial(ctx, path.Path)
			finishes <- finish{path, channel, err}
		})
		return path.Kind.headStart()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for len(failed) < len(order) && winner == nil {
		select {
		case <-timer.C:
			if next < len(order) {
				timer.Reset(start())
			}
		case done := <-finishes:
			if done.err == nil {
				winner = &done
				break
			}
			failed = append(failed, Attempt{done.path.Path, done.path.Bound, done.err})
			timer.Reset(0)
		}
	}
	cancel()
	running.Wait()
	close(finishes)
	for late := range finishes {
		if late.channel != nil {
			_ = late.channel.Transport.Close() // nothing was sent on it
		}
	}
	return winner, failed
}
