package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
)

// ChangedFiles returns the absolute paths of the files that the session's file tools changed.
func (h *history) ChangedFiles(ctx context.Context) (paths []string, err error) {
	err = h.do(ctx, func() { paths = read.ChangedFiles(h.log.Tree()) })
	return paths, clientError(err)
}
