//go:build unix

package host_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// patience is how long anything may take on a slow machine.
const patience = 30 * time.Second

// witness is an entry that outlives hosts: it keeps what it saw and what it was
// promised, and goes to the next host with its anchors.
type witness struct {
	t         *testing.T
	sessionID string

	sent     []api.SendPromptRequest // each key once
	accepted map[string]bool         // keys that a host answered for
	answered map[string]bool         // approvals that it answered or canceled, whether or not that came through
	edited   bool                    // the answer to its edit of the queue came
	c        *client.Client
	dead     bool // the host is gone

	mu      sync.Mutex
	changed *sync.Cond
	synced  bool                // the answer to resync_events was taken
	held    []api.EventEnvelope // that came before
	lost    *bool               // the connection ended; each has its own
	entries []session.Entry
	live    api.Live
	anchors api.Anchors
	waiting map[string]bool // approvals that were shown, and no decision
	asked   map[string]bool // questions that were shown, and no answer was tried
	ended   map[string]int  // turn_ended by clientKey
}

func newWitness(t *testing.T, sessionID string) *witness {
	w := &witness{
		t: t, sessionID: sessionID, accepted: map[string]bool{}, answered: map[string]bool{},
		live: api.NewLive(), waiting: map[string]bool{}, asked: map[string]bool{}, ended: map[string]int{},
	}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// connect goes to the host of a home and catches up.
func (w *witness) connect(home string) {
	w.t.Helper()
	lost := new(bool)
	w.mu.Lock()
	w.synced, w.held, w.lost, w.dead = false, nil, lost, false
	anchors := w.anchors
	w.mu.Unlock()
	state, err := host.ReadState(home)
	if err != nil {
		w.dead = true
		return
	}
	transport, err := client.DialDirect(w.t.Context(), state.Addr, state.Token)
	if err != nil {
		w.dead = true
		return
	}
	c := client.New(transport, w.hear)
	w.c = c
	go func() {
		<-c.Done()
		w.mu.Lock()
		*lost = true
		w.mu.Unlock()
		w.changed.Broadcast()
	}()
	w.t.Cleanup(func() { _ = c.Close() })
	if w.sessionID == "" { // it makes one
		return
	}
	r, ok := tell(w, api.ResyncEvents, api.ResyncEventsRequest{SessionID: w.sessionID, Anchors: anchors})
	if ok {
		w.take(r)
	}
}

// tell sends a request; false where the host died first.
func tell[Request, Response any](w *witness, to api.Definition[Request, Response], request Request) (Response, bool) {
	w.t.Helper()
	var none Response
	if w.dead {
		return none, false
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	response, err := client.Call(ctx, w.c, to, request)
	var refused *api.Error
	if errors.As(err, &refused) || ctx.Err() != nil {
		w.t.Fatalf("%s: %v", to.Name(), err)
	}
	if err != nil {
		w.dead = true
		return none, false
	}
	return response, true
}

func sameLine(a, b session.Entry) bool { return bytes.Equal(a.Raw, b.Raw) }

// take applies the answer to resync_events, and what came after it was made.
func (w *witness) take(r api.ResyncEventsResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Mode {
	case api.ResyncPersistent:
		w.entries = append(w.entries, r.Entries...)
	case api.ResyncFull:
		if seen := w.entries; len(seen) > len(r.Entries) || !slices.EqualFunc(seen, r.Entries[:len(seen)], sameLine) {
			w.t.Errorf("%d entries were seen before, and are not how the log begins now", len(seen))
		}
		w.entries = r.Entries
	}
	w.live, w.anchors, w.synced = r.Live, r.Anchors, true
	for _, a := range r.Live.Approvals {
		w.waiting[a.ID] = true
	}
	for _, q := range r.Live.Questions {
		w.asked[q.ID] = true
	}
	for _, envelope := range w.held {
		w.apply(envelope)
	}
	w.changed.Broadcast()
}

func (w *witness) hear(envelope api.EventEnvelope) {
	if envelope.SessionID != w.sessionID {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.synced {
		w.held = append(w.held, envelope)
		return
	}
	w.apply(envelope)
	w.changed.Broadcast()
}

func (w *witness) apply(envelope api.EventEnvelope) {
	if envelope.Seq != w.anchors.StreamLastSeq+1 {
		w.t.Errorf("event %d follows %d", envelope.Seq, w.anchors.StreamLastSeq)
	}
	w.anchors.StreamLastSeq = envelope.Seq
	w.live.Apply(envelope.Event)
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		w.entries = append(w.entries, e.Entry)
		w.anchors.PersistentLastSeq = envelope.Seq
	case api.ApprovalRequested:
		w.waiting[e.Approval.ID] = true
	case api.ApprovalResolved:
		delete(w.waiting, e.ApprovalID)
	case api.QuestionAsked:
		w.asked[e.Question.ID] = true
	case api.QuestionAnswered:
		delete(w.asked, e.QuestionID)
	case api.TurnEnded:
		w.ended[e.ClientKey]++
	}
}

// until waits for what must come; false where the host died first.
func (w *witness) until(what string, reached func() bool) bool {
	w.t.Helper()
	if w.dead {
		return false
	}
	late := false
	timer := time.AfterFunc(patience, func() {
		w.mu.Lock()
		late = true
		w.mu.Unlock()
		w.changed.Broadcast()
	})
	defer timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !reached() {
		if *w.lost {
			w.dead = true
			return false
		}
		if late {
			w.t.Fatalf("waiting in vain for: %s; the session is %+v", what, w.live)
		}
		w.changed.Wait()
	}
	return true
}

// prompt sends a prompt, or sends it again.
func (w *witness) prompt(request api.SendPromptRequest) {
	w.t.Helper()
	if w.dead {
		return
	}
	request.SessionID = w.sessionID
	if !slices.ContainsFunc(w.sent, func(r api.SendPromptRequest) bool { return r.ClientKey == request.ClientKey }) {
		w.sent = append(w.sent, request)
	}
	if _, ok := tell(w, api.SendPrompt, request); ok {
		w.accepted[request.ClientKey] = true
	}
}

// answer waits for the next approval and answers it.
func (w *witness) answer(decision api.Decision, feedback string) {
	w.t.Helper()
	var id string
	ok := w.until("an approval", func() bool {
		i := slices.IndexFunc(w.live.Approvals, func(a api.Approval) bool { return !w.answered[a.ID] })
		if i >= 0 {
			id = w.live.Approvals[i].ID
		}
		return i >= 0
	})
	if !ok {
		return
	}
	w.answered[id] = true
	tell(w, api.AnswerApproval, api.AnswerApprovalRequest{
		SessionID: w.sessionID, ApprovalID: id, Decision: decision, Feedback: feedback,
	})
}

// cancel cancels the running turn.
func (w *witness) cancel() {
	w.t.Helper()
	turnID := ""
	w.until("a turn", func() bool {
		if w.live.Turn != nil {
			turnID = w.live.Turn.TurnID
		}
		return turnID != ""
	})
	w.mu.Lock()
	maps.Copy(w.answered, w.waiting)
	clear(w.asked)
	w.mu.Unlock()
	tell(w, api.CancelTurn, api.CancelTurnRequest{SessionID: w.sessionID, TurnID: turnID})
}

func (w *witness) untilEnded(key string) {
	w.t.Helper()
	w.until("the end of the turn of "+key, func() bool { return w.ended[key] > 0 })
}

// idle is for until.
func (w *witness) idle() bool {
	return w.live.Turn == nil && len(w.live.Queue) == 0 && w.live.Work == nil
}
