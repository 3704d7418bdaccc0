package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Pace of a stream of events.
const (
	heartbeatEvery = 15 * time.Second
	// slowAfter is how long one write may take before the reader counts as gone.
	slowAfter = 30 * time.Second
)

// errNoStream ends a stream that was answered with a refusal.
var errNoStream = errors.New("the stream was refused")

// serveEvents sends the events of a session for as long as somebody reads. The
// stream is a connection like any other, whose one request is resync_events with
// the anchors of Last-Event-ID.
func (h *Host) serveEvents(w http.ResponseWriter, r *http.Request, who caller) {
	if r.Method != http.MethodGet { // HEAD matches GET, and would never end
		w.Header().Set("Allow", http.MethodGet)
		refuseWith(http.StatusMethodNotAllowed, api.KindBadRequest, "events are read by GET").write(w)
		return
	}
	anchors, err := parseEventID(r.Header.Get("Last-Event-ID"))
	if err != nil {
		refuseAPI(err).write(w)
		return
	}
	stream, encodeErr := newEventStream(w, r.PathValue("id"), anchors)
	if encodeErr != nil { // a string and two numbers encode
		refuseAPI(api.Errorf(api.KindInternal, "the request could not be written")).write(w)
		return
	}
	reason := h.serveConn(r.Context(), stream, who.id, who.grants)
	h.log.Debug("a stream of events ended", "client", who.id, "reason", reason)
}

// eventID writes anchors as the id of a server-sent event.
func eventID(a api.Anchors) string {
	return fmt.Sprintf("%s.%d.%d", a.Epoch, a.PersistentLastSeq, a.StreamLastSeq)
}

// parseEventID reads what eventID wrote; "" is that nothing was seen.
func parseEventID(id string) (api.Anchors, *api.Error) {
	if id == "" {
		return api.Anchors{}, nil
	}
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return api.Anchors{}, badEventID(id)
	}
	persistent, err1 := strconv.ParseUint(parts[1], 10, 64)
	stream, err2 := strconv.ParseUint(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return api.Anchors{}, badEventID(id)
	}
	return api.Anchors{Epoch: parts[0], PersistentLastSeq: persistent, StreamLastSeq: stream}, nil
}

func badEventID(id string) *api.Error {
	return api.Errorf(api.KindBadRequest, "Last-Event-ID %.80q is not the id of an event: send one as it came, or none", id)
}

// eventStream is a client.Transport that writes server-sent events. What it
// receives is one request. It writes the head of the answer only when it knows
// that the request is not refused.
type eventStream struct {
	// Static after newEventStream.
	w         http.ResponseWriter
	control   *http.ResponseController
	sessionID string

	request []byte // nil when it was received; owned by Receive

	begun atomic.Bool // the head of the answer is written

	mu      sync.Mutex // held while something is written
	anchors api.Anchors
}

var _ client.Transport = (*eventStream)(nil)

func newEventStream(w http.ResponseWriter, sessionID string, anchors api.Anchors) (*eventStream, error) {
	request, err := api.EncodeRequest("resync_events", onlyRequest, api.ResyncEventsRequest{SessionID: sessionID, Anchors: anchors})
	if err != nil {
		return nil, err
	}
	return &eventStream{w: w, control: http.NewResponseController(w), sessionID: sessionID, request: request}, nil
}

// Receive returns the request, and after that keeps the stream alive until ctx ends.
func (s *eventStream) Receive(ctx context.Context) ([]byte, error) {
	if request := s.request; request != nil {
		s.request = nil
		return request, nil
	}
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
			if err := s.beat(); err != nil {
				return nil, err
			}
		}
	}
}

// beat writes a comment, unless something is being written anyway.
func (s *eventStream) beat() error {
	if !s.mu.TryLock() {
		return nil
	}
	defer s.mu.Unlock()
	if !s.begun.Load() {
		return nil
	}
	return s.write(": alive\n\n")
}

// Send writes one message of the host.
func (s *eventStream) Send(_ context.Context, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := readAnswer(message)
	if err != nil {
		return err
	}
	switch out.Type {
	case api.TypeError:
		refuseAPI(&api.Error{Kind: out.Kind, Message: out.Message}).write(s.w)
		return errNoStream
	case api.TypeResponse:
		return s.begin(out.Result)
	}
	return s.pass(out.Event)
}

// begin writes the answer to resync_events as the first event.
func (s *eventStream) begin(result json.RawMessage) error {
	var at struct {
		Anchors api.Anchors `json:"anchors"`
	}
	if err := json.Unmarshal(result, &at); err != nil {
		return err
	}
	s.anchors = at.Anchors
	s.begun.Store(true)
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	return s.write("retry: 1000\nevent: resync\nid: " + eventID(s.anchors) + "\ndata: " + string(result) + "\n\n")
}

// pass writes an event of the session, or of the host about it. Other events of
// the host are not for this reader.
func (s *eventStream) pass(event json.RawMessage) error {
	var head struct {
		Type      string `json:"type"`
		SessionID string `json:"sessionId"`
		Seq       uint64 `json:"seq"`
		Session   struct {
			ID string `json:"id"`
		} `json:"session"`
	}
	if err := json.Unmarshal(event, &head); err != nil {
		return err
	}
	switch {
	case !s.begun.Load():
		return nil
	case head.SessionID == "" && head.Session.ID == s.sessionID:
		return s.write("event: " + head.Type + "\ndata: " + string(event) + "\n\n")
	case head.SessionID != s.sessionID:
		return nil
	}
	s.anchors.StreamLastSeq = head.Seq
	if head.Type == (api.EntryAppended{}).EventType() {
		s.anchors.PersistentLastSeq = head.Seq
	}
	return s.write("event: " + head.Type + "\nid: " + eventID(s.anchors) + "\ndata: " + string(event) + "\n\n")
}

// write sends text at once. s.mu must be held.
func (s *eventStream) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(slowAfter)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// Close lets go of a reader that does not read: what is being written fails.
func (s *eventStream) Close() error {
	if !s.begun.Load() {
		return nil // a refusal still goes out
	}
	return s.control.SetWriteDeadline(time.Unix(1, 0))
}
