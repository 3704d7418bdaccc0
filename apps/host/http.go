package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/openapi"
	"github.com/scorel/scorel/packages/protocol/seal"
)

// The HTTP adapter: each request of the table as a POST whose body holds its
// fields and whose answer is its result. Grants and handlers are those of every
// other connection.

// serveRequest runs one request for a connection that ends with it.
func (h *Host) serveRequest(w http.ResponseWriter, r *http.Request, who caller) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	c := h.newConn(nil, who.id, who.grants, cancel)
	admitted, err := c.admit(r.PathValue("request"))
	if err != nil {
		refuseAPI(err).write(w)
		return
	}
	wait, refused := wantsTurn(r, admitted.name)
	if refused == nil {
		admitted.body, refused = readBody(w, r)
	}
	switch {
	case refused != nil:
		refused.write(w)
	case wait:
		h.promptAndWait(ctx, w, who, admitted.body)
	default:
		admitted.id = onlyRequest
		c.handle(ctx, admitted)
		c.leave(ctx)
		message, _ := c.next()
		writeAnswer(w, message)
	}
}

// onlyRequest is the requestId on a connection that carries one request.
const onlyRequest = "1"

// readBody returns the fields of a request. No body at all is a request without
// fields.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	// Where the connection cannot have a deadline, the client's patience is one.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, seal.MaxMessage))
	_ = control.SetReadDeadline(time.Time{})
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, refuseAPI(api.Errorf(api.KindTooLarge, "the body has more than %d bytes: put the text into a file and name the file", seal.MaxMessage))
	case err != nil:
		return nil, refuseAPI(api.Errorf(api.KindBadRequest, "the body did not arrive as a whole: send it again"))
	case len(bytes.TrimSpace(body)) == 0:
		return []byte("{}"), nil
	case kind != "application/json":
		return nil, refuseWith(http.StatusUnsupportedMediaType, api.KindBadRequest, "the body must be JSON: send it with \"Content-Type: application/json\"")
	case !isObject(body) || !json.Valid(body):
		return nil, refuseAPI(api.Errorf(api.KindBadRequest, "the body is not a JSON object"))
	}
	return body, nil
}

// serveDocument tells programs what there is.
func serveDocument(w http.ResponseWriter, _ *http.Request, _ caller) {
	writeJSON(w, http.StatusOK, json.RawMessage(openapi.Document()))
}

// serveNothing answers what no other route does.
func (h *Host) serveNothing(w http.ResponseWriter, r *http.Request, _ caller) {
	name, ours := strings.CutPrefix(r.URL.Path, "/v1/")
	if _, known := api.Lookup(name); ours && known {
		w.Header().Set("Allow", http.MethodPost)
		refuseWith(http.StatusMethodNotAllowed, api.KindBadRequest, "%s is sent by POST", name).write(w)
		return
	}
	refuseWith(http.StatusNotFound, api.KindUnknownRequest, "there is nothing at %.80q: /v1/openapi.json tells what there is", r.URL.Path).write(w)
}

// refusal is an error with the HTTP status that it goes out with.
type refusal struct {
	status  int
	err     *api.Error
	invalid bool // a token was shown that does not count
}

func refuseWith(status int, kind api.Kind, format string, args ...any) *refusal {
	return &refusal{status: status, err: api.Errorf(kind, format, args...)}
}

func refuseAPI(err *api.Error) *refusal { return &refusal{status: httpStatus(err.Kind), err: err} }

// refuseToken answers who shows a token that does not count.
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

// httpStatus returns the status that says the most of a kind.
func httpStatus(kind api.Kind) int {
	switch kind {
	case api.KindUnknownRequest, api.KindNotFound:
		return http.StatusNotFound
	case api.KindBadRequest, api.KindInvalidPath, api.KindUnknownModel:
		return http.StatusBadRequest
	case api.KindNotAllowed:
		return http.StatusForbidden
	case api.KindConflict, api.KindProjectInUse, api.KindDamaged, api.KindPairing:
		return http.StatusConflict
	case api.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case api.KindQueueFull:
		return http.StatusTooManyRequests
	case api.KindUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// writeAnswer writes what a handler answered: its result, or its error.
func writeAnswer(w http.ResponseWriter, message []byte) {
	answer, err := readAnswer(message)
	switch {
	case err != nil:
		refuseAPI(api.Errorf(api.KindInternal, "the host gave no answer")).write(w)
	case answer.Type == api.TypeError:
		refuseAPI(&api.Error{Kind: answer.Kind, Message: answer.Message}).write(w)
	default:
		writeJSON(w, http.StatusOK, answer.Result)
	}
}

// outgoing is a message for an entry, opened as far as the adapter needs it.
type outgoing struct {
	Type    string          `json:"type"`
	Result  json.RawMessage `json:"result"`
	Kind    api.Kind        `json:"kind"`
	Message string          `json:"message"`
	Event   json.RawMessage `json:"event"`
}

func readAnswer(message []byte) (out outgoing, err error) {
	err = json.Unmarshal(message, &out)
	return out, err
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // what came from JSON encodes
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowAfter))
	_, _ = w.Write(body.Bytes()) // who does not read it any more asks again
}
