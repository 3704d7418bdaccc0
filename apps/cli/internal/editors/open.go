package editors

import (
	"context"
	"errors"
	"sync"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// open is a session that an editor has open. Its goroutine owns view; the other fields are
// guarded by mu.
type open struct {
	s      *server
	id     string
	cwd    string
	replay bool // send what happened before, too
	ctx    context.Context
	cancel context.CancelFunc
	feed   *feed.Feed
	wake   chan struct{} // holds one token when there is something to take
	loaded chan struct{} // closed after the first state of the session was sent
	ended  chan struct{} // closed when no goroutine of the session runs
	work   sync.WaitGroup
	view   view

	mu      sync.Mutex
	summary api.SessionSummary
	failed  error
	prompts map[string]*prompted // by client key
	turn    *api.Turn
	queue   []session.QueuedPrompt
	// answering has the approvals that the editor was asked, and answered those of
	// which its answer counts, both by approval.
	answering map[string]api.Approval
	answered  map[string]bool
	moved     chan struct{} // closed and replaced when turn or queue were looked at again
}

// prompted is a prompt of this editor whose turn has not ended.
type prompted struct {
	seen      bool // the session has it
	cancelled bool // the editor wants it to end
	done      chan promptEnd
}

type promptEnd struct {
	reason string
	err    error
}

func newOpen(s *server, id, cwd string, replay bool) *open {
	o := &open{
		s: s, id: id, cwd: cwd, replay: replay, wake: make(chan struct{}, 1), loaded: make(chan struct{}), ended: make(chan struct{}),
		prompts: map[string]*prompted{}, moved: make(chan struct{}), answering: map[string]api.Approval{}, answered: map[string]bool{},
	}
	o.view = newView(o)
	o.ctx, o.cancel = context.WithCancel(s.ctx)
	cfg := s.cfg.Feed
	cfg.Notify = func() {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
	o.feed = feed.New(cfg, id)
	return o
}

// run follows the session until it is closed.
func (o *open) run() {
	defer close(o.ended)
	defer o.work.Wait()
	defer func() { // under the lock: nothing begins after it
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cancel()
	}()
	o.work.Go(func() { o.feed.Run(o.ctx) })
	for {
		for _, update := range o.feed.Take() {
			if !o.take(update) {
				return
			}
		}
		select {
		case <-o.wake:
		case <-o.ctx.Done():
			o.fail(context.Cause(o.ctx))
			return
		}
	}
}

// take handles an update; false ends the session here.
func (o *open) take(update feed.Update) bool {
	switch u := update.(type) {
	case feed.Loaded:
		o.load(u.Response)
	case feed.Happened:
		o.happened(u.Event)
	case feed.Failed:
		o.fail(u.Err)
		return false
	}
	return true
}

// load brings the editor to the state of the session after a connection was made.
func (o *open) load(r api.ResyncEventsResponse) {
	first := false
	select {
	case <-o.loaded:
	default:
		first = true
	}
	o.mu.Lock()
	o.summary = r.Session
	o.mu.Unlock()
	switch {
	case r.Mode == api.ResyncStream: // the events follow
	case first && !o.replay:
		o.view.skip(r.Entries)
	case first:
		o.view.entries(o.earlier(r))
	default:
		o.view.entries(r.Entries)
	}
	if r.Mode != api.ResyncStream {
		o.view.live = r.Live.Clone()
		if !first || o.replay {
			o.view.sync()
		} else {
			o.view.skipLive()
		}
		o.turnState()
		o.lostPrompts()
	}
	if first {
		close(o.loaded)
		o.view.commands()
	}
}

// earlier returns the entries of an answer after all that precede them.
func (o *open) earlier(r api.ResyncEventsResponse) []session.Entry {
	all := r.Entries
	for before := r.Before; before > 0 && len(all) < maxReplayed; {
		page, err := do(o.ctx, o.s, api.GetEntries, api.GetEntriesRequest{SessionID: o.id, Before: before})
		if err != nil || len(page.Entries) == 0 {
			break
		}
		all, before = append(page.Entries, all...), page.Before
	}
	return pathOf(all)
}

// maxReplayed bounds the entries that a load sends.
const maxReplayed = 50_000

// pathOf returns the entries on the path to the leaf.
func pathOf(entries []session.Entry) []session.Entry {
	tree := session.NewTree(entries)
	path, _ := tree.PathToHole(tree.Leaf())
	return path
}

func (o *open) happened(event api.EventEnvelope) {
	switch e := event.Event.(type) {
	case api.SessionUpdated:
		if e.Session.ID == o.id {
			o.updated(e.Session)
		}
		return
	case api.SkillsChanged:
		o.view.commands()
		return
	}
	if event.SessionID != o.id {
		return
	}
	if appended, ok := event.Event.(api.EntryAppended); ok {
		o.view.entries([]session.Entry{appended.Entry})
		if o.current().Backend != "" {
			switch backendKind(appended.Entry) {
			case session.BackendCommands:
				o.view.commands()
			case session.BackendOptions:
				o.sendOptions()
			}
		}
	}
	o.view.live.Apply(event.Event)
	o.view.event(event.Event)
	o.view.sync()
	o.turnState()
	if e, ended := event.Event.(api.TurnEnded); ended {
		o.end(e.ClientKey, endOf(e))
	}
}

// updated sends what changed in the description of the session.
func (o *open) updated(summary api.SessionSummary) {
	o.mu.Lock()
	before := o.summary
	o.summary = summary
	o.mu.Unlock()
	if before.Name != summary.Name {
		name := summary.Name
		o.send(acp.Update{Kind: acp.UpdateSessionInfo, Info: &acp.InfoUpdate{Title: &name}})
	}
	if before.Backend != summary.Backend {
		o.view.commands()
	}
	if before.Mode != summary.Mode {
		o.send(acp.Update{Kind: acp.UpdateMode, ModeID: string(summary.Mode)})
	}
	if before.Mode != summary.Mode || before.Model != summary.Model || before.Thinking != summary.Thinking || before.Backend != summary.Backend {
		o.sendOptions()
	}
}

// send sends an update. It waits while the editor does not read.
func (o *open) send(update acp.Update) {
	err := o.s.conn.Notify(o.ctx, acp.MethodUpdate, acp.SessionNotification{SessionID: o.id, Update: update})
	if err != nil && o.ctx.Err() == nil {
		o.s.cfg.Logger.Error("sending an update to the editor", "error", err)
	}
}

func (o *open) current() api.SessionSummary {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.summary
}

func (o *open) changed(change func(*api.SessionSummary)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.summary)
}

func (o *open) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		return errors.New("the session was closed")
	}
	return o.failed
}

// fail ends all prompts with an error.
func (o *open) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	for key, p := range o.prompts {
		delete(o.prompts, key)
		if errors.Is(err, context.Canceled) {
			p.done <- promptEnd{reason: acp.StopCancelled}
		} else {
			p.done <- promptEnd{err: err}
		}
	}
}
