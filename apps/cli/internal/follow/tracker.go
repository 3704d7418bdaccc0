package follow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// interruptedText is the error of a turn whose outcome is unknown.
const interruptedText = "the host stopped in the middle of this turn; what it did until then is kept"

// tracker converts events and resyncs to calls of a View, each piece once.
type tracker struct {
	key       string // key of our prompt
	view      View
	questions *questions

	sessionID string
	anchors   api.Anchors
	seen      map[string]bool // ids of handled log entries

	turnID  string // turn of our prompt, once it is in the log
	queued  bool   // our prompt was seen in the queue
	running string // key of the prompt whose turn is running; "" when idle

	blocks []session.BlockType // blocks of the streaming message
	shown  []byte              // its text as far as it was shown

	last   session.Message     // last assistant message of our turn
	record *session.TurnRecord // how our turn ended, from the log
	end    *Result             // set once

	movedTo *api.SessionMoved // another device has the session
}

func newTracker(key string, view View, questions *questions) *tracker {
	return &tracker{key: key, view: view, questions: questions, seen: map[string]bool{}}
}

func (t *tracker) ours() bool { return t.running == t.key }

// resync handles the response to resync_events.
func (t *tracker) resync(sessionID string, r api.ResyncEventsResponse) {
	first := t.sessionID == ""
	t.sessionID = sessionID
	if r.Mode == api.ResyncStream {
		t.events(r.Events)
		t.anchors = r.Anchors
		return
	}
	for _, entry := range r.Entries {
		if first { // what preceded our prompt is not news
			t.seen[entry.ID] = true
			continue
		}
		t.event(api.EventEnvelope{SessionID: sessionID, Seq: entry.Seq, Event: api.EntryAppended{Entry: entry}})
	}
	t.anchors = r.Anchors
	t.replaceLive(r.Live)
}

// replaceLive replaces the state of the running turn after lost events.
func (t *tracker) replaceLive(live api.Live) {
	t.running = ""
	if live.Turn != nil {
		t.runs(live.Turn.TurnID, live.Turn.ClientKey)
	}
	t.queueIs(live.Queue)
	t.questions.keep(t.sessionID, openIn(live))
	t.subagentIs(live.Subagents)
	if !t.ours() {
		t.endFromLog()
		return
	}
	t.turnID = live.Turn.TurnID
	t.replacePartial(live.Partial, live.Retry)
	for _, process := range live.Processes {
		t.emit(api.ProcessChanged{Process: process})
	}
	for _, approval := range live.Approvals {
		t.questions.renew(approval)
		if !t.questions.knows(approval.ID) {
			t.emit(api.ApprovalRequested{Approval: approval})
			t.ask(approval.TurnID, request{sessionID: t.sessionID, approval: &approval})
		}
	}
	for _, question := range live.Questions {
		if !t.questions.knows(question.ID) {
			t.emit(api.QuestionAsked{Question: question})
			t.ask(question.TurnID, request{sessionID: t.sessionID, question: &question})
		}
	}
}

// openIn returns the ids of what waits for a person.
func openIn(live api.Live) []string {
	ids := idsOf(live.Approvals)
	for _, question := range live.Questions {
		ids = append(ids, question.ID)
	}
	return ids
}

func idsOf(approvals []api.Approval) []string {
	var ids []string
	for _, approval := range approvals {
		ids = append(ids, approval.ID)
	}
	return ids
}

// learned reports whether anything arrived since before.
func (t *tracker) learned(before api.Anchors) bool {
	return t.anchors.PersistentLastSeq > before.PersistentLastSeq ||
		t.anchors.Epoch == before.Epoch && t.anchors.StreamLastSeq > before.StreamLastSeq
}

// runs records which turn is running. A prompt that was delivered to a running turn is part
// of it.
func (t *tracker) runs(turnID, key string) {
	t.running = key
	if t.turnID != "" && turnID == t.turnID {
		t.running = t.key
	}
}

// removedText is the error of a prompt that never reached the agent.
const removedText = "the prompt was removed from the queue by another client before it ran"

// queueIs ends our prompt if someone removed it from the queue: it is then not in the log,
// which a prompt reaches before it leaves the queue.
func (t *tracker) queueIs(queue []session.QueuedPrompt) {
	for _, q := range queue {
		if q.ClientKey == t.key {
			t.queued = true
			return
		}
	}
	if t.queued && t.turnID == "" && t.end == nil {
		t.finish(session.StopError, removedText)
	}
}

func (t *tracker) replacePartial(partial []api.PartialBlock, retry *api.ModelRetry) {
	t.blocks = nil
	if len(partial) == 0 && len(t.shown) == 0 && retry == nil {
		return
	}
	t.emit(api.MessageReset{Reason: "the connection was lost", Retry: retry})
	var text strings.Builder
	for i, block := range partial {
		t.blocks = append(t.blocks, block.Type)
		t.emit(api.BlockStarted{Index: i, Block: block.Type, ID: block.ID, Name: block.Name})
		t.emit(api.BlockDelta{Index: i, Delta: block.Text})
		if block.Type == session.BlockText {
			text.WriteString(block.Text)
		}
	}
	t.catchUp(text.String())
}

// emit passes an event without a seq to the view.
func (t *tracker) emit(event api.Event) {
	t.view.Event(api.EventEnvelope{SessionID: t.sessionID, Event: event})
}

// endFromLog ends our turn if the host no longer runs it: its last event was lost with a
// connection or with the host.
func (t *tracker) endFromLog() {
	if t.turnID == "" || t.end != nil {
		return
	}
	switch {
	case t.record != nil:
		t.finish(t.record.StopReason, t.record.Error)
	case t.last.StopReason == "" || t.last.StopReason == session.StopToolUse:
		t.finish(session.StopError, interruptedText)
	default:
		t.finish(t.last.StopReason, t.last.ErrorMessage)
	}
}

func (t *tracker) finish(reason session.StopReason, message string) {
	t.end = &Result{StopReason: reason, Error: message, Text: t.last.Content.Plain()}
}

// events handles events in the order of their arrival.
func (t *tracker) events(events []api.EventEnvelope) {
	for _, event := range events {
		if moved, ok := event.Event.(api.SessionMoved); ok && moved.ID == t.sessionID {
			t.movedTo = &moved
		}
		if event.SessionID != t.sessionID || event.Seq <= t.anchors.StreamLastSeq || t.end != nil {
			continue // an event of the host, or known from the resync
		}
		t.anchors.StreamLastSeq = event.Seq
		t.event(event)
	}
}

func (t *tracker) event(envelope api.EventEnvelope) {
	if appended, ok := envelope.Event.(api.EntryAppended); ok {
		t.entry(envelope, appended.Entry)
		return
	}
	t.view.Event(envelope)
	switch e := envelope.Event.(type) {
	case api.TurnStarted:
		t.running = e.Turn.ClientKey
	case api.TurnEnded:
		t.running = ""
		if e.ClientKey == t.key || t.turnID != "" && e.TurnID == t.turnID {
			t.finish(e.StopReason, e.Error)
		}
	case api.QueueChanged:
		t.queueIs(e.Queue)
	case api.ApprovalRequested:
		t.questions.renew(e.Approval)
		t.ask(e.Approval.TurnID, request{sessionID: t.sessionID, approval: &e.Approval})
	case api.QuestionAsked:
		t.ask(e.Question.TurnID, request{sessionID: t.sessionID, question: &e.Question})
	case api.QuestionAnswered:
		if t.questions.isAsking(e.QuestionID) {
			t.view.Notice(Told(e.AnsweredBy, e.Outcome, e.Answer))
		}
		t.questions.resolved(e.QuestionID)
	case api.ApprovalResolved:
		if e.Released != nil && t.questions.isAsking(e.ApprovalID) {
			t.view.Notice(letGo(e.DecidedBy, e.Released))
		}
		t.questions.resolved(e.ApprovalID)
	case api.SubagentUpdated:
		t.childIs(e.Child)
	default:
		t.partial(e)
	}
}

// partial handles the events of a streaming message.
func (t *tracker) partial(event api.Event) {
	switch e := event.(type) {
	case api.MessageStarted:
		t.breakOff()
	case api.MessageReset:
		t.breakOff()
		if t.ours() && e.Retry != nil {
			t.view.Notice(retrying(e.Retry))
		}
	case api.BlockStarted:
		if e.Index == len(t.blocks) {
			t.blocks = append(t.blocks, e.Block)
		}
	case api.BlockDelta:
		if t.ours() && e.Index >= 0 && e.Index < len(t.blocks) && t.blocks[e.Index] == session.BlockText {
			t.show(e.Delta)
		}
	}
}

// retrying says why the model is called again, and when.
func retrying(r *api.ModelRetry) string {
	when := "now"
	if s := (r.DelayMS + 999) / 1000; s > 0 {
		when = fmt.Sprintf("in %d s", s)
	}
	return fmt.Sprintf("%s Trying again %s (attempt %d of %d).", r.Reason, when, r.Attempt, r.Attempts)
}

// breakOff discards the streaming message.
func (t *tracker) breakOff() {
	t.blocks = nil
	if len(t.shown) > 0 {
		t.shown = nil
		t.view.EndMessage(true)
	}
}

func (t *tracker) ask(turnID string, r request) {
	if turnID == t.turnID && t.turnID != "" {
		t.questions.add(r)
	}
}

// entry handles a log entry, from an event or from a resync.
func (t *tracker) entry(envelope api.EventEnvelope, entry session.Entry) {
	if t.seen[entry.ID] {
		return
	}
	t.seen[entry.ID] = true
	t.anchors.PersistentLastSeq = max(t.anchors.PersistentLastSeq, entry.Seq)
	t.view.Event(envelope)
	if custom, ok := entry.AsCustom(); ok && custom.CustomType == session.CustomTurn {
		t.turnRecord(custom)
	}
	message, ok := entry.AsMessage()
	if !ok {
		return
	}
	switch {
	case message.Message.Role == session.RoleUser && message.ClientKey == t.key:
		t.turnID = message.TurnID
		t.running = t.key
	case t.turnID != "" && message.TurnID == t.turnID:
		t.message(message.Message)
	case message.Message.Role == session.RoleUser:
		t.running = message.ClientKey
	}
}

// turnRecord records how our turn ended. A record by a restarted host of an older version names no
// turn: it refers to the last turn in the log.
func (t *tracker) turnRecord(entry session.CustomEntry) {
	var record session.TurnRecord
	if json.Unmarshal(entry.Data, &record) != nil {
		return
	}
	if t.turnID != "" && (record.TurnID == t.turnID || t.ours()) {
		t.record = &record
	}
}

// message handles a finished message of our turn.
func (t *tracker) message(m session.Message) {
	switch m.Role {
	case session.RoleAssistant:
		t.last = m
		t.catchUp(m.Content.Plain())
		if len(t.shown) > 0 {
			t.view.EndMessage(false)
		}
		t.blocks, t.shown = nil, nil
		for _, call := range m.Content.ToolCalls() {
			t.view.ToolCall(call)
		}
	case session.RoleToolResult:
		t.view.ToolResult(m)
	}
}

// catchUp displays the missing rest of a message whose whole text is known.
func (t *tracker) catchUp(text string) {
	if !bytes.HasPrefix([]byte(text), t.shown) {
		t.shown = nil
		t.view.EndMessage(true)
	}
	t.show(text[len(t.shown):])
}

func (t *tracker) show(piece string) {
	if piece != "" {
		t.shown = append(t.shown, piece...)
		t.view.Text(piece)
	}
}
