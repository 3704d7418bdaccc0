package host

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (h *Host) getProcessLog(_ context.Context, _ *conn, r api.GetProcessLogRequest) (api.GetProcessLogResponse, error) {
	page, err := h.process.Read(r.ProcessLogRef, r.From, r.Limit)
	switch {
	case errors.Is(err, process.ErrRef):
		return api.GetProcessLogResponse{}, api.Errorf(api.KindBadRequest, "processLogRef is none: take it from a process_event or a scorel.process entry as it is")
	case errors.Is(err, process.ErrNoLog):
		return api.GetProcessLogResponse{}, api.Errorf(api.KindNotFound, "this process log is not kept on this host (any more)")
	}
	return api.GetProcessLogResponse{Lines: page.Lines, Next: page.Next, More: page.More}, err
}
