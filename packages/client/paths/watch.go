package paths

import (
	"context"
	"time"
)

// How often better paths are tried, beginning with watchFirst after the connection; the time
// doubles to watchMost. A relay that is known to work is measured again after measureEvery.
const (
	watchFirst   = 5 * time.Second
	watchMost    = time.Minute
	measureEvery = 10 * time.Minute
)

// watch starts to learn the paths of the device, and to look for a better one.
func (l *Link) watch() {
	learned := make(chan struct{}, 1)
	if l.canLearn() {
		l.tasks.Go(func() { l.learn(learned) })
	}
	l.tasks.Go(func() { l.improve(learned) })
}

func (l *Link) canLearn() bool { return l.inner.Open != nil && l.device.cfg.Learn != nil }

// learn keeps the list of paths up to date. Without it the known paths are used.
func (l *Link) learn(learned chan<- struct{}) {
	measure := func(ctx context.Context, list []Path) {
		l.device.measure(ctx, list)
		select {
		case learned <- struct{}{}:
		default:
		}
	}
	_ = l.device.cfg.Learn(l.ctx, Learning{Open: l.inner.Open, Measure: measure}) // an older host, or the path ends
}

// learnOnce learns the paths while the link is used for something else. Close waits for it, but
// not for long.
func (l *Link) learnOnce() {
	if !l.canLearn() {
		return
	}
	l.learning = make(chan struct{})
	l.tasks.Go(func() {
		defer close(l.learning)
		_ = l.device.cfg.Learn(l.ctx, Learning{Open: l.inner.Open, Measure: l.device.measure, Once: true}) // as in learn
	})
}

// learnTimeout bounds how long Close waits for learnOnce.
const learnTimeout = 2 * time.Second

func (l *Link) awaitLearning() {
	if l.learning == nil {
		return
	}
	timer := time.NewTimer(learnTimeout)
	defer timer.Stop()
	select {
	case <-l.learning:
	case <-timer.C:
	}
}

// improve moves to a better path once one works.
func (l *Link) improve(learned <-chan struct{}) {
	wait, measured := l.device.cfg.Pace.Watch, time.Now()
	for pause(l.ctx, wait, learned) && l.awaitQuiet() {
		if time.Since(measured) >= measureEvery {
			l.measureRelays()
			measured = time.Now()
		}
		if better := l.findBetter(); better != nil {
			if l.move(better) {
				_ = l.inner.Transport.Close() // ends Receive with ErrMoved
				return
			}
			_ = better.close() // something was under way: later
		}
		wait = min(2*wait, watchMost)
	}
}

// findBetter dials the paths that are better than this one, best first.
func (l *Link) findBetter() *finish {
	known, err := l.device.cfg.Known()
	if err != nil {
		return nil
	}
	for _, k := range Order(known) {
		if k.Key() == l.path.Key() || !better(k, l.path) {
			continue
		}
		if one := l.device.try(l.ctx, k.Path); one != nil {
			if one.path.Kind.rank() < l.path.Kind.rank() || better(one.path, l.path) {
				return one
			}
			_ = one.close() // slower than it was
		}
	}
	return nil
}

// measureRelays measures the other relays, and this one again.
func (l *Link) measureRelays() {
	known, err := l.device.cfg.Known()
	if err != nil {
		return
	}
	for _, k := range known {
		if !k.Remote() {
			continue
		}
		one := l.device.try(l.ctx, k.Path)
		if one == nil {
			continue
		}
		if k.Key() == l.path.Key() {
			l.path.RoundTrip = one.path.RoundTrip
		}
		_ = one.close() // nothing was sent on it
	}
}
