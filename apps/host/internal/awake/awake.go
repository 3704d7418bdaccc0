// Package awake keeps the machine from going to sleep while turns run. It asks the system: logind
// over D-Bus on Linux, caffeinate on macOS, the execution state on Windows. A machine whose system
// refuses, or has no such service, sleeps as it is set to.
package awake

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// What people see where the system lists who keeps it awake.
const (
	who = "scorel"
	why = "A coding agent is working"
)

// holdTimeout bounds one request to the system.
const holdTimeout = 5 * time.Second

// ErrUnsupported means that nothing on this machine can be asked.
var ErrUnsupported = errors.New("this system has no service that keeps it awake")

// Inhibitor keeps the machine awake from Hold until release, which is called once. The end of the
// process releases too.
type Inhibitor interface {
	Hold(ctx context.Context) (release func(), err error)
}

// Keeper holds an Inhibitor while work is done. It is safe for concurrent use.
type Keeper struct {
	inhibitor Inhibitor
	log       *slog.Logger
	working   atomic.Int64
	changed   chan struct{} // holds one token if work began or ended
}

// New returns a keeper; Run does its work.
func New(inhibitor Inhibitor, log *slog.Logger) *Keeper {
	return &Keeper{inhibitor: inhibitor, log: log, changed: make(chan struct{}, 1)}
}

// Begin notes that work begins; end, which is called once, that it ends. Neither waits for the
// system.
func (k *Keeper) Begin() (end func()) {
	k.add(1)
	return func() { k.add(-1) }
}

func (k *Keeper) add(n int64) {
	k.working.Add(n)
	select {
	case k.changed <- struct{}{}:
	default: // Run will see this change too
	}
}

// Run follows what began and ended until ctx ends, and releases what is held then.
func (k *Keeper) Run(ctx context.Context) {
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	tried := false // since work began
	for {
		select {
		case <-k.changed:
		case <-ctx.Done():
			return
		}
		switch working := k.working.Load() > 0; {
		case working && !tried:
			release, tried = k.hold(ctx), true
		case !working:
			if release != nil {
				release()
			}
			release, tried = nil, false
		}
	}
}

// hold returns nil if the system cannot be asked or refuses. It does not give up when ctx ends:
// the answer may be on its way, and its lock would then keep the machine awake.
func (k *Keeper) hold(ctx context.Context) func() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdTimeout)
	defer cancel()
	release, err := k.inhibitor.Hold(ctx)
	if err != nil {
		level := slog.LevelInfo
		if errors.Is(err, ErrUnsupported) {
			level = slog.LevelDebug
		}
		k.log.Log(ctx, level, "the machine may go to sleep while the agent works", "error", err)
		return nil
	}
	return release
}
