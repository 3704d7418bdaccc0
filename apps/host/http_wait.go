package host

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
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
	wg.Go(func() { _ = h.serveConn(ctx, far, who.id, who.grants) })
	watch := &turnWatch{key: request.ClientKey, more: make(chan struct{}, 1)}
	c := client.New(near, watch.hear)
	answer, err := watch.run(ctx, c, request)
	cancel()
	_ = c.Close()
	wg.Wait()
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

// turnWatch follows one prompt to the end of its turn.
type turnWatch struct {
	key  string        // clientKey of the prompt
	more chan struct{} // holds one token while there may be events

	mu     sync.Mutex
	events []api.Event

	// Owned by run.
	entryID string
	outcome api.TurnOutcome
	begun   bool // the turn runs, or has run
	over    bool
}

// hear takes the events that matter.
func (t *turnWatch) hear(envelope api.EventEnvelope) {
	switch envelope.Event.(type) {
	case api.EntryAppended, api.TurnStarted, api.TurnEnded:
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
	seen, err := client.Call[api.ResyncEventsResponse](ctx, c, "resync_events", api.ResyncEventsRequest{SessionID: request.SessionID})
	if err != nil {
		return api.TurnAnswer{}, err
	}
	if running := seen.Live.Turn; running != nil && running.ClientKey == t.key {
		t.begun, t.outcome.TurnID = true, running.TurnID
	}
	t.noteAll(seen.Entries)
	sent, err := client.Call[api.SendPromptResponse](ctx, c, "send_prompt", request)
	if err != nil {
		return api.TurnAnswer{}, err
	}
	t.catchUp()
	if sent.State == api.PromptTaken && !t.begun { // it was over before this entry came
		err = t.lookBack(ctx, c, request.SessionID, seen)
	} else {
		err = t.wait(ctx, c)
	}
	return api.TurnAnswer{State: api.PromptTaken, EntryID: t.entryID, Turn: t.outcome}, err
}

func (t *turnWatch) wait(ctx context.Context, c *client.Client) error {
	for !t.over {
		select {
		case <-t.more:
			t.catchUp()
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
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
			t.note(e.Entry)
		case api.TurnStarted:
			if e.Turn.ClientKey == t.key {
				t.begun, t.outcome.TurnID = true, e.Turn.TurnID
			}
		case api.TurnEnded:
			if e.ClientKey == t.key {
				t.begun, t.over = true, true
				t.outcome.TurnID, t.outcome.StopReason, t.outcome.Error = e.TurnID, e.StopReason, e.Error
			}
		}
	}
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

// lookBack finds in the log how a turn of the past ended.
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
	return nil
}
