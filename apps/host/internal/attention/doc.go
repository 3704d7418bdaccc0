// Package attention decides who is notified of what needs a person, and when.
//
// No one is notified of a session while a person who can answer is viewing it. The rest is notified on each address
// that a client added, if the client still sees the session, wants to be notified of it, and its
// quiet hours are over. What happens in a session within a moment is one notification, and it is
// replaced or withdrawn when something else waits there, or nothing.
//
// Deliveries are stored before they are sent, so that a restart loses none. One that a restart
// repeats replaces the earlier one on the device.
package attention

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
)

const (
	// burst is Options.Burst if it is not set.
	burst = 2 * time.Second
	// leaving is how long a person may look away before they are notified.
	leaving = 5 * time.Second
	// maxInputs bounds what waits for Run.
	maxInputs = 4096
)

// Options are the parts that the policy works with. All but Burst are required.
type Options struct {
	Logger *slog.Logger
	// Path is the file with subscriptions, settings and deliveries.
	Path     string
	Key      *push.Key
	Channels []push.Channel
	// Device is the id of the host.
	Device string
	// Looking reports whether a person with a grant sees one of some sessions now.
	Looking func(grant api.Grant, sessionIDs ...string) bool
	// Access returns what a client may do in a project now; false if it may not see it. "" is
	// no project.
	Access func(clientID, projectID string) ([]api.Grant, bool)
	// ProjectOf returns the project of a session.
	ProjectOf func(sessionID string) (projectID string, exists bool)
	// Burst is how long things of one session are collected before anyone is notified; 0 is two
	// seconds.
	Burst time.Duration
}

// Attention is the policy. Run owns its rooms and deliveries that are being sent; the store is
// shared with requests.
type Attention struct {
	Options
	store    *store
	channels map[api.PushKind]push.Channel
	wake     chan struct{} // holds one token while there are inputs

	mu     sync.Mutex
	inputs []func(*loop)
	tests  map[string]time.Time // of the last test of a subscription
}

var _ sessions.Attention = (*Attention)(nil)

// New loads what is stored. Nothing is sent before Run.
func New(o Options) (*Attention, error) {
	stored, err := loadStore(o.Path)
	if err != nil {
		return nil, err
	}
	o.Burst = cmp.Or(o.Burst, burst)
	a := &Attention{Options: o, store: stored, channels: map[api.PushKind]push.Channel{}, wake: make(chan struct{}, 1), tests: map[string]time.Time{}}
	for _, channel := range o.Channels {
		a.channels[channel.Kind()] = channel
	}
	return a, nil
}

// Needs implements sessions.Attention. Whoever sees how a turn ends is not notified of it, even
// if they leave at once.
func (a *Attention) Needs(n sessions.Notice) {
	if !n.Kind.Waits() && a.Looking(api.GrantPrompt, n.RootID) {
		return
	}
	a.input(func(l *loop) { l.needs(n) })
}

// Done implements sessions.Attention.
func (a *Attention) Done(rootID, id string) { a.input(func(l *loop) { l.done(rootID, id) }) }

// Looked has the policy check again who looks, because someone may have stopped.
func (a *Attention) Looked() { a.input((*loop).looked) }

// RemoveClient removes what a client had: its subscriptions, settings and deliveries.
func (a *Attention) RemoveClient(clientID string) {
	if err := a.store.removeClient(clientID); err != nil {
		a.Logger.Error("removing the subscriptions of a client", "client", clientID, "error", err)
	}
}

// RemoveSession forgets a deleted session, and takes back what its notifications still ask for.
func (a *Attention) RemoveSession(sessionID string) {
	if err := a.store.removeSession(sessionID); err != nil {
		a.Logger.Error("removing the settings of a session", "session", sessionID, "error", err)
	}
	a.input(func(l *loop) { l.forget(sessionID) })
}

func (a *Attention) input(do func(*loop)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.inputs) >= maxInputs {
		a.Logger.Error("too much happens at once to notify people of it")
		return
	}
	a.inputs = append(a.inputs, do)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Attention) takeInputs() []func(*loop) {
	a.mu.Lock()
	defer a.mu.Unlock()
	inputs := a.inputs
	a.inputs = nil
	return inputs
}

// Run notifies people until ctx ends, and returns when nothing is being sent any more.
func (a *Attention) Run(ctx context.Context) {
	l := &loop{Attention: a, rooms: map[string]*room{}, sending: map[string]bool{}, results: make(chan sent, maxSending)}
	defer l.running.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			for _, do := range a.takeInputs() {
				do(l)
			}
		case s := <-l.results:
			l.sent(s, time.Now())
		case <-timer.C:
		}
		l.storeLate(time.Now())
		l.evaluate(time.Now())
		l.send(ctx, time.Now())
		if at := l.next(); at.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(max(time.Until(at), 0))
		}
	}
}
