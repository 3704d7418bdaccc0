package sessionapi

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (s *Sessions) forkSession(ctx context.Context, _ *dispatch.Conn, r api.ForkSessionRequest) (api.ForkSessionResponse, error) {
	response, err := s.manager.Fork(ctx, r)
	if err == nil {
		s.hub.Notify(api.SessionUpdated{Session: response.Session})
	}
	return response, err
}

func (s *Sessions) getTree(ctx context.Context, _ *dispatch.Conn, r api.SessionRequest) (api.GetTreeResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.GetTreeResponse{}, err
	}
	return opened.Outline(ctx)
}

func (s *Sessions) listVersions(ctx context.Context, _ *dispatch.Conn, r api.SessionRequest) (api.ListVersionsResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.ListVersionsResponse{}, err
	}
	return opened.Versions(ctx)
}

func (s *Sessions) rewindSession(ctx context.Context, c *dispatch.Conn, r api.RewindSessionRequest) (api.MoveLeafResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	return opened.Rewind(ctx, c.ClientID(), r)
}

func (s *Sessions) navigateSession(ctx context.Context, c *dispatch.Conn, r api.NavigateSessionRequest) (api.MoveLeafResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	return opened.Navigate(ctx, c.ClientID(), r)
}

func (s *Sessions) setLabel(ctx context.Context, c *dispatch.Conn, r api.SetLabelRequest) (api.Empty, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, opened.SetLabel(ctx, c.ClientID(), r)
}

func (s *Sessions) compactSession(ctx context.Context, c *dispatch.Conn, r api.CompactSessionRequest) (api.CompactSessionResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.CompactSessionResponse{}, err
	}
	return opened.Compact(ctx, c.ClientID(), r)
}

func (s *Sessions) editQueue(ctx context.Context, c *dispatch.Conn, r api.EditQueueRequest) (api.EditQueueResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.EditQueueResponse{}, err
	}
	return opened.EditQueue(ctx, queue.Editor{ClientID: c.ClientID(), MayApprove: c.May(api.GrantApprove), Most: s.MaxMode(c)}, r)
}
