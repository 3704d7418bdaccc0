package backend

import (
	"sync"

	"github.com/scorel/scorel/packages/acp"
)

// link carries what a program sends to the turn that runs. It implements acp.Client: its methods
// are called by the goroutine that reads, and wait until the turn has taken what they bring, so
// that a fast program waits for the journal.
type link struct {
	closed chan struct{}
	close  func()

	mu    sync.Mutex
	turn  chan<- event // nil between turns
	over  chan struct{}
	early []acp.Update // of the session's state, which came between turns
}

// event is something that the program sent.
type event struct {
	update     *acp.Update
	request    *acp.Request
	permission *acp.PermissionRequest
	elicit     *acp.Elicitation
}

// maxEarly bounds what is kept between turns.
const maxEarly = 64

func newLink() *link {
	l := &link{closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// attach has events go to a turn. It returns what came before, and a function after which no
// event is delivered any more.
func (l *link) attach(events chan<- event) (early []acp.Update, detach func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := make(chan struct{})
	l.turn, l.over = events, over
	early, l.early = l.early, nil
	return early, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.over == over {
			l.turn, l.over = nil, nil
			close(over)
		}
	}
}

// deliver hands over an event; false if no turn takes it.
func (l *link) deliver(e event) bool {
	l.mu.Lock()
	turn, over := l.turn, l.over
	l.mu.Unlock()
	if turn == nil {
		return false
	}
	select {
	case turn <- e:
		return true
	case <-over:
	case <-l.closed:
	}
	return false
}

// Update implements acp.Client. Between turns, and while a session is loaded, only the state of
// the session counts.
func (l *link) Update(_ string, update acp.Update) {
	if l.deliver(event{update: &update}) {
		return
	}
	switch update.Kind {
	case acp.UpdateCommands, acp.UpdateMode, acp.UpdateOptions, acp.UpdateSessionInfo, acp.UpdateNotice:
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.early) < maxEarly {
			l.early = append(l.early, update)
		}
	}
}

// Permission implements acp.Client.
func (l *link) Permission(r *acp.Request, p acp.PermissionRequest) {
	if !l.deliver(event{request: r, permission: &p}) {
		r.Reply(acp.Cancelled(), nil)
	}
}

// Elicit implements acp.Client.
func (l *link) Elicit(r *acp.Request, e acp.Elicitation) {
	if !l.deliver(event{request: r, elicit: &e}) {
		r.Reply(acp.ElicitationResponse{Action: acp.ElicitCancel}, nil)
	}
}

// ElicitationCompleted implements acp.Client. The person who opened the address answers the
// question, so it changes nothing.
func (l *link) ElicitationCompleted(string) {}
