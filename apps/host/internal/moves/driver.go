package moves

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// driver owns the goroutines of moves: one for each move that has something to do. They run
// between begin and end.
type driver struct {
	records *Records
	logger  *slog.Logger
	step    func(context.Context, *move, record) error // does the next step; an error is tried again

	mu      sync.Mutex
	ctx     context.Context // of the goroutines; nil before begin and after end
	driven  map[*move]bool
	running sync.WaitGroup
}

// begin starts the goroutines of moves, until ctx ends.
func (d *driver) begin(ctx context.Context) {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	for _, one := range d.records.all() {
		d.start(one)
	}
}

// end waits for the goroutines, whose context has ended. None starts afterwards.
func (d *driver) end() {
	d.mu.Lock()
	d.ctx = nil
	d.mu.Unlock()
	d.running.Wait()
}

// start starts the goroutine of a move that has something to do.
func (d *driver) start(one *move) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.startLocked(one)
}

func (d *driver) startLocked(one *move) {
	if d.ctx == nil || d.driven[one] || !d.records.of(one).active() {
		return
	}
	d.driven[one] = true
	ctx := d.ctx
	d.running.Go(func() { d.drive(ctx, one) })
}

// within runs do in a goroutine that end waits for; not at all before begin and after end.
func (d *driver) within(do func(context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx := d.ctx; ctx != nil {
		d.running.Go(func() { do(ctx) })
	}
}

// Pauses between attempts to reach the other host.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// waitLogEvery is how often it is logged that a move waits.
const waitLogEvery = 5 * time.Minute

// drive does what a move needs until it has ended.
func (d *driver) drive(ctx context.Context, one *move) {
	pause := firstPause
	var logged time.Time
	for ctx.Err() == nil {
		r := d.records.of(one)
		if !r.active() {
			break
		}
		err := d.step(ctx, one, r)
		if err == nil {
			pause = firstPause
			continue
		}
		if ctx.Err() != nil {
			break
		}
		d.records.setTrouble(one, err)
		if time.Since(logged) >= waitLogEvery { // the other host may be away for months
			logged = time.Now()
			d.logger.Warn("a move of a session waits", "move", r.ID, "session", r.SessionID, "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-one.wake:
		case <-ctx.Done():
		}
		timer.Stop()
		pause = min(2*pause, maxPause)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.driven, one)
	if ctx.Err() == nil {
		d.startLocked(one) // it may have changed since
	}
}
