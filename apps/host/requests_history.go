package host

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (h *Host) forkSession(ctx context.Context, _ *conn, r api.ForkSessionRequest) (api.ForkSessionResponse, error) {
	response, err := h.sessions.Fork(ctx, r)
	if err == nil {
		h.tell(api.SessionUpdated{Session: response.Session})
	}
	return response, err
}

func (h *Host) getTree(ctx context.Context, _ *conn, r api.SessionRequest) (api.GetTreeResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.GetTreeResponse{}, err
	}
	return s.Outline(ctx)
}

func (h *Host) rewindSession(ctx context.Context, c *conn, r api.RewindSessionRequest) (api.MoveLeafResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	return s.Rewind(ctx, c.clientID, r)
}

func (h *Host) navigateSession(ctx context.Context, c *conn, r api.NavigateSessionRequest) (api.MoveLeafResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	return s.Navigate(ctx, c.clientID, r)
}

func (h *Host) setLabel(ctx context.Context, c *conn, r api.SetLabelRequest) (api.Empty, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, s.SetLabel(ctx, c.clientID, r)
}

func (h *Host) compactSession(ctx context.Context, c *conn, r api.CompactSessionRequest) (api.CompactSessionResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.CompactSessionResponse{}, err
	}
	return s.Compact(ctx, c.clientID, r)
}

func (h *Host) editQueue(ctx context.Context, c *conn, r api.EditQueueRequest) (api.EditQueueResponse, error) {
	s, err := h.sessions.Open(r.SessionID)
	if err != nil {
		return api.EditQueueResponse{}, err
	}
	return s.EditQueue(ctx, queue.Editor{ClientID: c.clientID, MayApprove: c.may(api.GrantApprove), Most: h.maxMode(c)}, r)
}
