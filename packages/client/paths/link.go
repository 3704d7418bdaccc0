package paths

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
)

// Link is a transport over the path that won.
type Link struct {
	// Static after link.
	device *Device
	path   Known
	inner  *Channel
	others bool // another path is known
	since  time.Time
	cancel context.CancelFunc
	ctx    context.Context
	tasks  sync.WaitGroup
	// learning is closed when learnOnce has ended; nil if it does not run.
	learning chan struct{}

	mu       sync.Mutex
	waiting  int // requests without an answer
	lastUsed time.Time
	moved    bool
	lost     bool
}

func (d *Device) link(won *finish, known int) *Link {
	l := &Link{device: d, path: won.path, inner: won.channel, others: known > 1, since: time.Now(), lastUsed: time.Now()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	used := won.path.Path
	d.mu.Lock()
	d.used = &used
	d.mu.Unlock()
	return l
}

// Path returns the path of the link.
func (l *Link) Path() Path { return l.path.Path }

// Send implements client.Transport.
func (l *Link) Send(ctx context.Context, message []byte) error {
	if l.touch() {
		return client.ErrMoved
	}
	return l.ended(ctx, l.inner.Transport.Send(ctx, message))
}

// Receive implements client.Transport.
func (l *Link) Receive(ctx context.Context) ([]byte, error) {
	message, err := l.inner.Transport.Receive(ctx)
	moved := l.touch()
	if err != nil && moved {
		return nil, client.ErrMoved
	}
	return message, l.ended(ctx, err)
}

// Waiting implements client.Meter.
func (l *Link) Waiting(requests int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting, l.lastUsed = requests, time.Now()
}

// touch notes that the link is in use; it reports whether the link has moved.
func (l *Link) touch() (moved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastUsed = time.Now()
	return l.moved
}

// steady is how long a link must have lasted for another to follow without a pause.
const steady = time.Second

// ended describes the end of a path. If others are known, it is always worth another attempt:
// what ended the path may not have been the device.
func (l *Link) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || l.ctx.Err() != nil {
		return err
	}
	l.mu.Lock()
	first := !l.lost
	l.lost = true
	l.mu.Unlock()
	if first {
		l.device.failed(l.path.Path)
	}
	if !l.others {
		return err
	}
	// Only the text of err is kept: its type says why the path ended, not whether the device
	// can be reached.
	failed := fmt.Errorf("%w (%s): %v", client.ErrPathLost, l.path.Name(), err)
	if time.Since(l.since) < l.device.cfg.Pace.Steady {
		return errors.New(failed.Error())
	}
	return failed
}

// Close implements client.Transport.
func (l *Link) Close() error {
	l.awaitLearning()
	l.cancel()
	err := l.inner.Transport.Close()
	l.tasks.Wait()
	return err
}

// move ends the link in favor of another path, if nothing is under way.
func (l *Link) move(better *finish) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved || l.lost || l.ctx.Err() != nil || l.rest() > 0 || !l.device.handOver(better) {
		return false
	}
	l.moved = true
	return true
}

// quietFor is how long nothing must have been sent or received.
const quietFor = 2 * time.Second

// rest returns how long the link is not quiet yet; 0 if it is. l.mu must be held.
func (l *Link) rest() time.Duration {
	if l.waiting > 0 {
		return l.device.cfg.Pace.Quiet
	}
	return max(0, l.device.cfg.Pace.Quiet-time.Since(l.lastUsed))
}

// awaitQuiet waits for a moment when nothing is under way.
func (l *Link) awaitQuiet() bool {
	for {
		l.mu.Lock()
		rest := l.rest()
		l.mu.Unlock()
		if rest == 0 {
			return l.ctx.Err() == nil
		}
		if !pause(l.ctx, rest, nil) {
			return false
		}
	}
}

// pause waits, less if wake has something; it returns false if ctx ended.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
