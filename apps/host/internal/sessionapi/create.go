package sessionapi

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// createSession creates a session, and sends it its first prompt if the request has one. A
// prompt that is refused leaves no session, unless an earlier request created it.
func (s *Sessions) createSession(ctx context.Context, c *dispatch.Conn, r api.CreateSessionRequest) (api.CreateSessionResponse, error) {
	project, err := s.projects.Find(r.ProjectID)
	if err != nil {
		return api.CreateSessionResponse{}, err
	}
	if project.Missing {
		return api.CreateSessionResponse{}, api.Errorf(api.KindInvalidPath, "the folder %s is missing: restore it, or add the project at its new location", project.Path)
	}
	if r.Mode != "" {
		if err := s.checkMode(c, r.Mode); err != nil {
			return api.CreateSessionResponse{}, err
		}
	}
	decides, err := s.manager.BackendDecides(r.Backend)
	if err == nil {
		err = s.checkBackend(c, r.Backend, decides)
	}
	if err != nil {
		return api.CreateSessionResponse{}, err
	}
	summary, isNew, err := s.manager.CreateOnce(ctx, project, c.ClientID(), r)
	if err != nil {
		return api.CreateSessionResponse{}, err
	}
	response := api.CreateSessionResponse{Session: summary}
	if err := s.begin(ctx, c, r, &response); err != nil {
		if isNew && refused(ctx, err) {
			s.discardEmpty(ctx, summary.ID)
		}
		return api.CreateSessionResponse{}, err
	}
	s.hub.Notify(api.SessionUpdated{Session: response.Session})
	return response, nil
}

// begin sets the mode of a new session and sends it its first prompt. A repeated request
// leaves the mode of a session with messages alone: someone may have changed it since.
func (s *Sessions) begin(ctx context.Context, c *dispatch.Conn, r api.CreateSessionRequest, response *api.CreateSessionResponse) error {
	opened, err := s.manager.Open(response.Session.ID)
	if err != nil {
		return err
	}
	if r.Mode != "" && response.Session.MessageCount == 0 {
		if err := opened.SetMode(ctx, c.ClientID(), r.Mode); err != nil {
			return err
		}
	}
	if r.Prompt != nil {
		prompt := api.SendPromptRequest{
			SessionID: response.Session.ID, ClientKey: r.ClientKey, Text: r.Prompt.Text, Content: r.Prompt.Content,
		}
		sent, err := s.send(ctx, c, opened, prompt)
		if err != nil {
			return err
		}
		response.Prompt = &sent
	}
	response.Session, err = opened.Summary(ctx)
	return err
}

// refused reports whether err is what the host has to say about a request, so that repeating it
// changes nothing. After a lost connection or on a full disk, a retry continues with the session.
func refused(ctx context.Context, err error) bool {
	var refusal *api.Error
	return ctx.Err() == nil && errors.As(err, &refusal) && refusal.Kind != api.KindUnavailable
}

// discardEmpty deletes a session whose first prompt was refused. One that someone else has
// written in stays; Delete refuses one whose turn runs.
func (s *Sessions) discardEmpty(ctx context.Context, id string) {
	ctx = context.WithoutCancel(ctx)
	opened, err := s.manager.Open(id)
	if err != nil {
		return // deleted meanwhile
	}
	if summary, err := opened.Summary(ctx); err == nil && summary.MessageCount == 0 {
		_, _ = s.manager.Delete(ctx, id) // what stays is an empty session, and the refusal is what matters
	}
}
