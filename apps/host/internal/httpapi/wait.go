package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// wantsTurn reports whether a request waits for the end of the turn that it starts.
func wantsTurn(r *http.Request, name string) (bool, *refusal) {
	query := r.URL.Query()
	for key := range query {
		if key != "wait" || name != api.SendPrompt.Name() || query.Get(key) != "turn" {
			return false, refuseWith(http.StatusBadRequest, api.KindBadRequest,
				"%.40q is not allowed in this URL: fields go into the body, and only send_prompt accepts wait=turn", key)
		}
	}
	return len(query) > 0, nil
}

// promptAndWait sends a prompt and answers when its turn has ended. It is a connection of
// its own, which subscribes to the session first, so that it misses nothing. It calls
// release when it no longer needs the body.
func (s *Server) promptAndWait(ctx context.Context, w http.ResponseWriter, who caller, admitted dispatch.Request, release func()) {
	request, refused := dispatch.Decode[api.SendPromptRequest](admitted)
	if refused != nil {
		refuseAPI(refused).write(w)
		return
	}
	admitted.Body = nil
	release() // a turn may take long
	watch := &turnWatch{key: request.ClientKey, session: request.SessionID, more: make(chan struct{}, 1), ends: map[string]api.TurnEnded{}, usages: map[string]*session.Usage{}}
	var answer api.TurnAnswer
	var err error
	ended := s.dispatcher.Run(ctx, who.id, who.grants, watch.outbox, func(ctx context.Context, c *dispatch.Conn) error {
		answer, err = watch.follow(ctx, s.sessions, c, request)
		return err
	})
	if refused := s.refuseEnded(who, ended); err != nil && refused != nil {
		refused.write(w)
		return
	}
	if err != nil {
		refuseError(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// refuseError is for the error of a request: a refusal, or a lost connection.
func refuseError(err error) *refusal {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refuseAPI(refused)
	}
	return refuseAPI(api.Errorf(api.KindUnavailable, "the wait was interrupted: send the same request again, which sends the prompt only once and continues to wait"))
}

// turnWatch follows one prompt to the end of its turn. A steer shares the turn of
// another prompt.
type turnWatch struct {
	key     string        // clientKey of the prompt
	session string        // its id
	more    chan struct{} // holds one token while there may be events

	mu     sync.Mutex
	events []api.Event

	// Owned by follow.
	queued  bool // it was seen in the queue
	entryID string
	outcome api.TurnOutcome
	usages  map[string]*session.Usage // of the turn's messages, by entry
	ends    map[string]api.TurnEnded  // turns that ended in the meantime, by id
	begun   bool                      // the turn is running, or ended in the meantime
	over    bool
	removed bool
	gone    bool // the host has no such session any more
}

func (t *turnWatch) outbox(*dispatch.Conn) dispatch.Outbox { return t }

// Answer is not called: the requests of a turnWatch return their answers.
func (t *turnWatch) Answer([]byte) {}

// Run implements dispatch.Outbox.
func (t *turnWatch) Run(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// Close implements dispatch.Outbox.
func (t *turnWatch) Close(error) {}

// Event keeps the events that matter.
func (t *turnWatch) Event(envelope api.EventEnvelope, _ []byte) {
	switch envelope.Event.(type) {
	case api.EntryAppended, api.TurnStarted, api.TurnEnded, api.QueueChanged:
	default:
		if !isGone(envelope.Event, t.session) {
			return
		}
	}
	t.mu.Lock()
	t.events = append(t.events, envelope.Event)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// follow sends the prompt and waits for the end of its turn.
func (t *turnWatch) follow(ctx context.Context, sessions Sessions, c *dispatch.Conn, request api.SendPromptRequest) (api.TurnAnswer, error) {
	seen, err := dispatch.Call(ctx, c, api.ResyncEvents, request.SessionID, resyncNow(sessions), api.ResyncEventsRequest{SessionID: request.SessionID, Unattended: true})
	if err != nil {
		return api.TurnAnswer{}, err
	}
	t.noteAll(seen.Entries)
	t.queueIs(seen.Live.Queue)
	if running := seen.Live.Turn; running != nil && (running.ClientKey == t.key || t.ours(running.TurnID)) {
		t.begun, t.outcome.TurnID = true, running.TurnID
	}
	sent, err := dispatch.Call(ctx, c, api.SendPrompt, request.SessionID, sessions.SendPrompt, request)
	if err != nil {
		return api.TurnAnswer{}, err
	}
	t.removed = t.removed || sent.State == api.PromptRemoved
	t.catchUp()
	if sent.State == api.PromptTaken && (!t.begun || t.entryID == "" && seen.Before != 0) { // it was taken before this entry came
		err = t.lookBack(ctx, sessions, c, request.SessionID, seen)
	}
	if err == nil {
		err = t.wait(ctx)
	}
	if err == nil && !t.over {
		err = whereabouts(ctx, sessions, c, request.SessionID)
	}
	t.outcome.Usage = t.usage()
	return api.TurnAnswer{State: api.PromptTaken, EntryID: t.entryID, Turn: t.outcome}, err
}

// resyncNow is ResyncEvents for a caller that waits for the answer.
func resyncNow(sessions Sessions) func(context.Context, *dispatch.Conn, api.ResyncEventsRequest) (api.ResyncEventsResponse, error) {
	return func(ctx context.Context, c *dispatch.Conn, r api.ResyncEventsRequest) (api.ResyncEventsResponse, error) {
		replies := make(chan api.ResyncEventsResponse, 1) // the reply may come after the caller left
		if err := sessions.ResyncEvents(ctx, c, r, func(response api.ResyncEventsResponse) { replies <- response }); err != nil {
			return api.ResyncEventsResponse{}, err
		}
		return <-replies, nil
	}
}

// usage is that of all messages of the turn; nil where no provider reported any.
func (t *turnWatch) usage() *session.Usage {
	var sum session.Usage
	for _, id := range slices.Sorted(maps.Keys(t.usages)) { // in one order, so that a cost is always the same
		sum = sum.Plus(t.usages[id])
	}
	if sum == (session.Usage{}) {
		return nil
	}
	return &sum
}

// whereabouts returns the error that requests about a session get that was moved or deleted.
func whereabouts(ctx context.Context, sessions Sessions, c *dispatch.Conn, sessionID string) error {
	_, err := dispatch.Call(ctx, c, api.GetEntries, sessionID, sessions.GetEntries, api.GetEntriesRequest{SessionID: sessionID, Limit: 1})
	if err == nil {
		return api.Errorf(api.KindUnavailable, "the session is not on this device any more: send the same request again")
	}
	return err
}

// wait waits until the turn is over, or the session gone.
func (t *turnWatch) wait(ctx context.Context) error {
	for !t.over && !t.removed && !t.gone {
		select {
		case <-t.more:
			t.catchUp()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if t.removed && !t.gone {
		return api.Errorf(api.KindConflict, "the prompt was removed from the queue before the agent read it: to send it after all, use another clientKey")
	}
	return nil
}

// catchUp takes what event has put there.
func (t *turnWatch) catchUp() {
	t.mu.Lock()
	events := t.events
	t.events = nil
	t.mu.Unlock()
	for _, event := range events {
		switch e := event.(type) {
		case api.EntryAppended:
			known := t.entryID
			t.note(e.Entry)
			t.begun = t.begun || t.entryID != known // a turn takes it now
		case api.QueueChanged:
			t.queueIs(e.Queue)
		case api.TurnStarted:
			if e.Turn.ClientKey == t.key {
				t.begun, t.outcome.TurnID = true, e.Turn.TurnID
			}
		case api.TurnEnded:
			t.ends[e.TurnID] = e
		default:
			t.gone = true
		}
	}
	t.settle()
}

// settle checks whether the turn has ended in the meantime.
func (t *turnWatch) settle() {
	if end, ok := t.ends[t.outcome.TurnID]; ok {
		t.begun, t.over = true, true
		t.outcome.StopReason, t.outcome.Error = end.StopReason, end.Error
	}
}

// queueIs records that the prompt was removed from the queue: it is not in the
// log, which a prompt reaches before it leaves the queue, and no turn has begun for it,
// as one does for a command.
func (t *turnWatch) queueIs(queue []session.QueuedPrompt) {
	waits := slices.ContainsFunc(queue, func(q session.QueuedPrompt) bool { return q.ClientKey == t.key })
	t.removed = t.removed || t.queued && !waits && !t.begun && t.entryID == ""
	t.queued = t.queued || waits
}

func (t *turnWatch) noteAll(entries []session.Entry) {
	for _, entry := range entries {
		t.note(entry)
	}
}

// note records what an entry of the log reports about the turn.
func (t *turnWatch) note(entry session.Entry) {
	switch entry.Type {
	case session.TypeMessage:
		t.noteMessage(entry)
	case session.TypeCompaction: // of a prompt /compact
		if entry.Text("clientKey") == t.key {
			t.entryID, t.outcome.TurnID = entry.ID, entry.Text("turnId")
			t.outcome.StopReason, t.outcome.Text = session.StopEnd, entry.Text("summary")
		}
	case session.TypeCustom:
		custom, _ := entry.AsCustom()
		var record session.TurnRecord
		if custom.CustomType == session.CustomTurn && json.Unmarshal(custom.Data, &record) == nil && t.ours(record.TurnID) {
			t.outcome.StopReason, t.outcome.Error = record.StopReason, record.Error
		}
	}
}

func (t *turnWatch) noteMessage(entry session.Entry) {
	switch turnID := entry.Text("turnId"); entry.Role() {
	case session.RoleUser:
		if entry.Text("clientKey") == t.key {
			t.entryID, t.outcome.TurnID = entry.ID, turnID
		}
	case session.RoleAssistant:
		if message, ok := entry.AsMessage(); ok && t.ours(turnID) {
			t.outcome.Text, t.outcome.AssistantMessageID = message.Message.Content.Plain(), entry.ID
			t.usages[entry.ID] = message.Message.Usage
			t.outcome.StopReason, t.outcome.Error = message.Message.StopReason, message.Message.ErrorMessage
		}
	}
}

func (t *turnWatch) ours(turnID string) bool { return turnID != "" && turnID == t.outcome.TurnID }

// lookBack finds in the log how a turn ended that had begun before; it may still run.
func (t *turnWatch) lookBack(ctx context.Context, sessions Sessions, c *dispatch.Conn, sessionID string, seen api.ResyncEventsResponse) error {
	entries, before := seen.Entries, seen.Before
	for t.entryID == "" && before != 0 {
		page, err := dispatch.Call(ctx, c, api.GetEntries, sessionID, sessions.GetEntries, api.GetEntriesRequest{SessionID: sessionID, Before: before})
		if err != nil {
			return err
		}
		entries, before = append(page.Entries, entries...), page.Before
		t.noteAll(page.Entries)
	}
	t.noteAll(entries) // once more, now that the turn's id is known
	running := seen.Live.Turn
	t.over = running == nil || running.TurnID != t.outcome.TurnID
	t.settle()
	return nil
}
