package dispatch

import (
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Access is what a connection may do now. It is replaced as a whole.
type Access struct {
	Grants []api.Grant
	api.ClientLimits
	SessionID string // the only session that a guest link sees; "" for everyone else
}

// limited reports whether the connection sees only a part of the host.
func (a Access) limited() bool { return a.SessionID != "" || len(a.Projects) > 0 }

// sameView reports whether two connections see the same part of the host.
func (a Access) sameView(b Access) bool {
	return a.SessionID == b.SessionID && slices.Equal(a.Projects, b.Projects)
}

func (a Access) expired(now time.Time) bool {
	return a.ExpiresAt != 0 && now.UnixMilli() >= a.ExpiresAt
}

func (a Access) seesProject(id string) bool {
	return !a.limited() || a.SessionID == "" && slices.Contains(a.Projects, id)
}

func (a Access) seesSession(id, projectID string) bool {
	if a.SessionID != "" {
		return id == a.SessionID
	}
	return a.seesProject(projectID)
}

// Access returns what the connection may do now. The caller must not change it.
func (c *Conn) Access() Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access
}

func (c *Conn) setAccess(access Access) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.access = access
}

// Guest reports whether the connection is that of a guest link.
func (c *Conn) Guest() bool { return c.Access().SessionID != "" }

// Projects returns the projects that the connection sees, or nil if it sees all. Those of
// a guest link are none.
func (c *Conn) Projects() []string {
	switch a := c.Access(); {
	case a.SessionID != "":
		return []string{}
	case a.limited():
		return a.Projects
	}
	return nil
}

// SeesProject reports whether the connection sees a project.
func (c *Conn) SeesProject(id string) bool { return c.Access().seesProject(id) }

// SeesSession reports whether the connection sees a session. It is false for a session that
// does not exist if the connection is limited.
func (c *Conn) SeesSession(id string) bool {
	access := c.Access()
	if !access.limited() {
		return true
	}
	projectID, exists := c.dispatcher.ProjectOf(id)
	if !exists || !access.seesSession(id, projectID) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placed[id] = projectID
	return true
}

// CheckWhole returns an error for a connection that sees only a part of the host, for
// changes that apply to all of it.
func (c *Conn) CheckWhole(what string) error {
	if !c.Access().limited() {
		return nil
	}
	return api.Errorf(api.KindNotAllowed, "%s every project, and this connection is limited to some: do it for one of its projects, or on a device without that limit", what)
}

// shows reports whether the connection still sees the session of an event. A subscription
// began with a request for the session, which recorded its project.
func (c *Conn) shows(sessionID string) bool {
	if sessionID == "" { // an event of the host, whose sender checked it
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.access.Grants, api.GrantView) {
		return false
	}
	if !c.access.limited() {
		return true
	}
	projectID, known := c.placed[sessionID]
	return known && c.access.seesSession(sessionID, projectID)
}

// CheckSession returns an error for a request about a session that does not go through Run, as
// Run would return it.
func (c *Conn) CheckSession(r Request, sessionID string) *api.Error {
	body, err := session.Encode(struct {
		SessionID string `json:"sessionId"`
	}{sessionID})
	if err != nil {
		return c.Explain(r.Name, err)
	}
	r.Body = body
	return c.checkNamed(r)
}

// checkNamed returns an error for a request about something that the connection does not see, or
// that another host has.
func (c *Conn) checkNamed(r Request) *api.Error {
	if err := c.checkReach(r); err != nil {
		return err
	}
	return c.dispatcher.checkMoved(r)
}

// checkMoved returns an error for a request about a session that another host has, or will
// have soon.
func (d *Dispatcher) checkMoved(r Request) *api.Error {
	if d.Moves == nil || !d.Moves.Any() {
		return nil
	}
	var named struct {
		SessionID string `json:"sessionId"`
	}
	if exactjson.Unmarshal(r.Body, &named) != nil || named.SessionID == "" {
		return nil
	}
	return d.Moves.Refusal(named.SessionID, r.Grant)
}

// checkReach returns an error if a request goes further than the connection sees. A session
// or project that it does not see is answered as one that does not exist.
func (c *Conn) checkReach(r Request) *api.Error {
	access := c.Access()
	switch {
	case access.expired(time.Now()):
		return api.Errorf(api.KindNotAllowed, "%s", ErrAccessExpired)
	case !access.limited():
		return nil
	case access.SessionID != "" && !r.Guests:
		return api.Errorf(api.KindNotAllowed, "a guest link only shows its session: %s is not possible with it", r.Name)
	case r.Reach != api.ReachNamed && r.Reach != api.ReachShown:
		return api.Errorf(api.KindNotAllowed, "%s concerns the whole host, and this connection is limited to some of its projects", r.Name)
	}
	var named struct {
		SessionID string `json:"sessionId"`
		ProjectID string `json:"projectId"`
	}
	if err := exactjson.Unmarshal(r.Body, &named); err != nil {
		return badField(err)
	}
	switch {
	case named.SessionID == "" && named.ProjectID == "" && r.Reach == api.ReachNamed:
		return api.Errorf(api.KindNotAllowed, "%s without a project concerns the whole host, and this connection is limited to some of its projects: name one of them", r.Name)
	case named.SessionID != "" && !c.SeesSession(named.SessionID):
		return c.dispatcher.Unknown(named.SessionID)
	case named.ProjectID != "" && !c.SeesProject(named.ProjectID):
		return state.UnknownProject(named.ProjectID)
	}
	return nil
}
