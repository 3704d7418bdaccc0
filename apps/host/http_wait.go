package host

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// wantsTurn tells whether a request waits for the end of the turn that it starts.
func wantsTurn(r *http.Request, name string) (bool, *refusal) {
	query := r.URL.Query()
	for key := range query {
		if key != "wait" || name != "send_prompt" || query.Get(key) != "turn" {
			return false, refuseWith(http.StatusBadRequest, api.KindBadRequest,
				"%.40q cannot stand in this URL: fields go into the body, and only send_prompt takes wait=turn", key)
		}
	}
	return len(query) > 0, nil
}

// promptAndWait sends a prompt and answers when its turn has ended. It is an entry
// of its own, which watches the session first, so that it misses nothing.
func (h *Host) promptAndWait(ctx context.Context, w http.ResponseWriter, who caller, body []byte) {
	var request api.SendPromptRequest
	if err := json.Unmarshal(body, &request); err != nil {
		refuseError(badField(err)).write(w)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	near, far := newPipe()
	var wg sync.WaitGroup
	var ended error // why, when wg is done
	wg.Go(func() { ended = h.serveConn(ctx, far, who.id, who.grants) })
	watch := &turnWatch{key: request.ClientKey, more: make(chan struct{}, 1), ends: map[string]api.TurnEnded{}}
	c := client.New(near, watch.hear)
	answer, err := watch.run(ctx, c, request)
	cancel()
	_ = c.Close()
	wg.Wait()
	if refused := h.refuseEnded(who, ended); err != nil && refused != nil {
		refused.write(w)
		return
	}
	if err != nil {
		refuseError(err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// refuseError is for errors of a client: a refusal, or a lost connection.
func refuseError(err error) *refusal {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refuseAPI(refused)
	}
	return refuseAPI(api.Errorf(api.KindUnavailable, "the wait was cut off: send the same request again, which sends the prompt once and goes on waiting"))
}

// turnWatch follows one prompt to the end of its turn. A steer shares the turn of
// another prompt.
type turnWatch struct {
	key  string        // clientKey of the prompt
	more chan struct{} // holds one token while there may be events

	mu     sync.Mutex
	events []api.Event

	// Owned by run.
	queued  bool // it was seen in the queue
	entryID string
	outcome api.TurnOutcome
	ends    map[string]api.TurnEnded // turns that ended meanwhile, by id
	begun   bool                     // the turn runs, or ended meanwhile
	over    bool
	removed bool
}

// hear takes the events that matter.
func (t *turnWatch) hear(envelope api.EventEnvelope) {
	switch envelope.Event.(type) {
	case api.EntryAppended, api.TurnStarted, api.TurnEnded, api.QueueChanged:
	default:
		return
	}
	t.mu.Lock()
	t.events = append(t.events, envelope.Event)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
}

func (t *turnWatch) run(ctx context.Context, c *client.Client, request api.SendPromptRequest) (api.TurnAnswer, error) {
	seen, err := client.Call[api.ResyncEventsResponse](ctx, c, "resync_events", api.ResyncEventsRequest{SessionID: request.SessionID, Unattended: true})
	if err != nil {
		return api.TurnAnswer{}, err
	}
	t.noteAll(seen.Entries)
	t.queueIs(seen.Live.Queue)
	if running := seen.Live.Turn; running != nil && (running.ClientKey == t.key || t.ours(running.TurnID)) {
		t.begun, t.outcome.TurnID = true, running.TurnID
	}
	sent, err := client.Call[api.SendPromptResponse](ctx, c, "send_prompt", request)
	if err != nil {
		return api.TurnAnswer{}, err
	}
	t.removed = t.removed || sent.State == api.PromptRemoved
	t.catchUp()
	if sent.State == api.PromptTaken && !t.begun { // it was taken before this entry came
		err = t.lookBack(ctx, c, request.SessionID, seen)
	}
	if err == nil {
		err = t.wait(ctx, c)
	}
	return api.TurnAnswer{State: api.PromptTaken, EntryID: t.entryID, Turn: t.outcome}, err
}

func (t *turnWatch) wait(ctx context.Context, c *client.Client) error {
	for !t.over && !t.removed {
		select {
		case <-t.more:
			t.catchUp()
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if t.removed {
		return api.Errorf(api.KindConflict, "the prompt was removed from the queue before the agent took it: send it with another clientKey if it is wanted after all")
	}
	return nil
}

// catchUp takes what hear has put there.
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
		}
	}
	t.settle()
}

// settle looks whether the turn has ended meanwhile.
func (t *turnWatch) settle() {
	if end, ok := t.ends[t.outcome.TurnID]; ok {
		t.begun, t.over = true, true
		t.outcome.StopReason, t.outcome.Error = end.StopReason, end.Error
	}
}

// queueIs notes that somebody took the prompt out of the queue: it is not in the
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

// note takes from an entry of the log what it tells of the turn.
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
			t.outcome.Text = message.Message.Content.Plain()
			t.outcome.StopReason, t.outcome.Error = message.Message.StopReason, message.Message.ErrorMessage
		}
	}
}

func (t *turnWatch) ours(turnID string) bool { return turnID != "" && turnID == t.outcome.TurnID }

// lookBack finds in the log how a turn ended that had begun before; it may still run.
func (t *turnWatch) lookBack(ctx context.Context, c *client.Client, sessionID string, seen api.ResyncEventsResponse) error {
	entries, before := seen.Entries, seen.Before
	for t.entryID == "" && before != 0 {
		page, err := client.Call[api.GetEntriesResponse](ctx, c, "get_entries", api.GetEntriesRequest{SessionID: sessionID, Before: before})
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
