package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// refusalPatience is how long to repeat a request that the host currently cannot carry out,
// for example because its disk is full or its database is down.
const refusalPatience = 15 * time.Second

// refusedError reports that the host could not carry out a request for refusalPatience. The
// connection works, so reconnecting does not help.
type refusedError struct {
	request string
	tries   int
	after   time.Duration
	cause   error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the host could not carry out %s (%d tries in %s): %v", e.request, e.tries, e.after.Round(time.Second), e.cause)
}

func (e *refusedError) Unwrap() error { return e.cause }

// persist sends a request, and repeats it with growing pauses for at most refusalPatience
// while the host responds that it cannot carry it out now. When ctx ends it returns the
// last refusal. A session that is being moved is waited for as long as that takes: the host
// cancels a move that does not end.
func (r *runner) persist(ctx context.Context, c *client.Client, name string, request func() error) error {
	began, pause := time.Now(), firstPause
	for tries := 1; ; tries++ {
		err := request()
		if !isUnavailable(err) {
			return err
		}
		moving := isMoving(err)
		if after := time.Since(began); !moving && after+pause > refusalPatience {
			return &refusedError{request: name, tries: tries, after: after, cause: err}
		}
		if tries == 1 && moving {
			r.cfg.View.Notice("the session is being moved to another machine, waiting until that has ended")
		} else if tries == 1 {
			r.cfg.View.Notice(fmt.Sprintf("the host cannot carry out %s now, trying again for %s (%s)", name, refusalPatience, err))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-c.Done():
		case <-ctx.Done():
		}
		timer.Stop()
		switch {
		case c.Err() != nil:
			return c.Err()
		case ctx.Err() != nil:
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// isMoving reports whether a request was refused because its session is being moved.
func isMoving(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && refused.Kind == api.KindUnavailable && refused.MovingTo != ""
}

func isUnavailable(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && refused.Kind == api.KindUnavailable
}
