package paths

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
)

// Config says how to reach one device. Known and Dial are required.
type Config struct {
	// Known returns the known paths. It is called before each dial, so that paths that
	// another process learned are used.
	Known func() ([]Known, error)
	// Dial opens a channel over a path, sealed to the device's pinned keys.
	Dial func(ctx context.Context, path Path) (*Channel, error)
	// Find looks for paths that are not known, when no known one reaches the device; nil
	// does not.
	Find func(ctx context.Context) []Path
	// Lost reports whether another attempt can help after an error; nil means always.
	Lost func(err error) bool
	// Used is called after a path was measured, from any goroutine; nil is not.
	Used func(path Path, roundTrip time.Duration)
	// Learn learns the paths of the device beside a connection that Keep made, until ctx
	// ends: see the function Learn. nil does not.
	Learn func(ctx context.Context, learning Learning) error
	// Stale reports whether Dial should learn the paths as well; nil means never.
	Stale func() bool
	// Standby is that of the Dialer, if it has one. The device closes it.
	Standby *client.Standby
	// Pace replaces the times between attempts; the zero value has useful ones.
	Pace Pace
}

// Pace is how soon what happens follows.
type Pace struct {
	Watch  time.Duration // from a connection to the first attempt at a better path; 5 s
	Quiet  time.Duration // how long nothing must be under way before a move; 2 s
	Steady time.Duration // how long a connection must last for another to follow at once; 1 s
}

func (p Pace) withDefaults() Pace {
	return Pace{Watch: cmp.Or(p.Watch, watchFirst), Quiet: cmp.Or(p.Quiet, quietFor), Steady: cmp.Or(p.Steady, steady)}
}

// Device is a device with its paths. Its methods may be called from any goroutine; Close ends
// what Keep has prepared.
type Device struct {
	cfg Config

	mu      sync.Mutex
	failing map[string]time.Time // when a path failed or was lost, by key
	used    *Path                // of the last connection
	ready   *finish              // for the next Keep: a better path than that of the last Link
	closed  bool
}

// New returns a device, to which nothing is connected yet.
func New(cfg Config) *Device {
	if cfg.Lost == nil {
		cfg.Lost = func(error) bool { return true }
	}
	if cfg.Used == nil {
		cfg.Used = func(Path, time.Duration) {}
	}
	cfg.Pace = cfg.Pace.withDefaults()
	return &Device{cfg: cfg, failing: map[string]time.Time{}}
}

// Dial connects over the best path, for a short time: it does not look for a better one.
func (d *Device) Dial(ctx context.Context) (client.Transport, error) {
	won, known, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	l := d.link(won, len(known))
	if d.cfg.Stale != nil && d.cfg.Stale() {
		l.learnOnce()
	}
	return l, nil
}

// Keep connects over the best path, and ends the connection with client.ErrMoved when a better
// one works and nothing is under way; the next call returns that one.
func (d *Device) Keep(ctx context.Context) (client.Transport, error) {
	won := d.takeReady()
	known, err := d.cfg.Known()
	if err != nil {
		return nil, errors.Join(err, won.close())
	}
	if won == nil {
		if won, known, err = d.connect(ctx); err != nil {
			return nil, err
		}
	}
	l := d.link(won, len(known))
	l.watch()
	return l, nil
}

// Used returns the path of the last connection; ok is false before the first.
func (d *Device) Used() (path Path, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used == nil {
		return Path{}, false
	}
	return *d.used, true
}

// Close releases what no call of Keep has taken.
func (d *Device) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	err := d.takeReady().close()
	d.cfg.Standby.Close()
	return err
}

// Wait waits before another attempt, at most as long as given, less if a relay reports that the device is back.
func (d *Device) Wait(ctx context.Context, most time.Duration) error {
	return d.cfg.Standby.Wait(ctx, most)
}

func (d *Device) takeReady() *finish {
	d.mu.Lock()
	defer d.mu.Unlock()
	ready := d.ready
	d.ready = nil
	return ready
}

func (f *finish) close() error {
	if f == nil {
		return nil
	}
	return f.channel.Transport.Close()
}

// connect runs a race of the known paths, and one of those that can be found if all fail.
func (d *Device) connect(ctx context.Context) (*finish, []Known, error) {
	known, err := d.cfg.Known()
	if err != nil {
		return nil, nil, err
	}
	won, failed := d.race(ctx, known)
	if won == nil && ctx.Err() == nil && d.cfg.Find != nil {
		known = unknown(d.cfg.Find(ctx), known)
		var more []Attempt
		won, more = d.race(ctx, known)
		failed = append(failed, more...)
	}
	switch {
	case won != nil:
		return won, known, nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case len(failed) == 0:
		return nil, nil, errors.New("no path to the device is known: pair again")
	}
	return nil, nil, &FailedError{failed, d.cfg.Lost}
}

// unknown returns the paths that are not in a list.
func unknown(found []Path, known []Known) []Known {
	seen := map[string]bool{}
	for _, k := range known {
		seen[k.Key()] = true
	}
	var list []Known
	for _, p := range found {
		if !seen[p.Key()] {
			seen[p.Key()] = true
			list = append(list, Known{Path: p})
		}
	}
	return list
}

func (d *Device) race(ctx context.Context, known []Known) (*finish, []Attempt) {
	won, failed := race(ctx, sorted(known, d.isFailing), d.cfg.Dial)
	if ctx.Err() == nil { // otherwise the failures mean nothing
		for _, attempt := range failed {
			d.failed(attempt.Path)
		}
	}
	if won != nil {
		d.measured(won)
	}
	return won, failed
}

func (d *Device) measured(won *finish) {
	won.path.RoundTrip, won.path.Bound = won.channel.RoundTrip, true
	d.mu.Lock()
	delete(d.failing, won.path.Key())
	d.mu.Unlock()
	d.cfg.Used(won.path.Path, won.channel.RoundTrip)
}

// demotion is how long a path is tried last after it failed.
const demotion = 30 * time.Second

func (d *Device) isFailing(p Path) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.failing[p.Key()]
	return ok && time.Since(at) < demotion
}

func (d *Device) failed(p Path) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing[p.Key()] = time.Now()
}

// handOver keeps a path for the next Keep. It returns false after Close.
func (d *Device) handOver(better *finish) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.ready != nil {
		return false
	}
	d.ready = better
	return true
}

// measure dials paths one after the other, which also binds this client there, and closes
// them again.
func (d *Device) measure(ctx context.Context, list []Path) {
	for _, p := range list {
		if one := d.try(ctx, p); one != nil {
			_ = one.close() // nothing was sent on it
		}
	}
}

// tryTimeout bounds an attempt that nobody waits for.
const tryTimeout = 15 * time.Second

// try dials one path, or returns nil.
func (d *Device) try(ctx context.Context, p Path) *finish {
	ctx, cancel := context.WithTimeoutCause(ctx, tryTimeout, fmt.Errorf("no answer within %s", tryTimeout))
	defer cancel()
	channel, err := d.cfg.Dial(ctx, p)
	if err != nil {
		return nil
	}
	one := &finish{path: Known{Path: p}, channel: channel}
	d.measured(one)
	return one
}
