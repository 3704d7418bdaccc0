package chats

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxEvents bounds what waits for the goroutine of a chat. With more, its connection is made
// again and catches up from the log.
const maxEvents = 4096

// talk is a bound chat: its connection, and what it follows.
type talk struct {
	*running
	clientID string

	mu     sync.Mutex
	conn   *client.Client // nil while it is not connected
	ready  chan struct{}  // closed when there is a connection
	events []*api.EventEnvelope
	more   chan struct{} // holds one token while there are events

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
			return nil, errors.New("the chat has no connection to the host")
		}
	}
}

// push hands an event to the goroutine; nil has it follow the sessions of the chat as they are
// now.
func (t *talk) push(e *api.EventEnvelope) {
	t.mu.Lock()
	full := len(t.events) >= maxEvents
	if !full {
		t.events = append(t.events, e)
	}
	conn := t.conn
	t.mu.Unlock()
	if full && conn != nil {
		go func() { _ = conn.Close() }() // the caller may be its reader
	}
	wake(t.more)
}

func (t *talk) take() []*api.EventEnvelope {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.events
	t.events = nil
	return events
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
	near, far := client.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = t.Serve(ctx, far, t.clientID) // the client sees that it ended
		_ = far.Close()
	})
	c := client.New(near, func(e api.EventEnvelope) { t.push(&e) })
	defer func() {
		t.setConn(nil)
		cancel()
		_ = c.Close()
		serving.Wait()
		t.take()
	}()
	t.live = map[string]*live{}
	if err := t.followAll(ctx, c); err != nil {
		return err
	}
	t.setConn(c)
	for {
		select {
		case <-t.more:
			for _, e := range t.take() {
				if err := t.event(ctx, c, e); err != nil {
					return err
				}
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
func (t *talk) event(ctx context.Context, c *client.Client, e *api.EventEnvelope) error {
	if e == nil {
		return t.followAll(ctx, c)
	}
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

func (t *talk) answered(e api.QuestionAnswered) string {
	switch e.Outcome {
	case api.OutcomeAnswered:
		by := ""
		if name := t.name(e.AnsweredBy); name != "" {
			by = " by " + name
		}
		return "Answered" + by + ": " + channel.Cut(e.Answer, 200)
	case api.OutcomeSkipped:
		return "The agent decides."
	case api.OutcomeCancelled:
		return withdrawn
	}
	return "Not answered in time."
}

// liveName is the name of the message that is being written in a session.
func (t *talk) liveName(session string) string { return "live:" + t.clientID + ":" + session }

// patience is how long an answer is written before its beginning is shown.
const patience = time.Second

// preview shows the beginning of an answer while it is written, where messages can be edited.
func (t *talk) preview(sessionID string, l *live) error {
	b := t.bound()
	if b == nil || b.Session != sessionID || !t.platformLimits().Edits {
		return nil
	}
	text := ""
	for _, block := range l.Partial {
		if block.Type == session.BlockText {
			text += block.Text
		}
	}
	now := t.Now()
	switch {
	case text == "":
		l.began = now
		return nil
	case now.Sub(l.began) < patience:
		t.again.Reset(patience)
		return nil
	}
	name := t.liveName(sessionID)
	stored := t.store.read()
	if stored.messageOf(name) == "" {
		if slices.ContainsFunc(stored.Outbox, func(i item) bool { return i.Name == name }) {
			return nil
		}
		return t.change(func(f *record, b *bound) {
			f.say(item{Chat: b.Chat.ID, Text: t.firstPart(text), Name: name, Silent: true})
		})
	}
	t.running.mu.Lock()
	t.previews[b.Chat.ID] = preview{name, text}
	t.running.mu.Unlock()
	wake(t.waiting)
	return nil
}

func (t *talk) firstPart(text string) []channel.Segment {
	if parts := channel.Split(channel.ParseMarkdown(text), t.platformLimits()); len(parts) > 0 {
		return parts[0]
	}
	return channel.Text("…")
}

// entry sends what an entry of the log says to people. Whatever it adds is stored together with
// its position, so that it is sent once.
func (t *talk) entry(sessionID string, l *live, e session.Entry) error {
	if record, ok := approvalOf(e); ok && record.Decision != "" { // after a restart, no event says it
		l.decided[record.ApprovalID] = t.decided(api.Decision(record.Decision), record.DecidedBy, record.Released)
	}
	if record, ok := questionOf(e); ok && record.Outcome != "" {
		l.decided[record.QuestionID] = t.answered(api.QuestionAnswered{Outcome: api.QuestionOutcome(record.Outcome), Answer: record.Answer, AnsweredBy: record.AnsweredBy})
	}
	if e.Seq != 0 && e.Seq <= l.seq {
		return nil
	}
	if file := fileOf(e); file != nil {
		return t.sendFile(sessionID, l, e, *file)
	}
	text := said(e)
	if text == "" {
		l.seq = max(l.seq, e.Seq)
		return nil
	}
	limits, name := t.platformLimits(), t.liveName(sessionID)
	parts := channel.Split(channel.ParseMarkdown(text), limits)
	err := t.change(func(f *record, b *bound) {
		if follow := b.follow(sessionID); follow != nil {
			follow.Seq = e.Seq
		}
		first := item{Chat: b.Chat.ID, Key: key("entry", t.clientID, sessionID, e.ID, "0")}
		i := slices.IndexFunc(f.Outbox, func(i item) bool { return i.Name == name })
		if i >= 0 || f.messageOf(name) != "" {
			first.Name, first.Edit = name, true
		}
		for n, part := range parts {
			one := item{Chat: b.Chat.ID, Key: key("entry", t.clientID, sessionID, e.ID, string(rune('0'+n))), Text: part}
			if n == 0 {
				one.Name, one.Edit = first.Name, first.Edit
			}
			f.say(one)
		}
		if first.Edit {
			f.say(item{Chat: b.Chat.ID, Name: name, Forget: true})
		}
	})
	if err != nil {
		return err
	}
	l.seq, l.began = max(l.seq, e.Seq), time.Time{}
	t.running.mu.Lock()
	if b := t.bound(); b != nil && t.previews[b.Chat.ID].name == name {
		delete(t.previews, b.Chat.ID)
	}
	t.running.mu.Unlock()
	return nil
}
