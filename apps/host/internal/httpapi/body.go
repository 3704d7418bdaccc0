package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// bodyReader reads the body of one request within the limits of that request, of its token
// and of all requests together.
type bodyReader struct {
	intake *intake
	token  string
	limit  int // bytes
	held   int
}

// read returns the fields of a request. No body at all is a request without fields.
func (b *bodyReader) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if refused := b.hold(w, r); refused != nil {
		return nil, refused
	}
	control := http.NewResponseController(w)
	if b.limit > smallMessage {
		limitBody(w, r, bodyTimeout)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(b.limit)))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{}) // the answer may take as long as a turn
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, b.tooLarge()
	case err != nil:
		return nil, refuseAPI(api.Errorf(api.KindBadRequest, "the body is incomplete: send it again"))
	case len(bytes.TrimSpace(body)) == 0:
		return []byte("{}"), nil
	case kind != "application/json":
		return nil, refuseWith(http.StatusUnsupportedMediaType, api.KindBadRequest, "the body must be JSON: send it with \"Content-Type: application/json\"")
	case !dispatch.IsObject(body) || !json.Valid(body):
		return nil, refuseAPI(api.Errorf(api.KindBadRequest, "the body is not a JSON object"))
	}
	return body, nil
}

// hold counts the body before reading it.
func (b *bodyReader) hold(w http.ResponseWriter, r *http.Request) *refusal {
	size := int(min(r.ContentLength, int64(b.limit)+1))
	if size < 0 { // it is not known
		size = b.limit
	}
	if size > b.limit {
		w.Header().Set("Connection", "close") // what comes is not read
		return b.tooLarge()
	}
	if !b.intake.take(b.token, size) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		return refuseAPI(api.Errorf(api.KindQueueFull, "%s", errIntake))
	}
	b.held = size
	return nil
}

func (b *bodyReader) tooLarge() *refusal {
	return refuseAPI(api.Errorf(api.KindTooLarge, "the body has more than %d bytes, the limit of this request: put a long text into a file and name the file", b.limit))
}

// release gives back the bytes of the body, when they are no longer in memory.
func (b *bodyReader) release() {
	b.intake.give(b.token, b.held)
	b.held = 0
}
