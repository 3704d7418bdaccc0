package clients

import (
	"context"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// setGrant gives a client a grant or revokes it, in its open connections too.
func (c *Clients) setGrant(_ context.Context, conn *dispatch.Conn, r api.SetGrantRequest) (response api.SetGrantResponse, err error) {
	client, found, changed, err := c.list.SetGrant(r.ClientID, r.Grant, r.Given, func(target state.Client) error {
		return checkGrant(conn, target, r)
	})
	switch {
	case err != nil:
		return response, err
	case !found:
		return response, unknownClient(r.ClientID)
	case changed:
		c.log.Info("grant changed", "client", r.ClientID, "grant", r.Grant, "given", r.Given, "by", conn.ClientID())
		c.Refresh(r.ClientID)
	}
	return api.SetGrantResponse{Client: c.listed(client)}, nil
}

// checkGrant returns an error if a connection may not give a client a grant or revoke it.
func checkGrant(conn *dispatch.Conn, target state.Client, r api.SetGrantRequest) error {
	if err := checkChangeable(conn, target); err != nil {
		return err
	}
	switch {
	case r.Grant == api.GrantView:
		return api.Errorf(api.KindBadRequest, "every client has the grant %q: revoke the client to end its access", r.Grant)
	case !slices.Contains(api.ClientGrants(), r.Grant):
		return api.Errorf(api.KindBadRequest, "the grant %.40q cannot be given or revoked: use one of %s", r.Grant, api.Names(api.ClientGrants()))
	case !r.Given:
		return nil
	}
	if err := mayGive(conn, target, r.Grant); err != nil {
		return err
	}
	if r.Grant == api.GrantShell && len(target.Projects) > 0 {
		return errShellLimited()
	}
	return nil
}

// setLimits replaces the limits of a client, in its open connections too.
func (c *Clients) setLimits(_ context.Context, conn *dispatch.Conn, r api.SetLimitsRequest) (response api.SetLimitsResponse, err error) {
	client, found, changed, err := c.list.SetLimits(r.ClientID, func(target state.Client) (api.ClientLimits, error) {
		if err := checkChangeable(conn, target); err != nil {
			return r.ClientLimits, err
		}
		limits, err := c.checkLimits(r.ClientLimits, target)
		if err != nil {
			return limits, err
		}
		return limits, maySetLimits(conn, target, limits)
	})
	switch {
	case err != nil:
		return response, err
	case !found:
		return response, unknownClient(r.ClientID)
	case changed:
		c.log.Info("limits changed", "client", r.ClientID, "projects", client.Projects, "expiresAt", client.ExpiresAt, "by", conn.ClientID())
		c.Refresh(r.ClientID)
	}
	return api.SetLimitsResponse{Client: c.listed(client)}, nil
}

// Refresh applies what the list says of a client now to its connections and terminals.
func (c *Clients) Refresh(id ident.ID) {
	c.hub.RefreshAccess(id.String())
	c.changed(id.String())
	c.wake()
	c.hub.Notify(api.ClientsChanged{})
}

// wake has Expire look at the list again.
func (c *Clients) wake() {
	select {
	case c.expires <- struct{}{}:
	default:
	}
}

// checkLimits checks limits that someone chose for a client, and returns them in the form in
// which they are kept. A project that the client is limited to already may have been removed.
func (c *Clients) checkLimits(limits api.ClientLimits, client state.Client) (api.ClientLimits, error) {
	var projects []string
	for _, id := range limits.Projects {
		if _, err := c.known.Find(id); err != nil && !slices.Contains(client.Projects, id) {
			return limits, err
		}
		if !slices.Contains(projects, id) {
			projects = append(projects, id)
		}
	}
	limits.Projects = projects
	switch {
	case limits.ExpiresAt != 0 && limits.ExpiresAt <= time.Now().UnixMilli():
		return limits, api.Errorf(api.KindBadRequest, "the access would have expired already: choose a later time, or revoke the client")
	case len(projects) > 0 && slices.Contains(client.Grants, api.GrantShell):
		return limits, errShellLimited()
	}
	return limits, nil
}

// checkClientGrants checks grants that someone chose for a new client, and returns them with
// GrantView. None means those of pairing.
func checkClientGrants(grants []api.Grant) ([]api.Grant, error) {
	if len(grants) == 0 {
		return api.AllGrants(), nil
	}
	chosen := []api.Grant{api.GrantView}
	for _, grant := range grants {
		if !slices.Contains(api.ClientGrants(), grant) {
			return nil, api.Errorf(api.KindBadRequest, "a client cannot have the grant %.40q: choose from %q", grant, api.ClientGrants())
		}
		if !slices.Contains(chosen, grant) {
			chosen = append(chosen, grant)
		}
	}
	return chosen, nil
}

// Choose checks the grants and limits that someone chose for a new client, and returns them
// in the form in which they are kept.
func (c *Clients) Choose(grants []api.Grant, limits api.ClientLimits) ([]api.Grant, api.ClientLimits, error) {
	grants, err := checkClientGrants(grants)
	if err != nil {
		return nil, limits, err
	}
	limits, err = c.checkLimits(limits, state.Client{Grants: grants})
	return grants, limits, err
}

func errShellLimited() error {
	return api.Errorf(api.KindConflict, "a terminal reaches every folder of this machine: a client has either the grant %q or a list of projects", api.GrantShell)
}

func unknownClient(id ident.ID) error {
	return api.Errorf(api.KindNotFound, "no client %s on this host: list the clients to see their ids", id)
}

// find returns a client that the connection may manage. Others are unknown to it.
func (c *Clients) find(conn *dispatch.Conn, id ident.ID) (state.Client, error) {
	client, known := c.list.Get(id)
	if !known || !reaches(conn, client) {
		return client, unknownClient(id)
	}
	return client, nil
}

// reaches reports whether a client sees nothing that the connection does not see.
func reaches(conn *dispatch.Conn, client state.Client) bool {
	if client.SessionID != "" {
		return conn.SeesSession(client.SessionID)
	}
	return conn.Projects() == nil || len(client.Projects) > 0 && !slices.ContainsFunc(client.Projects, func(id string) bool { return !conn.SeesProject(id) })
}

// checkChangeable returns an error for a connection that may not change the grants and limits
// of a client, whatever they become.
func checkChangeable(conn *dispatch.Conn, client state.Client) error {
	switch {
	case conn.IsToken():
		return api.Errorf(api.KindNotAllowed, "a token cannot change what clients may do: use a paired client, or `scorel host clients` on the host's machine")
	case !reaches(conn, client):
		return unknownClient(client.ID)
	case conn.ClientID() == client.ID.String():
		return api.Errorf(api.KindNotAllowed, "a client cannot change what it may do itself: use another client, or `scorel host clients` on the host's machine")
	case slices.Contains(client.Grants, api.GrantMove):
		return api.Errorf(api.KindConflict, "this is another host that moves a session here: cancel the move, or revoke the client")
	case client.SessionID != "":
		return api.Errorf(api.KindConflict, "a guest link only shows its session: revoke it and create another")
	}
	return nil
}

// mayGive returns an error for a connection that may not give a client a grant: it has to
// have it itself, and for as long.
func mayGive(conn *dispatch.Conn, target state.Client, grant api.Grant) error {
	switch {
	case conn.May(api.GrantLocal):
		return nil
	case slices.Contains(api.ExtraGrants(), grant):
		return api.Errorf(api.KindNotAllowed, "only the host's own machine gives the grant %q: run `scorel host clients grant %s %s` there", grant, target.ID, grant)
	case !conn.May(grant):
		return api.Errorf(api.KindNotAllowed, "this connection does not have the grant %q and cannot give it", grant)
	case target.Outlasts(conn.Access().ClientLimits):
		return errOutlasts()
	}
	return nil
}

// maySetLimits returns an error for a connection that may not set limits of a client. Wider
// ones extend all grants of the client.
func maySetLimits(conn *dispatch.Conn, target state.Client, limits api.ClientLimits) error {
	if conn.May(api.GrantLocal) {
		return nil
	}
	client := target
	client.ClientLimits = limits
	switch {
	case !reaches(conn, client):
		return api.Errorf(api.KindNotAllowed, "this connection is limited to some projects and can allow a client only these: name one or more of them")
	case limits.Outlasts(conn.Access().ClientLimits):
		return errOutlasts()
	}
	if !widens(target.ClientLimits, limits) {
		return nil
	}
	for _, grant := range target.Grants {
		if !conn.May(grant) {
			return api.Errorf(api.KindNotAllowed, "the client has the grant %q, which this connection does not have: it cannot extend what the client sees, or for how long", grant)
		}
	}
	return nil
}

func errOutlasts() error {
	return api.Errorf(api.KindNotAllowed, "this connection's own access expires: it cannot give another client access for longer")
}

// widens reports whether a change of limits allows more.
func widens(before, after api.ClientLimits) bool {
	if after.Outlasts(before) {
		return true
	}
	return len(before.Projects) > 0 && (len(after.Projects) == 0 ||
		slices.ContainsFunc(after.Projects, func(id string) bool { return !slices.Contains(before.Projects, id) }))
}
