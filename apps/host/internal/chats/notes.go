package chats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Note is a notification for a chat: that a session needs somebody, which the chat may not follow.
type Note struct {
	ID      string // the same for each attempt; "" is a test
	Tag     string // a later note with the same tag takes the place of this one
	Session string // that needs a person
	Asks    string // the session of the approval or question, perhaps that of a subagent
	Title   string
	Text    string

	Approval    string
	Shown       string // hash of what is shown of the approval
	Question    string
	Choices     []string
	Allow, Deny bool // what the chat may answer

	Gone  bool // nothing waits any more
	Quiet bool // it corrects the note before, without a sound
}

// noteTimeout bounds how long the platform may take until a note counts as not delivered. The
// message is sent all the same once that is possible.
const noteTimeout = 20 * time.Second

var errNotSent = errors.New("the platform has not accepted the message yet: it waits and is sent later")

// Notify sends a note to a chat, and returns how that ended. A session that the chat follows needs
// no note: the chat is shown what waits there.
func (c *Chats) Notify(ctx context.Context, clientID string, n Note) error {
	for _, r := range c.list() {
		if b := r.store.read().byClient(clientID); b != nil {
			if n.ID != "" && b.follow(n.Session) != nil {
				return nil
			}
			return r.note(ctx, clientID, n)
		}
	}
	return errors.New("the chat was removed")
}

// note queues the messages of a note once, and waits until the platform has them.
func (r *running) note(ctx context.Context, clientID string, n Note) error {
	if n.ID == "" {
		n.ID = newID("t")
	}
	limits, name := r.limits(), "note:"+clientID+":"+n.Tag
	if limits == nil {
		return errors.New("the channel is not connected")
	}
	sent := key("note", clientID, n.ID)
	ended := r.await(sent)
	defer r.unawait(sent)
	waits := false
	err := r.store.change(func(f *record) error {
		b := f.byClient(clientID)
		if b == nil {
			return errRemoved
		}
		waits = slices.ContainsFunc(f.Outbox, func(i item) bool { return i.Key == sent })
		if slices.Contains(f.Notes, sent) {
			return nil // another attempt
		}
		f.Notes = append(f.Notes, sent)
		f.Notes = f.Notes[max(0, len(f.Notes)-maxNotes):]
		before := f.messageOf(name) != "" || slices.ContainsFunc(f.Outbox, func(i item) bool { return i.Name == name })
		b.Asked = slices.DeleteFunc(b.Asked, func(a asked) bool { return a.Name == name })
		items := n.items(b, name, *limits, before)
		for i := range items {
			if waits = i == len(items)-1 && !n.Gone; waits {
				items[i].Key = sent
			}
			f.say(items[i])
		}
		return nil
	})
	if err != nil || !waits {
		return err
	}
	wake(r.waiting)
	timer := time.NewTimer(noteTimeout)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errNotSent
	case <-ctx.Done():
		return errNotSent
	}
}

// items are the messages of a note, and what the chat is asked with it. The one of the note before
// is edited, where the platform can, so that its buttons are gone.
func (n Note) items(b *bound, name string, limits channel.Limits, before bool) (items []item) {
	text := []channel.Segment{{Kind: channel.Bold, Text: oneLine(n.Title)}, {Text: "\n" + n.Text}}
	edit := before && limits.Edits
	switch {
	case n.Gone && !edit, n.Quiet && !limits.Edits:
		return nil
	case n.Gone:
		done := channel.Text("Nothing waits any more.")
		return []item{{Chat: b.Chat.ID, Name: name, Text: done, Edit: true, Silent: true}, {Chat: b.Chat.ID, Name: name, Forget: true}}
	case edit && !n.Quiet:
		above := channel.Text("This notification was replaced.")
		items = append(items, item{Chat: b.Chat.ID, Name: name, Text: above, Edit: true, Silent: true}, item{Chat: b.Chat.ID, Name: name, Forget: true})
	}
	buttons := n.ask(b, name)
	if n.Approval != "" && !n.Allow {
		text = append(text, channel.Segment{Text: "\nIt is not shown in full: to allow it, read it in the web UI or with `scorel inbox`."})
	}
	if !limits.Buttons {
		text = append(text, n.inWords(b, buttons)...)
	} else if n.Session != "" {
		buttons = append(buttons, channel.Button{Label: "Continue here", Data: "s:" + n.Session})
	}
	parts := channel.Split(text, limits)
	for at, part := range parts {
		i := item{Chat: b.Chat.ID, Text: part}
		if at == len(parts)-1 {
			i.Name, i.Buttons, i.Edit, i.Silent = name, buttons, n.Quiet && edit, n.Quiet
		}
		items = append(items, i)
	}
	return items
}

// ask records what the chat is asked, and returns the buttons that answer it.
func (n Note) ask(b *bound, name string) (buttons []channel.Button) {
	one := asked{Session: n.Asks, Root: n.Session, Shown: n.Shown, Title: oneLine(n.Title), Name: name, Partial: !n.Allow}
	switch {
	case len(b.Asked) >= maxAsked:
		return nil
	case n.Approval != "" && n.Deny && n.Shown != "":
		one.ID = n.Approval
		if n.Allow {
			buttons = append(buttons, channel.Button{Label: "Allow once", Data: hashData(api.DecisionAllow, n.Shown)})
		}
		buttons = append(buttons, channel.Button{Label: "Deny", Data: hashData(api.DecisionDeny, n.Shown)})
	case n.Question != "" && len(n.Choices) > 0:
		one.ID, one.Question, one.Choices = n.Question, true, n.Choices
		buttons = pending{asked: one}.choices()
		buttons = buttons[:min(len(buttons), channel.MaxButtons-1)]
	default:
		return nil
	}
	b.Asked = append(slices.DeleteFunc(b.Asked, func(a asked) bool { return a.ID == one.ID }), one)
	return buttons
}

// inWords says how to do without buttons what they do.
func (n Note) inWords(b *bound, buttons []channel.Button) []channel.Segment {
	var text []channel.Segment
	if n.Approval != "" {
		text = asked{ID: n.Approval, Shown: n.Shown}.inWords(b.ClientID, buttons)
	}
	if n.Session != "" {
		text = append(text, channel.Segment{Text: "\nContinue here: /sessions " + sessionCode(b.ClientID, n.Session)})
	}
	return text
}

// limits returns those of the platform; nil before it was opened.
func (r *running) limits() *channel.Limits {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.platform == nil {
		return nil
	}
	limits := r.platform.Limits()
	return &limits
}

// await returns a channel that gets how sending a message ends.
func (r *running) await(key string) <-chan error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := make(chan error, 1)
	r.awaited[key] = ended
	return ended
}

func (r *running) unawait(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.awaited, key)
}

// ended tells whoever waits how sending a message ended.
func (r *running) ended(key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits := r.awaited[key]; waits != nil {
		waits <- err
		delete(r.awaited, key)
	}
}
