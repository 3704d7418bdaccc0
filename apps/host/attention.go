package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/attention"
	"github.com/scorel/scorel/apps/host/internal/chats"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// loadAttention makes the part that notifies people.
func (w *wiring) loadAttention() error {
	key, err := push.LoadKey(w.paths.PushKey())
	if err != nil {
		return err
	}
	clients := push.NewClients()
	if w.cfg.PushHTTP != nil {
		clients = push.Clients{Public: w.cfg.PushHTTP, Private: w.cfg.PushHTTP}
	}
	w.attention, err = attention.New(attention.Options{
		Logger: w.log, Path: w.paths.Push(), Key: key, Device: w.keys.ID().String(), Looking: w.hub.Looking, Access: w.accessOf,
		Channels:  []push.Channel{&push.Web{Key: key, HTTP: clients}, &push.Ntfy{HTTP: clients}, chatPush{w}},
		ProjectOf: func(id string) (string, bool) { return w.sessions.ProjectOf(id) },
		Burst:     w.cfg.burst,
	})
	return err
}

// accessOf returns what a client may do in a project now, by the lists of clients and chats. Guests and
// tokens are not notified.
func (w *wiring) accessOf(clientID, projectID string) ([]api.Grant, bool) {
	if clientID == dispatch.LocalID {
		return api.LocalGrants(), true
	}
	if access, is := w.chats.Access(clientID); is {
		sees := projectID == "" || slices.Contains(access.Projects, projectID)
		return access.Grants, sees && slices.Contains(access.Grants, api.GrantView)
	}
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return nil, false
	}
	client, known := w.clients.Get(id)
	if !known || client.Expired(time.Now()) || client.SessionID != "" || !slices.Contains(client.Grants, api.GrantView) {
		return nil, false
	}
	if projectID != "" && len(client.Projects) > 0 && !slices.Contains(client.Projects, projectID) {
		return nil, false
	}
	return client.Grants, true
}

// recheck applies what a client may do now to the access that it gave to chats. It removes what the
// client had if it is not on the list any more.
func (w *wiring) recheck(clientID string) {
	if _, listed := w.giver(clientID); !listed {
		w.attention.RemoveClient(clientID)
	}
	w.chats.Recheck()
}

// chatPush notifies chats.
type chatPush struct{ w *wiring }

var _ push.Channel = chatPush{}

// Kind implements push.Channel.
func (chatPush) Kind() api.PushKind { return api.PushChat }

// Check implements push.Channel. The address of a chat is its client id.
func (p chatPush) Check(a push.Address) error {
	if _, is := p.w.chats.Access(a.URL); !is || p.w.chats.Label(a.URL) == "" {
		return api.Errorf(api.KindNotFound, "there is no chat %.64q: `scorel channel list --json` shows the clientId of each chat", a.URL)
	}
	return nil
}

// Server implements push.Channel.
func (p chatPush) Server(a push.Address) string { return p.w.chats.Label(a.URL) }

// Send implements push.Channel. The chat tries again by itself.
func (p chatPush) Send(ctx context.Context, to push.Address, m push.Message) push.Result {
	if p.Check(to) != nil {
		return push.Result{Err: errors.New("the chat was removed"), Ended: true}
	}
	return push.Result{Err: p.w.chats.Notify(ctx, to.URL, chats.Note{
		ID: m.ID, Tag: m.Tag, Session: m.Session, Asks: m.Asks, Title: m.Title, Text: m.Text, Approval: m.Approval, Shown: m.Shown, Question: m.Question,
		Choices: m.Choices, Allow: slices.Contains(m.Actions, "allow"), Deny: slices.Contains(m.Actions, "deny"), Gone: m.Gone, Quiet: m.Quiet,
	})}
}
