// Package feed keeps a terminal connected to a host and to one session. It reconnects, resumes
// where it was, and hands what happened to its reader in order: each event once, whatever
// happens to the connection.
package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Config says how to reach the host. Follow, After and Wait may be nil.
type Config struct {
	Dial func(ctx context.Context) (client.Transport, error)
	// Follow has Dial lead to the device that the session was moved to, and returns the name of
	// the device for people.
	Follow func(device string) (name string, err error)
	Lost   func(err error) bool          // whether reconnecting may help after an error
	After  func(err error) time.Duration // how long the other side asked to wait after an error
	// Wait waits before another attempt, at most as long as given; nil waits that long.
	Wait func(ctx context.Context, most time.Duration) error
	// Unattended means that no one can answer the agent here.
	Unattended bool
	// Guest means that the host shows one session and nothing about itself.
	Guest bool
	// Notify is called when there is something to take. It must not block.
	Notify func()
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Feed is a connection to a host that is kept up. Run owns it; the other methods may be
// called from any goroutine.
type Feed struct {
	cfg  Config
	kick chan struct{} // holds one token when Run must look at what is wanted

	mu      sync.Mutex
	out     queue
	client  *client.Client // nil while disconnected
	changed chan struct{}  // closed and replaced when client or failed changes
	failed  error          // no attempt follows

	session string // wanted
	synced  string // session that events are accepted for; "" while a resync is under way
	anchors api.Anchors
	held    []api.EventEnvelope // events that arrived before the answer to a resync
	moved   error               // another device has the session
	deleted *api.EventEnvelope  // session_deleted of the session, until the host has answered whether it was moved
	trail   client.Trail
}

// New returns a feed. sessionID may be "".
func New(cfg Config, sessionID string) *Feed {
	return &Feed{cfg: cfg, session: sessionID, kick: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Take returns what has happened since the last call.
func (f *Feed) Take() []Update {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.take()
}

// Open follows another session from now on; "" follows none.
func (f *Feed) Open(sessionID string) {
	f.mu.Lock()
	f.session, f.synced, f.anchors, f.held, f.moved, f.deleted = sessionID, "", api.Anchors{}, nil, nil, nil
	f.trail.Found()
	f.out.forgetSession()
	f.mu.Unlock()
	f.wake()
}

func (f *Feed) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

func (f *Feed) put(update Update) {
	f.mu.Lock()
	f.out.put(update)
	f.mu.Unlock()
	f.cfg.Notify()
}

// Run keeps the connection until ctx ends or the host refuses this client.
func (f *Feed) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		synced, err := f.connection(ctx)
		f.setClient(nil, nil)
		if ctx.Err() != nil {
			break
		}
		if synced {
			pause = firstPause
		}
		if errors.Is(err, client.ErrMoved) {
			continue // a better path is ready
		}
		if device, moved := client.MovedTo(err); moved {
			f.followTo(device, err)
			continue
		}
		if !errors.Is(err, errBehind) && !errors.Is(err, client.ErrLost) && !f.cfg.Lost(err) {
			f.setClient(nil, err)
			f.put(Failed{Err: err, Connection: true})
			return
		}
		wait := pause
		if errors.Is(err, client.ErrPathLost) {
			wait = 0
		}
		f.pause(ctx, wait, err)
		pause = min(2*pause, longestPause)
	}
	f.setClient(nil, context.Canceled)
}

// pause waits before another attempt. What the other side asked for after an error is not
// shortened.
func (f *Feed) pause(ctx context.Context, wait time.Duration, err error) {
	pause := f.cfg.Wait
	if f.cfg.After != nil {
		if asked := f.cfg.After(err); asked > wait {
			wait, pause = asked, nil
		}
	}
	f.put(Disconnected{Err: err, Next: time.Now().Add(wait)})
	if pause == nil {
		sleep(ctx, wait)
		return
	}
	_ = pause(ctx, wait) // the end of ctx, which Run notices
}

// followTo continues at the device that the session was moved to, or stops following it.
func (f *Feed) followTo(device string, moved error) {
	f.mu.Lock()
	session, err := f.session, f.trail.Add(device)
	f.moved, f.deleted = nil, nil
	f.mu.Unlock()
	name := ""
	switch {
	case err != nil:
	case f.cfg.Follow == nil:
		err = moved
	default:
		name, err = f.cfg.Follow(device)
	}
	if err != nil {
		f.forget(session)
		f.put(Failed{Err: err, SessionID: session})
		return
	}
	f.put(Followed{name})
}

// connection handles one connection until it is lost.
func (f *Feed) connection(ctx context.Context) (synced bool, err error) {
	transport, err := f.cfg.Dial(ctx)
	if err != nil {
		return false, err
	}
	f.stopEvents()
	c := client.New(transport, f.receive)
	defer func() { _ = c.Close() }() // everything that arrived was handed on
	host, err := f.describe(ctx, c)
	if err != nil {
		return false, err
	}
	f.put(Connected{Host: host})
	f.setClient(c, nil)
	following := ""
	for {
		if f.isBehind() {
			return true, errBehind
		}
		if err := f.isMoved(); err != nil {
			return true, err
		}
		if following, err = f.follow(ctx, c, following); err != nil {
			return true, err
		}
		select {
		case <-f.kick:
		case <-c.Done():
			return true, c.Err()
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}

// describe returns the description of the host; an empty one for a guest.
func (f *Feed) describe(ctx context.Context, c *client.Client) (api.HostInfo, error) {
	if f.cfg.Guest {
		return api.HostInfo{}, nil
	}
	response, err := client.Call(ctx, c, api.GetHost, api.Empty{})
	return response.Host, err
}

// follow subscribes to the wanted session, if it is not followed yet or was deleted, and returns it.
func (f *Feed) follow(ctx context.Context, c *client.Client, following string) (string, error) {
	f.mu.Lock()
	wanted, synced, deleted := f.session, f.synced, f.deleted
	f.mu.Unlock()
	if following != "" && following != wanted {
		_, err := client.Call(ctx, c, api.Unsubscribe, api.SessionRequest{SessionID: following})
		if errors.Is(err, client.ErrLost) {
			return following, err
		}
	}
	if wanted == "" || synced == wanted && following == wanted && deleted == nil {
		return wanted, nil
	}
	err := f.resync(ctx, c, wanted)
	if _, moved := client.MovedTo(err); moved {
		return "", err
	}
	if refused := new(api.Error); errors.As(err, &refused) && refused.Kind != api.KindUnavailable {
		f.forget(wanted)
		if deleted != nil {
			f.put(Happened{*deleted})
		} else {
			f.put(Failed{Err: err, SessionID: wanted})
		}
		return "", nil
	}
	if err == nil {
		f.isThere(deleted)
	}
	return wanted, err
}

// isThere notes that the host has the session in spite of an event, which may be nil.
func (f *Feed) isThere(deleted *api.EventEnvelope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deleted == deleted { // otherwise it was deleted after the answer
		f.deleted = nil
	}
}

// forget stops following a session that cannot be followed.
func (f *Feed) forget(sessionID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session == sessionID {
		f.session, f.deleted = "", nil
	}
}

func (f *Feed) resync(ctx context.Context, c *client.Client, sessionID string) error {
	f.mu.Lock()
	anchors := f.anchors
	f.mu.Unlock()
	response, err := client.Call(ctx, c, api.ResyncEvents,
		api.ResyncEventsRequest{SessionID: sessionID, Anchors: anchors, Unattended: f.cfg.Unattended})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session != sessionID {
		f.held = nil
		return nil // another session was opened in the meantime
	}
	events := response.Events
	response.Events = nil
	f.out.put(Loaded{sessionID, response})
	f.synced, f.anchors = sessionID, response.Anchors
	f.trail.Found()
	for _, event := range events {
		f.out.put(Happened{event})
	}
	held := f.held
	f.held = nil
	for _, event := range held {
		f.accept(event)
	}
	f.cfg.Notify()
	return nil
}

// receive gets every event from the reader of the connection, which it must not block.
func (f *Feed) receive(event api.EventEnvelope) {
	f.mu.Lock()
	switch {
	case event.SessionID == "":
		f.host(event)
	case event.SessionID != f.session:
	case f.synced == "":
		if len(f.held) < maxWaiting {
			f.held = append(f.held, event)
		} else {
			f.out.overflow()
		}
	default:
		f.accept(event)
	}
	if f.out.behind {
		f.wake()
	}
	f.mu.Unlock()
	f.cfg.Notify()
}

// host handles an event of the host. f.mu is held.
func (f *Feed) host(event api.EventEnvelope) {
	switch e := event.Event.(type) {
	case api.SessionMoved:
		if e.ID == f.session {
			f.moved = client.MovedError(e)
			f.wake()
		}
	case api.SessionDeleted:
		if e.ID == f.session { // a move ends with this, and the connection may be newer than its first event
			f.deleted = &event
			f.wake()
			return
		}
	}
	f.out.put(Happened{event})
}

// accept hands on an event unless it is known. f.mu is held.
func (f *Feed) accept(event api.EventEnvelope) {
	if event.Seq <= f.anchors.StreamLastSeq {
		return
	}
	f.anchors.StreamLastSeq = event.Seq
	if appended, ok := event.Event.(api.EntryAppended); ok {
		f.anchors.PersistentLastSeq = max(f.anchors.PersistentLastSeq, appended.Entry.Seq)
	}
	f.out.put(Happened{event})
}

// stopEvents prepares for a new connection, on which the session is not followed yet.
func (f *Feed) stopEvents() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced, f.held = "", nil
	if f.out.behind { // what was dropped comes again in full
		f.out.behind, f.anchors = false, api.Anchors{}
	}
}

func (f *Feed) isBehind() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.behind
}

func (f *Feed) isMoved() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moved
}

// leave gives up a connection whose host refused a request because the followed session was
// moved. It reports whether another connection follows.
func (f *Feed) leave(moved error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session == "" {
		return false
	}
	f.moved = moved
	f.wake()
	return true
}

func (f *Feed) setClient(c *client.Client, failed error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.client, f.failed = c, failed
	close(f.changed)
	f.changed = make(chan struct{})
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
