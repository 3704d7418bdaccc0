package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

var none = api.Empty{}

func (h *Host) getHost(_ context.Context, c *conn, _ api.Empty) (api.GetHostResponse, error) {
	relayURL, relayState := h.uplink.status()
	kind, note := h.sandboxStatus()
	return api.GetHostResponse{Host: api.HostInfo{
		DeviceID:     h.keys.ID(),
		Label:        h.label,
		Version:      h.cfg.Version,
		Home:         userHome(),
		Models:       h.models.list(),
		DefaultModel: h.models.Default(),
		RelayURL:     relayURL,
		RelayState:   relayState,
		Grants:       c.grants,
		MaxMode:      h.maxMode(c),
		Sandbox:      kind,
		SandboxNote:  note,

		SandboxLimits: h.sandboxLimits(),
	}}, nil
}

func (h *Host) listProjects(context.Context, *conn, api.Empty) (api.ListProjectsResponse, error) {
	return api.ListProjectsResponse{Projects: h.listedProjects()}, nil
}

func (h *Host) addProject(_ context.Context, _ *conn, r api.AddProjectRequest) (api.AddProjectResponse, error) {
	project, err := h.projects.Add(r.Path)
	if err != nil {
		return api.AddProjectResponse{}, err
	}
	h.tell(api.ProjectsChanged{Projects: h.listedProjects()})
	project.Trusted = h.trust.Has(project.Path)
	return api.AddProjectResponse{Project: project}, nil
}

func (h *Host) removeProject(_ context.Context, _ *conn, r api.RemoveProjectRequest) (api.Empty, error) {
	if n := len(h.sessions.List(r.ProjectID)); n > 0 {
		return none, api.Errorf(api.KindProjectInUse, "the project stays in the list: it holds sessions (%d), and only one without sessions can be removed", n)
	}
	removed, err := h.projects.Remove(r.ProjectID)
	if err != nil {
		return none, err
	}
	if !removed {
		return none, noProject(r.ProjectID)
	}
	h.tell(api.ProjectsChanged{Projects: h.listedProjects()})
	return none, nil
}

func noProject(id string) error {
	return api.Errorf(api.KindNotFound, "no project %.64q on this host: list the projects to see their ids", id)
}

func (h *Host) listDir(_ context.Context, _ *conn, r api.ListDirRequest) (api.ListDirResponse, error) {
	return listFolder(r.Path)
}

func (h *Host) listSessions(_ context.Context, c *conn, r api.ListSessionsRequest) (api.ListSessionsResponse, error) {
	if r.Watching && h.hub.watch(c) {
		h.sessions.Attend()
	}
	return h.sessions.Page(r)
}

func (h *Host) searchSessions(ctx context.Context, _ *conn, r api.SearchSessionsRequest) (api.SearchSessionsResponse, error) {
	return h.sessions.Search(ctx, r)
}

func (h *Host) createSession(ctx context.Context, c *conn, r api.CreateSessionRequest) (api.CreateSessionResponse, error) {
	project, ok := h.projects.Get(r.ProjectID)
	if !ok {
		return api.CreateSessionResponse{}, noProject(r.ProjectID)
	}
	if project.Missing {
		return api.CreateSessionResponse{}, api.Errorf(api.KindInvalidPath, "the folder %s is not there: put it back, or add the project at its new place", project.Path)
	}
	summary, err := h.sessions.Create(ctx, project, c.clientID, r.ClientKey, r.Model)
	if err != nil {
		return api.CreateSessionResponse{}, err
	}
	h.tell(api.SessionUpdated{Session: summary})
	return api.CreateSessionResponse{Session: summary}, nil
}

func (h *Host) renameSession(ctx context.Context, c *conn, r api.RenameSessionRequest) (api.Empty, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, s.Rename(ctx, c.clientID, r.Name)
}

func (h *Host) setModel(ctx context.Context, c *conn, r api.SetModelRequest) (api.Empty, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	// What is wrong with either is said before anything changes.
	level := r.Thinking
	if level == api.ThinkingConfigured {
		level = ""
	}
	if err := sessions.CheckThinking(level); err != nil {
		return none, err
	}
	if r.Model != "" || r.Thinking == "" {
		if err := s.SetModel(ctx, c.clientID, r.Model); err != nil {
			return none, err
		}
	}
	if r.Thinking == "" {
		return none, nil
	}
	return none, s.SetThinking(ctx, c.clientID, level)
}

// resyncEvents answers from the session's goroutine, so that the answer stands in
// front of every event that follows.
func (h *Host) resyncEvents(ctx context.Context, c *conn, requestID string, body []byte) (any, error) {
	var r api.ResyncEventsRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, badField(err)
	}
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return nil, err
	}
	answers := c.grants
	if r.Unattended {
		answers = nil
	}
	err = s.Resync(ctx, r.Anchors, c, answers, func(response api.ResyncEventsResponse) { c.respond(requestID, response) })
	if err == nil {
		c.subscribed[r.SessionID] = s
	}
	return nil, err
}

func (h *Host) getEntries(ctx context.Context, _ *conn, r api.GetEntriesRequest) (api.GetEntriesResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.GetEntriesResponse{}, err
	}
	return s.Entries(ctx, r)
}

func (h *Host) unsubscribe(ctx context.Context, c *conn, r api.SessionRequest) (api.Empty, error) {
	if s, ok := c.subscribed[r.SessionID]; ok {
		s.Unsubscribe(ctx, c)
		delete(c.subscribed, r.SessionID)
	}
	return none, nil
}

func (h *Host) sendPrompt(ctx context.Context, c *conn, r api.SendPromptRequest) (api.SendPromptResponse, error) {
	if (r.AllowAll || len(r.AllowRules) > 0) && !c.may(api.GrantApprove) {
		return api.SendPromptResponse{}, api.Errorf(api.KindNotAllowed, "allowAll and allowRules need the grant %q, which this connection does not have", api.GrantApprove)
	}
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.SendPromptResponse{}, err
	}
	return s.SendPromptUpTo(ctx, c.clientID, h.maxMode(c), r)
}

func (h *Host) cancelTurn(ctx context.Context, _ *conn, r api.CancelTurnRequest) (api.CancelTurnResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.CancelTurnResponse{}, err
	}
	cancelled, err := s.CancelTurn(ctx, r.TurnID)
	return api.CancelTurnResponse{Cancelled: cancelled}, err
}

func (h *Host) answerApproval(ctx context.Context, c *conn, r api.AnswerApprovalRequest) (api.AnswerApprovalResponse, error) {
	if r.Decision == api.DecisionAlways && !c.may(api.GrantManage) {
		return api.AnswerApprovalResponse{}, api.Errorf(api.KindNotAllowed, "%q needs the grant %q, which this connection does not have: allow it once", r.Decision, api.GrantManage)
	}
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.AnswerApprovalResponse{}, err
	}
	return s.AnswerApproval(ctx, c.clientID, r)
}

func (h *Host) answerQuestion(ctx context.Context, c *conn, r api.AnswerQuestionRequest) (api.AnswerQuestionResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.AnswerQuestionResponse{}, err
	}
	return s.AnswerQuestion(ctx, c.clientID, r)
}

func (h *Host) listClients(context.Context, *conn, api.Empty) (api.ListClientsResponse, error) {
	clients := []api.Client{}
	for _, c := range h.clients.List() {
		clients = append(clients, api.Client{
			ID: c.ID, Label: c.Label, Grants: c.Grants, PairedAt: c.PairedAt, Online: h.hub.online(c.ID.String()),
		})
	}
	return api.ListClientsResponse{Clients: clients}, nil
}

func (h *Host) revokeClient(ctx context.Context, _ *conn, r api.RevokeClientRequest) (api.Empty, error) {
	known, err := h.shutOut(r.ClientID)
	if err != nil {
		return none, err
	}
	if !known {
		return none, api.Errorf(api.KindNotFound, "no client %s on this host: list the clients to see their ids", r.ClientID)
	}
	// The list is the last word, so the client is out already; the relay is told so
	// that it stops offering the device. It is told again at the next login if it
	// cannot be reached now.
	h.uplink.revoke(ctx, r.ClientID)
	return none, nil
}

// errRevoked ends the connections of a client that was shut out.
var errRevoked = errors.New("this client was removed on the device")

// shutOut takes a client off the list and ends its connections; false when it was
// not on the list.
func (h *Host) shutOut(id ident.ID) (bool, error) {
	known, err := h.clients.Remove(id)
	if err != nil {
		return known, err
	}
	h.uplink.closeClient(id, wire.ReasonNotAuthorized)
	h.hub.closeClient(id.String(), errRevoked)
	if known {
		h.log.Info("client removed", "client", id)
		h.tell(api.ClientsChanged{})
	}
	return known, nil
}

func (h *Host) stopHost(context.Context, *conn, api.Empty) (api.Empty, error) {
	h.stop(errStopped)
	return none, nil
}
