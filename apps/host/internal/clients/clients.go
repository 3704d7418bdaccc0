// Package clients answers the requests about access to the host: paired clients, their
// grants, and tokens.
package clients

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

var none = api.Empty{}

// Relay is the part of the connection to the relay that knows channels and bindings.
type Relay interface {
	CloseClient(id ident.ID, reason wire.Reason)
	Revoke(ctx context.Context, id ident.ID)
}

// Options are the parts that the handlers call. All are required.
type Options struct {
	Logger *slog.Logger
	List   *state.Clients
	Tokens *state.Tokens
	Hub    *dispatch.Hub
	Relay  Relay
	// Projects are those that limits can name.
	Projects *state.Projects
	// Keys sign that a guest may reach this device.
	Keys *ident.Private
	// Exists reports whether there is a session.
	Exists func(sessionID string) bool
	// Changed is called after a client lost its access or its grants changed.
	Changed func(clientID string)
}

// Clients answers the requests about clients and tokens.
type Clients struct {
	log     *slog.Logger
	list    *state.Clients
	tokens  *state.Tokens
	hub     *dispatch.Hub
	relay   Relay
	known   *state.Projects
	keys    *ident.Private
	exists  func(sessionID string) bool
	changed func(clientID string)
	expires chan struct{} // holds one token after a change that Expire looks at

	mu     sync.Mutex
	unbind []ident.ID // guests that were removed, of which Expire notifies the relays
}

// New makes the handlers.
func New(o Options) *Clients {
	return &Clients{
		log: o.Logger, list: o.List, tokens: o.Tokens, hub: o.Hub, relay: o.Relay, known: o.Projects, changed: o.Changed,
		keys: o.Keys, exists: o.Exists, expires: make(chan struct{}, 1),
	}
}

// Endpoints are the requests about clients and tokens.
func (c *Clients) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListClients, c.listClients),
		dispatch.Serve(api.RevokeClient, c.revokeClient),
		dispatch.ServeLater(api.Leave, c.leave),
		dispatch.Serve(api.RenameClient, c.renameClient),
		dispatch.Serve(api.SetGrant, c.setGrant),
		dispatch.Serve(api.SetLimits, c.setLimits),
		dispatch.Serve(api.CreateGuestLink, c.createGuestLink),
		dispatch.Serve(api.CreateToken, c.createToken),
		dispatch.Serve(api.ListTokens, c.listTokens),
		dispatch.Serve(api.RevokeToken, c.revokeToken),
	}
}

// listClients lists the clients that the connection may manage.
func (c *Clients) listClients(_ context.Context, conn *dispatch.Conn, _ api.Empty) (api.ListClientsResponse, error) {
	clients := []api.Client{}
	for _, known := range c.list.List() {
		if reaches(conn, known) {
			clients = append(clients, c.listed(known))
		}
	}
	return api.ListClientsResponse{Clients: clients}, nil
}

func (c *Clients) listed(known state.Client) api.Client {
	return api.Client{
		ID: known.ID, Label: known.Label, Grants: known.Grants, PairedAt: known.PairedAt,
		Online: c.hub.Online(known.ID.String()), LastSeen: known.LastSeen, ClientLimits: known.ClientLimits, SessionID: known.SessionID,
	}
}

func (c *Clients) revokeClient(ctx context.Context, conn *dispatch.Conn, r api.RevokeClientRequest) (api.Empty, error) {
	if _, err := c.find(conn, r.ClientID); err != nil {
		return none, err
	}
	known, err := c.Remove(r.ClientID)
	if err != nil {
		return none, err
	}
	if !known { // someone else was faster
		return none, unknownClient(r.ClientID)
	}
	// The list decides, so the client has no access already. The relay is asked to stop
	// offering the device, and asked again at the next login if it cannot be reached now.
	c.relay.Revoke(ctx, r.ClientID)
	return none, nil
}

// Remove removes a client from the list and ends its connections; false when it was not
// on the list.
func (c *Clients) Remove(id ident.ID) (bool, error) {
	known, err := c.list.Remove(id)
	if err != nil {
		return known, err
	}
	c.relay.CloseClient(id, wire.ReasonNotAuthorized)
	c.hub.EndClient(id.String(), dispatch.ErrClientRemoved)
	c.changed(id.String())
	if known {
		c.log.Info("client removed", "client", id)
		c.hub.Notify(api.ClientsChanged{})
	}
	return known, nil
}

// leave removes the client that asks. It is answered first, so that the client knows; its
// connection and its bindings at the relays end after that.
func (c *Clients) leave(_ context.Context, conn *dispatch.Conn, _ api.Empty, reply func(api.Empty)) error {
	id, err := ident.ParseClientID(conn.ClientID())
	if err != nil {
		return api.Errorf(api.KindBadRequest, "only paired clients can leave: revoke a token, or stop the host, instead")
	}
	if _, err := c.list.Remove(id); err != nil {
		return err
	}
	reply(none)
	conn.Finish(dispatch.ErrClientLeft)
	c.hub.EndClientBut(conn, id.String(), dispatch.ErrClientRemoved)
	c.changed(id.String())
	c.log.Info("client left", "client", id)
	c.hub.Notify(api.ClientsChanged{})
	return nil
}

// renameClient changes the name only: ids, keys and grants decide what a client may do.
func (c *Clients) renameClient(_ context.Context, conn *dispatch.Conn, r api.RenameClientRequest) (response api.RenameClientResponse, err error) {
	label := strings.TrimSpace(r.Label)
	if err := wire.CheckLabel(label); err != nil {
		return response, api.Errorf(api.KindBadRequest, "the %s: use a shorter name without control characters", err)
	}
	if _, err := c.find(conn, r.ClientID); err != nil {
		return response, err
	}
	client, found, changed, err := c.list.Rename(r.ClientID, label)
	switch {
	case err != nil:
		return response, err
	case !found:
		return response, unknownClient(r.ClientID)
	case changed:
		c.log.Info("client renamed", "client", r.ClientID, "by", conn.ClientID())
		c.hub.Notify(api.ClientsChanged{})
	}
	return api.RenameClientResponse{Client: c.listed(client)}, nil
}

// Presence records and reports that a connection began or ended. The hub must know that already.
// It ignores the local client, tokens and chats, which are not listed.
func (c *Clients) Presence(clientID string) {
	if id, err := ident.ParseClientID(clientID); err == nil {
		c.saw(id)
		c.hub.NotifyOthers(clientID, api.ClientsChanged{})
	}
}

// saw records that a client has a connection now, or had one until now. The time is for
// people: if it cannot be saved, the client is served all the same.
func (c *Clients) saw(id ident.ID) {
	if err := c.list.Saw(id, time.Now()); err != nil {
		c.log.Warn("recording when a client was last seen", "client", id, "error", err)
	}
}

// SeenOnline records the clients that have a channel now, so that a host that is killed
// knows about when they were last seen.
func (c *Clients) SeenOnline() {
	for _, known := range c.list.List() {
		if c.hub.Online(known.ID.String()) {
			c.saw(known.ID)
		}
	}
}
