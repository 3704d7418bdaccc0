package chats

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// handling is an update that is being handled. What it changes is stored together with the end
// of its handling, so that a restart repeats all of it or nothing.
type handling struct {
	*running
	u     channel.Update
	talk  *talk // of the chat, once here found it
	said  []item
	edits []func(*record) error
	ended bool // all that follows is stored
}

// say says something in the chat of the update.
func (h *handling) say(text string, buttons ...channel.Button) {
	chatID := ""
	switch {
	case h.u.Message != nil:
		chatID = h.u.Message.Chat.ID
	case h.u.Edited != nil:
		chatID = h.u.Edited.Chat.ID
	case h.u.Press != nil:
		chatID = h.u.Press.Chat.ID
	default:
		return
	}
	parts := channel.Split(channel.ParseMarkdown(text), h.platformLimits())
	for n, part := range parts {
		i := item{Key: key("answer", h.u.ID, strconv.Itoa(len(h.said))), Chat: chatID, Text: part}
		if n == len(parts)-1 {
			i.Buttons = buttons
		}
		h.said = append(h.said, i)
	}
}

func (h *handling) edit(change func(*record) error) { h.edits = append(h.edits, change) }

func (r *running) platformLimits() channel.Limits {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.platform.Limits()
}

// handleOne handles an update and removes it from the file. A failure that may go away is tried
// again; what the host refuses is said in the chat. A press is also tried again while its session
// is unavailable: after a restart of the host it may still be resuming.
func (r *running) handleOne(ctx context.Context, u channel.Update) {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		h := &handling{running: r, u: u}
		err := h.dispatch(ctx)
		if err == nil {
			err = h.commit()
		}
		var refused *api.Error
		switch {
		case ctx.Err() != nil || err == nil || errors.Is(err, errRemoved):
			return
		case errors.As(err, &refused) && (u.Press == nil || refused.Kind != api.KindUnavailable), attempt >= maxTries:
			h = &handling{running: r, u: u}
			text := "This did not work: see the log of the host."
			if refused != nil {
				text = refused.Message
			}
			h.say(text)
			if err = cmp.Or(h.commit(), err); refused == nil {
				r.Logger.Error("handling a message of a chat", "channel", r.store.read().ID, "error", err)
			}
			if !slices.ContainsFunc(r.store.read().Inbox, func(have channel.Update) bool { return have.ID == u.ID }) {
				return
			}
		}
		if !sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// maxTries is how often an update is handled that fails for a reason that may go away.
const maxTries = 5

// inOrder handles the rest of the update in the goroutine of the chat, so that what it says of a
// session follows what the session has said.
func (h *handling) inOrder(ctx context.Context, rest func(context.Context, *client.Client) error) error {
	return h.talk.inOrder(ctx, func(ctx context.Context, c *client.Client) error {
		if err := rest(ctx, c); err != nil {
			return err
		}
		return h.commit()
	})
}

// snapshot returns a session as it is now, and has all sent that it said until then.
func (h *handling) snapshot(ctx context.Context, c *client.Client, id string) (api.GetSnapshotResponse, error) {
	now, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: id})
	if err != nil {
		return now, err
	}
	return now, h.talk.catchUp(ctx, c)
}

// commit stores what follows from the update, and that it was handled, once.
func (h *handling) commit() error {
	if h.ended {
		return nil
	}
	err := h.store.change(func(f *record) error {
		for _, edit := range h.edits {
			if err := edit(f); err != nil {
				return err
			}
		}
		for _, i := range h.said {
			f.say(i)
		}
		f.Inbox = slices.DeleteFunc(f.Inbox, func(have channel.Update) bool { return have.ID == h.u.ID })
		return nil
	})
	wake(h.waiting)
	h.ended = err == nil
	return err
}
