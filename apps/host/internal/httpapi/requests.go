package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/openapi"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/session"
)

// serveRequest serves a request of the table as a POST whose body holds its fields and
// whose answer is its result. Grants and handlers are those of every other connection.
func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request, who caller) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	c := s.dispatcher.NewConn(who.id, who.grants, cancel)
	admitted, err := c.Admit(r.PathValue("request"))
	if err != nil && readByGet(r.URL.Path) {
		s.serveNothing(w, r, who)
		return
	}
	if err != nil {
		refuseAPI(err).write(w)
		return
	}
	admitted.Strict = true
	wait, refused := wantsTurn(r, admitted.Name)
	body := bodyReader{intake: s.intake, token: who.id, limit: min(admitted.MaxBytes(), seal.MaxMessage)}
	defer body.release()
	if refused == nil {
		admitted.Body, refused = body.read(w, r)
	}
	switch {
	case refused != nil:
		refused.write(w)
	case wait:
		s.promptAndWait(ctx, w, who, admitted, body.release)
	default:
		s.serveOnce(ctx, w, c, admitted)
	}
}

// serveOnce runs the only request of a connection and writes its answer.
func (s *Server) serveOnce(ctx context.Context, w http.ResponseWriter, c *dispatch.Conn, r dispatch.Request) {
	encoded := make(chan []byte, 1)
	err := c.Run(ctx, r, func(result any) {
		answer, err := session.Encode(result) // here: it may belong to the goroutine of a session
		if err != nil {
			s.log.Error("an answer could not be encoded", "request", r.Name, "error", err)
		}
		encoded <- answer
	})
	c.Leave(ctx)
	if err != nil {
		refuseAPI(err).write(w)
		return
	}
	answer := <-encoded
	if answer == nil {
		refuseAPI(api.Errorf(api.KindInternal, "the host could not encode its answer: see its log")).write(w)
		return
	}
	writeBody(w, http.StatusOK, append(answer, '\n'))
}

// serveDocument serves the OpenAPI document.
func serveDocument(w http.ResponseWriter, _ *http.Request, _ caller) {
	writeJSON(w, http.StatusOK, json.RawMessage(openapi.Document()))
}

// serveNothing answers requests for which there is no route.
func (s *Server) serveNothing(w http.ResponseWriter, r *http.Request, _ caller) {
	name, ours := strings.CutPrefix(r.URL.Path, "/v1/")
	if ours && s.dispatcher.Knows(name) {
		w.Header().Set("Allow", http.MethodPost)
		refuseWith(http.StatusMethodNotAllowed, api.KindBadRequest, "use POST for %s", name).write(w)
		return
	}
	if r.Method != http.MethodGet && readByGet(r.URL.Path) {
		w.Header().Set("Allow", http.MethodGet)
		refuseWith(http.StatusMethodNotAllowed, api.KindBadRequest, "use GET for %.80s", r.URL.Path).write(w)
		return
	}
	refuseWith(http.StatusNotFound, api.KindUnknownRequest, "there is nothing at %.80q: /v1/openapi.json lists all requests", r.URL.Path).write(w)
}

// readByGet reports whether a path is one that only GET reads.
func readByGet(path string) bool {
	rest, inSession := strings.CutPrefix(path, "/v1/sessions/")
	id, isEvents := strings.CutSuffix(rest, "/events")
	return path == client.DirectPath || path == "/v1/openapi.json" || inSession && isEvents && id != "" && !strings.Contains(id, "/")
}

// refusal is an error with the HTTP status that it goes out with.
type refusal struct {
	status  int
	err     *api.Error
	invalid bool // the request has a token that is not valid
}

func refuseWith(status int, kind api.Kind, format string, args ...any) *refusal {
	return &refusal{status: status, err: api.Errorf(kind, format, args...)}
}

func refuseAPI(err *api.Error) *refusal { return &refusal{status: httpStatus(err.Kind), err: err} }

// refuseToken is for a request with a token that is not valid.
func refuseToken(format string, args ...any) *refusal {
	return &refusal{status: http.StatusUnauthorized, err: api.Errorf(api.KindNotAllowed, format, args...), invalid: true}
}

func (r *refusal) write(w http.ResponseWriter) {
	switch {
	case r.invalid:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	case r.status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, r.status, api.HTTPFailure{Error: api.HTTPError{Kind: r.err.Kind.String(), Number: r.err.Kind, Message: r.err.Message}})
}

// httpStatus returns the status that fits a kind of error best.
func httpStatus(kind api.Kind) int {
	switch kind {
	case api.KindUnknownRequest, api.KindNotFound:
		return http.StatusNotFound
	case api.KindBadRequest, api.KindInvalidPath, api.KindUnknownModel:
		return http.StatusBadRequest
	case api.KindNotAllowed:
		return http.StatusForbidden
	case api.KindConflict, api.KindProjectInUse, api.KindDamaged, api.KindPairing, api.KindUnconfirmed:
		return http.StatusConflict
	case api.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case api.KindMoved:
		return http.StatusGone
	case api.KindQueueFull:
		return http.StatusTooManyRequests
	case api.KindUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // what came from JSON encodes
		status = http.StatusInternalServerError
	}
	writeBody(w, status, body.Bytes())
}

// writeBody writes an encoded answer.
func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowAfter))
	_, _ = w.Write(body) // a client that does not read it asks again
}
