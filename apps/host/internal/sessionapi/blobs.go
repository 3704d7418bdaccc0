package sessionapi

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (s *Sessions) uploadBlob(_ context.Context, c *dispatch.Conn, r api.UploadBlobRequest) (api.UploadBlobResponse, error) {
	return s.blobs.Upload(c.ClientID(), r)
}

func (s *Sessions) getBlob(ctx context.Context, _ *dispatch.Conn, r api.GetBlobRequest) (api.GetBlobResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.GetBlobResponse{}, err
	}
	return opened.Blob(ctx, r)
}
