package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/schedule"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Triggers has schedules run for requests of other programs.
type Triggers interface {
	Deliver(context.Context, schedule.Delivery) (schedule.Delivered, error)
}

// triggerCaller is who holds the bytes of requests to webhooks.
const triggerCaller = "trigger"

// serveTrigger serves the webhook of a schedule. Its token is for this schedule alone, so the
// tokens of the API have no meaning here.
func (s *Server) serveTrigger(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if refused := s.refusePage(r); refused != nil {
		refuseStranger(w, r, refused)
		return
	}
	if !s.enter() {
		refuseStranger(w, r, refuseWith(http.StatusServiceUnavailable, api.KindUnavailable, "the host is shutting down: try again in a moment"))
		return
	}
	defer s.requests.Done()
	limitBody(w, r, smallTimeout)
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	body := bodyReader{intake: s.intake, token: triggerCaller, limit: schedule.MaxDelivery}
	defer body.release()
	answer, err := s.triggers.Deliver(r.Context(), schedule.Delivery{
		ID: r.PathValue("id"), Token: token, Key: r.Header.Get("Idempotency-Key"), Signature: r.Header.Get("Scorel-Signature"),
		Body: func() ([]byte, error) { return body.readAll(w, r) },
	})
	var refused *api.Error
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, answer)
	case !errors.As(err, &refused):
		refuseAPI(api.Errorf(api.KindUnavailable, "the request was interrupted: send it again")).write(w)
	case refused.Kind == api.KindNotAllowed:
		refuseStranger(w, r, refuseToken("%s", refused.Message))
	default:
		if refused.Kind == api.KindQueueFull {
			w.Header().Set("Retry-After", "60")
		}
		refuseAPI(refused).write(w)
	}
}

// readAll returns the body of a request, whatever it is.
func (b *bodyReader) readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if refused := b.hold(w, r); refused != nil {
		return nil, refused.err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(b.limit)))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, b.tooLarge().err
	case err != nil:
		return nil, api.Errorf(api.KindBadRequest, "the body is incomplete: send it again")
	}
	return data, nil
}
