package host

import (
	"context"
	"net/http"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/channel/server"
	"github.com/scorel/scorel/apps/host/internal/chats"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// loadChats makes the part that connects chats to sessions.
func (w *wiring) loadChats() (err error) {
	open := w.cfg.openPlatform
	if open == nil {
		open = w.openPlatform
	}
	w.chats, err = chats.New(chats.Options{
		Logger: w.log, Folder: w.paths.Channels(), Secrets: w.modelKeys, Projects: w.projects, Hub: w.hub, Now: time.Now, Open: open, NameOf: w.nameOf, Giver: w.giver, Removed: w.attention.RemoveClient, Step: w.cfg.chatStep,
		Serve: func(ctx context.Context, transport client.Transport, clientID string) error {
			return w.dispatcher.Serve(ctx, transport, clientID, nil)
		},
	})
	return err
}

func (w *wiring) openPlatform(kind string, settings map[string]string, public bool) (channel.Platform, error) {
	found, err := platforms.Find(kind)
	if err != nil {
		return nil, err
	}
	if kind != platforms.MCP {
		var via http.RoundTripper // the usual one
		if public {
			via = publicnet.Transport()
		}
		return found.Open(settings, via)
	}
	if err := found.Check(settings); err != nil {
		return nil, err
	}
	name, project := settings["server"], settings["project"]
	if _, err := w.projects.Find(project); err != nil {
		return nil, err
	}
	return server.New(server.Options{Name: name, Connect: func(ctx context.Context) (server.Link, error) {
		at, err := w.projects.Find(project)
		if err != nil {
			return nil, err
		}
		link, err := w.mcp.Attach(ctx, at.Path, name)
		if err != nil {
			return nil, err // not a nil *mcp.Link
		}
		return link, nil
	}}), nil
}

// giver returns what a client may do now, by the list of clients; false for one that is not on it.
func (w *wiring) giver(clientID string) (dispatch.Access, bool) {
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return dispatch.Access{Grants: api.LocalGrants()}, clientID == dispatch.LocalID
	}
	client, known := w.clients.Get(id)
	return dispatch.Access{Grants: client.Grants, ClientLimits: client.ClientLimits}, known
}

// nameOf returns the name of a client or token for people, or "".
func (w *wiring) nameOf(clientID string) string {
	if clientID == dispatch.LocalID {
		return w.name.Current()
	}
	if token, known := w.tokens.Find(clientID); known {
		return token.Label
	}
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return ""
	}
	known, _ := w.clients.Get(id)
	return known.Label
}
