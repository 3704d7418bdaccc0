package host

import (
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/attention"
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
		Channels:  []push.Channel{&push.Web{Key: key, HTTP: clients}, &push.Ntfy{HTTP: clients}},
		ProjectOf: func(id string) (string, bool) { return w.sessions.ProjectOf(id) },
	})
	return err
}

// accessOf returns what a client may do in a project now, by the list of clients. Guests and
// tokens are not notified.
func (w *wiring) accessOf(clientID, projectID string) ([]api.Grant, bool) {
	if clientID == dispatch.LocalID {
		return api.LocalGrants(), true
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

// forgetNotifications removes what a client had if it is not on the list any more.
func (w *wiring) forgetNotifications(clientID string) {
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return
	}
	if _, known := w.clients.Get(id); !known {
		w.attention.RemoveClient(clientID)
	}
}
