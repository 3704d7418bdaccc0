// Package outage wraps a session provider that may be unreachable. The host starts without it,
// rejects requests for its sessions at once with a clear error, and uses it again as soon as it
// is back.
//
// One goroutine owns the connection: it opens the provider, checks it while it is idle, and
// retries with growing pauses while it cannot be reached. It ends with Close.
package outage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	// idleCheck is how often an available provider is checked.
	idleCheck = 10 * time.Second
	// checkTimeout bounds one check.
	checkTimeout = 15 * time.Second
	// firstRetry and longestRetry bound the pauses between attempts.
	firstRetry   = 250 * time.Millisecond
	longestRetry = 10 * time.Second
)

// Reachable is a provider whose connection can be checked.
type Reachable interface {
	store.Provider
	// Ping returns nil if the provider responds.
	Ping(ctx context.Context) error
}

// State describes whether a provider is available.
type State struct {
	Name   string
	Place  string    // names the database for people, without secrets
	Reason string    // why it is unavailable; "" while it is available
	Since  time.Time // of the reason
}

// Provider implements store.Provider. Its methods return a *store.UnavailableError while the
// wrapped provider cannot be reached.
type Provider struct {
	// Static after New.
	name, place string
	open        func(context.Context) (Reachable, error)
	logger      *slog.Logger
	cancel      context.CancelFunc
	done        chan struct{} // closed when the owner has ended
	first       chan struct{} // closed after the first attempt to open it
	doubt       chan struct{} // holds one: something failed, so check now

	mu    sync.Mutex
	inner Reachable // nil until it was opened
	err   error     // why it is unavailable
	since time.Time
	watch func()
	shown bool // whether the watcher considers it available
}

var (
	_ store.Provider = (*Provider)(nil)
	_ store.Tailer   = (*Provider)(nil)
)

var errFirst = errors.New("the first attempt to connect has not finished yet")

// New starts the owner. open connects to the provider; its context ends with Close.
func New(name, place string, open func(context.Context) (Reachable, error), logger *slog.Logger) *Provider {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{
		name: name, place: place, open: open, logger: logger, cancel: cancel,
		done: make(chan struct{}), first: make(chan struct{}), doubt: make(chan struct{}, 1),
		err: errFirst, since: time.Now(),
	}
	go p.run(ctx)
	return p
}

// Await waits until the first attempt to open the provider has succeeded or failed, or until
// ctx ends.
func (p *Provider) Await(ctx context.Context) {
	select {
	case <-p.first:
	case <-ctx.Done():
	}
}

// Watch makes the owner call fn whenever the provider becomes available or unavailable. seen is
// the state that the caller saw last; fn is called if it has changed since. fn must not call
// Close.
func (p *Provider) Watch(seen State, fn func()) {
	p.mu.Lock()
	p.watch, p.shown = fn, seen.Reason == ""
	p.mu.Unlock()
	p.suspect()
}

// State returns the current state.
func (p *Provider) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{Name: p.name, Place: p.place}
	if p.err != nil {
		s.Reason, s.Since = p.err.Error(), p.since
	}
	return s
}

func (p *Provider) run(ctx context.Context) {
	defer close(p.done)
	began := false
	pause := firstRetry
	for {
		err := p.check(ctx)
		if ctx.Err() != nil {
			return
		}
		p.note(err)
		if !began {
			began = true
			close(p.first)
		}
		if err == nil {
			pause = firstRetry
			p.idle(ctx, idleCheck, p.doubt)
			continue
		}
		p.idle(ctx, pause, nil)
		pause = min(2*pause, longestRetry)
	}
}

// idle waits for a duration, or until a failed call raises a doubt.
func (p *Provider) idle(ctx context.Context, d time.Duration, doubt <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-doubt:
	case <-ctx.Done():
	}
}

// check opens the provider, or pings it.
func (p *Provider) check(ctx context.Context) error {
	p.mu.Lock()
	inner := p.inner
	p.mu.Unlock()
	if inner != nil {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return inner.Ping(ctx)
	}
	inner, err := p.open(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.inner = inner
	p.mu.Unlock()
	return nil
}

// note records the result of a check, and notifies the watcher of a change.
func (p *Provider) note(err error) {
	p.mu.Lock()
	was := p.err
	p.err = err
	if was == nil && err != nil {
		p.since = time.Now()
	}
	var watch func()
	if available := err == nil; p.watch != nil && p.shown != available {
		watch, p.shown = p.watch, available
	}
	p.mu.Unlock()
	switch {
	case err == nil && was != nil:
		p.logger.Info("a session provider is available", "provider", p.name, "place", p.place)
	case err != nil && (was == nil || errors.Is(was, errFirst)):
		p.logger.Error("a session provider is unavailable; it is retried", "provider", p.name, "place", p.place, "error", err)
	}
	if watch != nil {
		watch()
	}
}

// suspect makes the owner check at once.
func (p *Provider) suspect() {
	select {
	case p.doubt <- struct{}{}:
	default:
	}
}

// use returns the provider, or why it is unavailable.
func (p *Provider) use() (Reachable, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, &store.UnavailableError{Provider: p.name, Place: p.place, Cause: p.err}
	}
	return p.inner, nil
}

// doubted makes the owner check a provider that failed with an error that the request did not
// cause.
func (p *Provider) doubted(err error) {
	if err == nil {
		return
	}
	for _, known := range []error{
		store.ErrNotFound, store.ErrExists, store.ErrBadName, store.ErrInUse, store.ErrDamaged, store.ErrFull,
		store.ErrReadOnly, store.ErrClosed, store.ErrBadLine, context.Canceled,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	p.suspect()
}

// with runs f with the wrapped provider.
func with[T any](p *Provider, f func(Reachable) (T, error)) (T, error) {
	inner, err := p.use()
	if err != nil {
		var none T
		return none, err
	}
	result, err := f(inner)
	p.doubted(err)
	return result, err
}

// Create implements store.Provider.
func (p *Provider) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	return with(p, func(inner Reachable) (store.Log, error) { return p.log(inner.Create(ctx, projectID, header, lines...)) })
}

// Open implements store.Provider.
func (p *Provider) Open(ctx context.Context, id string) (store.Log, error) {
	return with(p, func(inner Reachable) (store.Log, error) { return p.log(inner.Open(ctx, id)) })
}

// Read implements store.Provider.
func (p *Provider) Read(ctx context.Context, id string) (*session.File, error) {
	return with(p, func(inner Reachable) (*session.File, error) { return inner.Read(ctx, id) })
}

// Tail implements store.Tailer.
func (p *Provider) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	return with(p, func(inner Reachable) (store.Tail, error) { return store.ReadTail(ctx, inner, id, mark) })
}

// List implements store.Provider. A provider that fails during the listing counts as
// unavailable.
func (p *Provider) List(ctx context.Context) ([]store.Info, error) {
	return with(p, func(inner Reachable) ([]store.Info, error) {
		list, err := inner.List(ctx)
		if err != nil && ctx.Err() == nil {
			err = &store.UnavailableError{Provider: p.name, Place: p.place, Cause: err}
		}
		return list, err
	})
}

// Export implements store.Provider.
func (p *Provider) Export(ctx context.Context, id string) (projectID string, data []byte, err error) {
	data, err = with(p, func(inner Reachable) (data []byte, err error) {
		projectID, data, err = inner.Export(ctx, id)
		return data, err
	})
	return projectID, data, err
}

// Import implements store.Provider.
func (p *Provider) Import(ctx context.Context, projectID string, data []byte) error {
	_, err := with(p, func(inner Reachable) (struct{}, error) { return struct{}{}, inner.Import(ctx, projectID, data) })
	return err
}

// Delete implements store.Provider.
func (p *Provider) Delete(ctx context.Context, id string) error {
	_, err := with(p, func(inner Reachable) (struct{}, error) { return struct{}{}, inner.Delete(ctx, id) })
	return err
}

// Close implements store.Provider. It waits for the owner.
func (p *Provider) Close() error {
	p.cancel()
	<-p.done
	p.mu.Lock()
	inner := p.inner
	p.inner, p.err = nil, store.ErrClosed
	p.mu.Unlock()
	if inner == nil {
		return nil
	}
	if err := inner.Close(); err != nil {
		return fmt.Errorf("session provider %s: %w", p.name, err)
	}
	return nil
}

func (p *Provider) log(inner store.Log, err error) (store.Log, error) {
	if err != nil {
		return nil, err
	}
	return watchedLog{inner, p}, nil
}

// watchedLog reports failed appends.
type watchedLog struct {
	store.Log
	p *Provider
}

func (l watchedLog) Append(ctx context.Context, lines ...json.RawMessage) error {
	err := l.Log.Append(ctx, lines...)
	l.p.doubted(err)
	return err
}
