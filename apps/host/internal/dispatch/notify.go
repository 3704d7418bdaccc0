package dispatch

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Notify sends an event of the host to every connection that may view and sees what the
// event is about.
func (h *Hub) Notify(event api.Event) {
	h.notify(event, func(c *Conn) bool { return c.May(api.GrantView) && sees(c.Access(), event) })
}

// NotifyOthers sends an event as Notify does, but not to the connections of one client.
func (h *Hub) NotifyOthers(clientID string, event api.Event) {
	h.notify(event, func(c *Conn) bool {
		return c.clientID != clientID && c.May(api.GrantView) && sees(c.Access(), event)
	})
}

// NotifyDeleted reports the deletion of a session, whose project the event does not name.
func (h *Hub) NotifyDeleted(projectID, sessionID string) {
	h.notify(api.SessionDeleted{ID: sessionID}, func(c *Conn) bool {
		return c.May(api.GrantView) && c.Access().seesSession(sessionID, projectID)
	})
}

// NotifyMoved reports that a session belongs to another device now.
func (h *Hub) NotifyMoved(projectID string, moved api.SessionMoved) {
	h.notify(moved, func(c *Conn) bool {
		return c.May(api.GrantView) && c.Access().seesSession(moved.ID, projectID)
	})
}

// NotifyClient sends an event of the host to the connections of one client that have a grant.
func (h *Hub) NotifyClient(clientID string, grant api.Grant, event api.Event) {
	h.notify(event, func(c *Conn) bool { return c.clientID == clientID && c.May(grant) })
}

// sees reports whether a connection sees what an event of the host is about. A limited one
// does not get events that are not known here to be for it.
func sees(a Access, event api.Event) bool {
	if !a.limited() {
		return true
	}
	switch e := event.(type) {
	case api.SessionUpdated:
		return a.seesSession(e.Session.ID, e.Session.ProjectID)
	case api.MCPServersChanged:
		return a.seesProject(e.ProjectID)
	case api.HooksChanged:
		return a.seesProject(e.ProjectID)
	case api.SchedulesChanged:
		return a.seesProject(e.ProjectID)
	case api.ProjectsChanged, api.ClientsChanged, api.RulesChanged, api.ModelsChanged, api.AgentsChanged, api.MemoryChanged, api.SkillsChanged, api.PathsChanged:
		return a.SessionID == "" // shown reduces the first, and the others say only that something changed
	}
	return false
}

// shown returns the part of an event that a connection sees.
func shown(a Access, event api.Event) api.Event {
	changed, ok := event.(api.ProjectsChanged)
	if !ok || !a.limited() {
		return event
	}
	changed.Projects = slices.DeleteFunc(slices.Clone(changed.Projects), func(p api.Project) bool { return !a.seesProject(p.ID) })
	return changed
}

func (h *Hub) notify(event api.Event, to func(*Conn) bool) {
	envelope, encoded, ok := h.encode(event)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if !to(c) {
			continue
		}
		access := c.Access()
		if _, reduced := event.(api.ProjectsChanged); !reduced || !access.limited() {
			c.Deliver(envelope, encoded)
		} else if part, encoded, ok := h.encode(shown(access, event)); ok {
			c.Deliver(part, encoded)
		}
	}
}

func (h *Hub) encode(event api.Event) (api.EventEnvelope, []byte, bool) {
	envelope := api.EventEnvelope{Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		h.log.Error("notifying the clients failed", "event", event.EventType(), "error", err)
	}
	return envelope, encoded, err == nil
}
