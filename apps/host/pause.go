package host

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// pauseLease is how long a host that was paused begins nothing new, if it is neither restarted nor
// resumed: the command that paused it may have ended.
const pauseLease = 30 * time.Second

// pause waits until nothing runs, and has nothing begin until unpause.
func (h *Host) pause(ctx context.Context) error {
	err := h.sessions.Holder.HoldAll(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		count := h.sessions.Holder.Working(context.WithoutCancel(ctx))
		return api.Errorf(api.KindConflict, "turns or background commands of %d sessions still run: wait until they end, or cancel them, then try again", count)
	}
	if err == nil {
		select {
		case h.paused <- struct{}{}:
		default: // unpause is about to see another one
		}
	}
	return err
}

// unpause releases the sessions of a host that was paused and not restarted in time, until ctx ends.
func (h *Host) unpause(ctx context.Context) {
	timer := time.NewTimer(pauseLease)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-h.paused:
			timer.Reset(pauseLease)
		case <-timer.C:
			h.sessions.Holder.ReleaseAll()
		case <-ctx.Done():
			return
		}
	}
}

// resume has a host that was paused continue.
func (h *Host) resume() { h.sessions.Holder.ReleaseAll() }

// restart has Run end with ErrRestart. A host whose pause is over is not restarted, because turns that
// have begun since would be cancelled.
func (h *Host) restart() error {
	if !h.cfg.Restarts {
		return api.Errorf(api.KindUnavailable, "this host cannot execute its program again: stop it, and start it again")
	}
	if !h.sessions.Holder.KeepHeld() {
		return api.Errorf(api.KindConflict, "the host is not paused, or no longer: pause it first, as `scorel host restart` does")
	}
	h.stop(ErrRestart)
	return nil
}
