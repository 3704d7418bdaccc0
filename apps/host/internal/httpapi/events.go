package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Pace of a stream of events.
const (
	heartbeatEvery = 15 * time.Second
	// slowAfter bounds one write; a client that takes longer is disconnected.
	slowAfter = 30 * time.Second
)

var (
	// errNoStream ends a stream that was answered with a refusal.
	errNoStream = errors.New("the stream was refused")
	// errGone ends a stream after the event that says so.
	errGone = errors.New("the session was moved or deleted")
)

// serveEvents sends the events of a session until the client closes the stream. The
// stream is a connection like any other, which subscribes with the anchors of
// Last-Event-ID.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, who caller) {
	if r.Method != http.MethodGet { // HEAD matches GET, and would never end
		w.Header().Set("Allow", http.MethodGet)
		refuseWith(http.StatusMethodNotAllowed, api.KindBadRequest, "use GET to read events").write(w)
		return
	}
	anchors, err := parseEventID(r.Header.Get("Last-Event-ID"))
	if err != nil {
		refuseAPI(err).write(w)
		return
	}
	stream := newEventStream(w, r.PathValue("id"))
	reason := s.dispatcher.Run(r.Context(), who.id, who.grants, stream.outbox, func(ctx context.Context, c *dispatch.Conn) error {
		if err := s.subscribe(ctx, c, stream, anchors); err != nil {
			return err
		}
		return stream.keepAlive(ctx)
	})
	s.log.Debug("a stream of events ended", "client", who.id, "reason", reason)
}

// subscribe sends the answer to resync_events as the first event of a stream. An error is
// answered as that of any other request.
func (s *Server) subscribe(ctx context.Context, c *dispatch.Conn, stream *eventStream, anchors api.Anchors) error {
	admitted, refused := c.Admit(api.ResyncEvents.Name())
	if refused == nil {
		refused = c.CheckSession(admitted, stream.sessionID)
	}
	if refused == nil {
		err := s.sessions.ResyncEvents(ctx, c, api.ResyncEventsRequest{SessionID: stream.sessionID, Anchors: anchors}, func(response api.ResyncEventsResponse) {
			encoded, err := session.Encode(response) // here: it belongs to the goroutine of the session
			if err != nil {
				c.End(err)
				return
			}
			stream.since(response.Anchors)
			c.Out().Answer(encoded)
		})
		if err == nil {
			return nil
		}
		refused = c.Explain(admitted.Name, err)
	}
	stream.refuse(refused)
	return errNoStream
}

// eventID writes anchors as the id of a server-sent event.
func eventID(a api.Anchors) string {
	return fmt.Sprintf("%s.%d.%d", a.Epoch, a.PersistentLastSeq, a.StreamLastSeq)
}

// parseEventID reads the output of eventID; "" means that the client has seen no event.
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
	return api.Errorf(api.KindBadRequest, "Last-Event-ID %.80q is not the id of an event: send an id as received, or none", id)
}

// eventStream writes server-sent events. It writes the head of the answer only when the
// request is known not to be refused.
type eventStream struct {
	// Static after newEventStream.
	w         http.ResponseWriter
	control   *http.ResponseController
	sessionID string

	begun atomic.Bool // the head of the answer is written

	mu      sync.Mutex // held while something is written
	anchors api.Anchors
}

func newEventStream(w http.ResponseWriter, sessionID string) *eventStream {
	return &eventStream{w: w, control: http.NewResponseController(w), sessionID: sessionID}
}

func (s *eventStream) outbox(c *dispatch.Conn) dispatch.Outbox {
	return dispatch.NewQueue(s.send, s.close, func() { c.End(dispatch.ErrSlow) })
}

// keepAlive writes a comment now and then until ctx ends.
func (s *eventStream) keepAlive(ctx context.Context) error {
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if err := s.beat(); err != nil {
				return err
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

// since records up to where the answer to the request covers the log.
func (s *eventStream) since(anchors api.Anchors) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anchors = anchors
}

// refuse answers the request with a refusal.
func (s *eventStream) refuse(err *api.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuseAPI(err).write(s.w)
}

// send writes the answer to the request, or an event.
func (s *eventStream) send(_ context.Context, out dispatch.Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.Event == nil {
		return s.begin(out.Message)
	}
	return s.pass(*out.Event, out.Message)
}

// begin writes the answer to resync_events as the first event.
func (s *eventStream) begin(result []byte) error {
	s.begun.Store(true)
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	return s.write("retry: 1000\nevent: resync\nid: " + eventID(s.anchors) + "\ndata: " + string(result) + "\n\n")
}

// pass writes an event of the session, or of the host about it. Other events of
// the host are not for this reader. Nothing follows the event that the session is gone.
func (s *eventStream) pass(envelope api.EventEnvelope, message []byte) error {
	if !s.begun.Load() {
		return nil
	}
	name, data := envelope.Event.EventType(), string(api.EventObject(message))
	if gone := isGone(envelope.Event, s.sessionID); gone || updates(envelope.Event, s.sessionID) {
		err := s.write("event: " + name + "\ndata: " + data + "\n\n")
		if err == nil && gone {
			return errGone
		}
		return err
	}
	if envelope.SessionID != s.sessionID {
		return nil
	}
	s.anchors.StreamLastSeq = envelope.Seq
	if _, persistent := envelope.Event.(api.EntryAppended); persistent {
		s.anchors.PersistentLastSeq = envelope.Seq
	}
	return s.write("event: " + name + "\nid: " + eventID(s.anchors) + "\ndata: " + data + "\n\n")
}

// updates reports whether an event is one of the host that describes the session.
func updates(event api.Event, sessionID string) bool {
	updated, ok := event.(api.SessionUpdated)
	return ok && updated.Session.ID == sessionID
}

// isGone reports whether an event is one of the host that says that it does not have the session any more.
func isGone(event api.Event, sessionID string) bool {
	switch e := event.(type) {
	case api.SessionMoved:
		return e.ID == sessionID
	case api.SessionDeleted:
		return e.ID == sessionID
	}
	return false
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

// close ends a write that hangs because the client does not read. A refusal is still sent, and so is the
// end after the last event.
func (s *eventStream) close(err error) {
	if s.begun.Load() && !errors.Is(err, errGone) {
		_ = s.control.SetWriteDeadline(time.Unix(1, 0)) // a response without deadlines ends with its request
	}
}
