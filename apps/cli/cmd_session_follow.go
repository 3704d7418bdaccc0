package cli

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// followSession prints a session and what happens in it, until the person interrupts it or the
// session is deleted. A lost connection is restored; a first one that fails ends it.
func followSession(ctx context.Context, to *target, id string, asJSON bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wake := make(chan struct{}, 1)
	f := feed.New(feed.Config{
		Dial: to.keep, Follow: to.followMove, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: to.wait, Unattended: true, Guest: to.guest != nil,
		Notify: func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	}, id)
	running := startPart(ctx, func(ctx context.Context) error { f.Run(ctx); return nil })
	defer func() { _ = running.stop() }() // it returns no error
	v := &followView{con: to.con, id: id, asJSON: asJSON, path: to.pathName, feed: f, text: &textView{
		notices: notices{stderr: to.con.stderr}, stdout: to.con.stdout, steered: terminal.IsTerminal(to.con.stdout), steps: newProgress(to.con.stderr, terminal.IsTerminal(to.con.stderr)),
	}}
	for {
		select {
		case <-wake:
		case <-ctx.Done():
			return nil
		}
		for _, update := range f.Take() {
			if err := v.take(ctx, update); err != nil {
				return err
			}
			if v.deleted {
				return nil
			}
		}
	}
}

// followView prints updates of a session.
type followView struct {
	con     console
	id      string
	asJSON  bool
	path    func() string // names the path in use
	begun   bool          // it was connected
	lost    bool          // the connection was lost, and that was printed
	feed    *feed.Feed
	text    *textView
	blocks  []session.BlockType // of the message that arrives
	shown   bool                // a part of its text was printed
	seen    uint64              // seq of the last printed entry
	deleted bool
}

func (v *followView) take(ctx context.Context, update feed.Update) error {
	switch u := update.(type) {
	case feed.Failed:
		return u.Err
	case feed.Connected:
		if v.lost {
			v.text.Notice("connected again (" + v.path() + ")")
		}
		v.begun, v.lost = true, false
	case feed.Disconnected:
		if !v.begun { // as for every command: a host that was never reached may not come
			return u.Err
		}
		v.lost = true
		v.text.Notice("connection lost, trying again (" + sentence(u.Err) + ")")
	case feed.Followed:
		v.text.Notice(continuing(u.Name))
	case feed.Loaded:
		return v.load(ctx, u.Response)
	case feed.Happened:
		if deleted, ok := u.Event.Event.(api.SessionDeleted); ok && deleted.ID == v.id {
			v.deleted = true
		}
		if u.Event.SessionID == v.id {
			return v.event(u.Event)
		}
	}
	return v.text.failed
}

// load prints what is new in the log: all of it at first.
func (v *followView) load(ctx context.Context, r api.ResyncEventsResponse) error {
	if r.Mode == api.ResyncStream {
		return nil
	}
	if r.Before > v.seen {
		earlier, err := feed.With(ctx, v.feed, func(c *client.Client) ([]session.Entry, error) {
			return client.Earlier(ctx, c, v.id, r.Before, v.seen)
		})
		if err != nil {
			return err
		}
		r.Entries = append(earlier, r.Entries...)
	}
	if v.shown {
		v.text.EndMessage(true)
	}
	v.blocks, v.shown = nil, false
	if v.seen == 0 {
		return v.first(r)
	}
	for _, entry := range r.Entries {
		if err := v.event(api.EventEnvelope{SessionID: v.id, Seq: entry.Seq, Event: api.EntryAppended{Entry: entry}}); err != nil {
			return err
		}
	}
	return v.partial(r.Live.Partial)
}

func (v *followView) first(r api.ResyncEventsResponse) error {
	for _, entry := range r.Entries {
		v.seen = max(v.seen, entry.Seq)
	}
	if v.asJSON {
		return errors.Join(printJSON(v.con.stdout, r.Session), printEach(v.con.stdout, r.Entries))
	}
	return errors.Join(printTranscript(v.con.stdout, r), v.partial(r.Live.Partial))
}

// partial prints what had arrived of a message.
func (v *followView) partial(blocks []api.PartialBlock) error {
	for i, block := range blocks {
		v.blocks = append(v.blocks, block.Type)
		v.delta(i, block.Text)
	}
	return v.text.failed
}

func (v *followView) delta(index int, text string) {
	if !v.asJSON && index >= 0 && index < len(v.blocks) && v.blocks[index] == session.BlockText {
		v.text.Text(text)
		v.shown = true
	}
}

func (v *followView) event(event api.EventEnvelope) error {
	if appended, ok := event.Event.(api.EntryAppended); ok {
		if appended.Entry.Seq <= v.seen {
			return nil
		}
		v.seen = appended.Entry.Seq
	}
	if v.asJSON {
		return printJSON(v.con.stdout, event)
	}
	v.text.Event(event)
	switch e := event.Event.(type) {
	case api.MessageReset:
		if v.shown {
			v.text.EndMessage(true)
		}
		v.blocks, v.shown = nil, false
	case api.BlockStarted:
		v.blocks = append(v.blocks, e.Block)
	case api.BlockDelta:
		v.delta(e.Index, e.Delta)
	case api.ApprovalRequested:
		v.text.Notice("waiting for an approval: " + e.Approval.Title)
	case api.QuestionAsked:
		v.text.Notice("the agent has a question: " + e.Question.Question)
	case api.EntryAppended:
		v.entry(e.Entry)
	}
	return v.text.failed
}

// entry prints a message that was not streamed, and the calls of one that was.
func (v *followView) entry(entry session.Entry) {
	message, ok := entry.AsMessage()
	if !ok {
		return
	}
	switch message.Message.Role {
	case session.RoleAssistant:
		if !v.shown {
			v.text.Text(message.Message.Content.Plain())
		}
		v.text.EndMessage(false)
		v.blocks, v.shown = nil, false
		for _, call := range message.Message.Content.ToolCalls() {
			v.text.ToolCall(call)
		}
	case session.RoleToolResult:
		v.text.ToolResult(message.Message)
	case session.RoleUser:
		v.text.Text("\n> " + message.Message.Content.Plain() + "\n\n")
	}
}
