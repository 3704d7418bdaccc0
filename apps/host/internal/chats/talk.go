package chats

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// talk is a bound chat: its connection, and what it follows.
type talk struct {
	*running
	clientID string

	mu    sync.Mutex
	conn  *client.Client     // nil while it is not connected
	end   context.CancelFunc // ends the connection; nil before the first
	ready chan struct{}      // closed when there is a connection
	steps []step
	more  chan struct{} // holds one token while there are steps

	// Owned by run.
	live  map[string]*live // by session
	again *time.Timer      // ends the patience with an answer that is being written
}

// live is the state of a session that the chat follows.
type live struct {
	api.Live
	seq     uint64            // of the last entry that was handled
	decided map[string]string // how approvals ended, by id
	began   time.Time         // of the message that is being written
}

func newTalk(r *running, clientID string) *talk {
	return &talk{running: r, clientID: clientID, ready: make(chan struct{}), more: make(chan struct{}, 1), again: time.NewTimer(time.Hour)}
}

// client waits for the connection.
func (t *talk) client(ctx context.Context) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		t.mu.Lock()
		conn, ready := t.conn, t.ready
		t.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, errNoConnection
		}
	}
}

// run keeps the chat connected until ctx ends.
func (t *talk) run(ctx context.Context) {
	defer t.again.Stop()
	for {
		err := t.connected(ctx)
		if ctx.Err() != nil {
			return
		}
		t.Logger.Debug("the connection of a chat ended", "client", t.clientID, "error", err)
		if !sleep(ctx, firstWait) {
			return
		}
	}
}

// connected connects and follows the sessions until the connection ends.
func (t *talk) connected(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	t.end = cancel
	t.mu.Unlock()
	near, far := client.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = t.Serve(ctx, far, t.clientID) // the client sees that it ended
		_ = far.Close()
	})
	c := client.New(near, func(e api.EventEnvelope) { t.push(step{event: &e}) })
	defer func() {
		t.setConn(nil)
		cancel()
		_ = c.Close()
		serving.Wait()
		t.refuse()
	}()
	t.live = map[string]*live{}
	if err := t.followAll(ctx, c); err != nil {
		return err
	}
	t.setConn(c)
	for {
		select {
		case <-t.more:
			if err := t.catchUp(ctx, c); err != nil {
				return err
			}
		case <-t.again.C:
			if err := t.followAll(ctx, c); err != nil {
				return err
			}
			for id, l := range t.live {
				if err := t.preview(id, l); err != nil {
					return err
				}
			}
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *talk) setConn(c *client.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn = c
	if c != nil {
		close(t.ready)
		return
	}
	select {
	case <-t.ready:
		t.ready = make(chan struct{})
	default:
	}
}

func (t *talk) bound() *bound { return t.store.read().byClient(t.clientID) }

// followAll follows the sessions of the chat, and no others.
func (t *talk) followAll(ctx context.Context, c *client.Client) error {
	b := t.bound()
	if b == nil {
		return errRemoved
	}
	for id := range t.live {
		if b.follow(id) == nil {
			delete(t.live, id)
			if _, err := client.Call(ctx, c, api.Unsubscribe, api.SessionRequest{SessionID: id}); err != nil {
				return err
			}
		}
	}
	for _, f := range b.Follows {
		if t.live[f.Session] != nil {
			continue
		}
		if err := t.resync(ctx, c, f); err != nil {
			return err
		}
	}
	return nil
}

// resync follows a session from where the chat was sent it.
func (t *talk) resync(ctx context.Context, c *client.Client, f follow) error {
	r, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: f.Session})
	var refused *api.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == api.KindNotFound || refused.Kind == api.KindMoved): // it is gone
		t.Logger.Info("a chat no longer follows a session", "client", t.clientID, "session", f.Session, "error", err)
		return t.change(func(_ *record, b *bound) { b.forget(f.Session) })
	case errors.As(err, &refused): // for a while, as while its database is down
		t.Logger.Debug("a chat waits for a session", "client", t.clientID, "session", f.Session, "error", err)
		wait := longestWait // as after the access of the chat has expired
		if refused.Kind == api.KindUnavailable {
			wait = firstWait
		}
		t.again.Reset(wait)
		return nil
	case err != nil:
		return err
	}
	entries := r.Entries
	if r.Before > f.Seq+1 {
		earlier, err := client.Earlier(ctx, c, f.Session, r.Before, f.Seq)
		if err != nil {
			return err
		}
		entries = append(earlier, entries...)
	}
	l := &live{Live: r.Live, seq: f.Seq, decided: map[string]string{}}
	t.live[f.Session] = l
	for _, e := range entries {
		if err := t.entry(f.Session, l, e); err != nil {
			return err
		}
	}
	return t.ask(f.Session, l)
}

// change changes what the file says of the chat, and has what waits sent.
func (t *talk) change(edit func(*record, *bound)) error {
	err := t.store.change(func(f *record) error {
		b := f.byClient(t.clientID)
		if b == nil {
			return errRemoved
		}
		edit(f, b)
		return nil
	})
	wake(t.waiting)
	return err
}

// event handles an event of the host.
func (t *talk) event(e api.EventEnvelope) error {
	if deleted, ok := e.Event.(api.SessionDeleted); ok && t.live[deleted.ID] != nil {
		delete(t.live, deleted.ID)
		return t.change(func(_ *record, b *bound) { b.forget(deleted.ID) })
	}
	l := t.live[e.SessionID]
	if l == nil {
		return nil
	}
	l.Apply(e.Event)
	switch e := e.Event.(type) {
	case api.ApprovalResolved:
		l.decided[e.ApprovalID] = t.decided(e.Decision, e.DecidedBy, e.Released)
	case api.QuestionAnswered:
		l.decided[e.QuestionID] = t.answered(e)
	case api.SubagentUpdated:
		for _, d := range e.Child.Decided {
			l.decided[d.ApprovalID] = t.decided(d.Decision, d.DecidedBy, d.Released)
		}
	}
	switch event := e.Event.(type) {
	case api.EntryAppended:
		return t.entry(e.SessionID, l, event.Entry)
	case api.MessageStarted, api.BlockStarted, api.BlockDelta:
		return t.preview(e.SessionID, l)
	case api.ApprovalRequested, api.ApprovalResolved, api.QuestionAsked, api.QuestionAnswered, api.SubagentStarted, api.SubagentUpdated, api.SubagentEnded, api.TurnEnded:
		return t.ask(e.SessionID, l)
	}
	return nil
}
