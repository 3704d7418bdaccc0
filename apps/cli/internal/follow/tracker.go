package follow

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// interruptedText is the error of a turn of which nobody knows how it ended.
const interruptedText = "the host stopped in the middle of this turn; what it did until then is kept"

// tracker turns events and resyncs into calls of a View, each piece once.
type tracker struct {
	key       string // of our prompt
	view      View
	questions *questions

	sessionID string
	anchors   api.Anchors
	seen      map[string]bool // ids of the log entries that were handled

	turnID  string // of our prompt, once it is in the log
	queued  bool   // our prompt was seen in the queue
	running string // key of the prompt whose turn runs; "" when idle

	blocks []session.BlockType // of the message that streams
	shown  []byte              // its text as far as it was shown

	last   session.Message     // the last assistant message of our turn
	record *session.TurnRecord // how our turn ended, from the log
	end    *Result             // set once
}

func newTracker(key string, view View, questions *questions) *tracker {
	return &tracker{key: key, view: view, questions: questions, seen: map[string]bool{}}
}

func (t *tracker) ours() bool { return t.running == t.key }

// resync takes the answer to resync_events.
func (t *tracker) resync(sessionID string, r api.ResyncEventsResponse) {
	first := t.sessionID == ""
	t.sessionID = sessionID
	if r.Mode == api.ResyncStream {
		t.events(r.Events)
		t.anchors = r.Anchors
		return
	}
	for _, entry := range r.Entries {
		if first { // what was before our prompt is not news
			t.seen[entry.ID] = true
			continue
		}
		t.event(api.EventEnvelope{SessionID: sessionID, Seq: entry.Seq, Event: api.EntryAppended{Entry: entry}})
	}
	t.anchors = r.Anchors
	t.replaceLive(r.Live)
}

// replaceLive takes the running turn as the host knows it in place of what the
// lost events would have told.
func (t *tracker) replaceLive(live api.Live) {
	t.running = ""
	if live.Turn != nil {
		t.runs(live.Turn.TurnID, live.Turn.ClientKey)
	}
	t.queueIs(live.Queue)
	t.questions.keep(t.sessionID, openIn(live))
	t.crewIs(live.Crew)
	if !t.ours() {
		t.endFromLog()
		return
	}
	t.turnID = live.Turn.TurnID
	t.replacePartial(live.Partial)
	for _, process := range live.Processes {
		t.emit(api.ProcessChanged{Process: process})
	}
	for _, approval := range live.Approvals {
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

// openIn names what waits for a person.
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

// runs notes which turn runs. A prompt that was given to a running turn is part of it.
func (t *tracker) runs(turnID, key string) {
	t.running = key
	if t.turnID != "" && turnID == t.turnID {
		t.running = t.key
	}
}

// removedText is the error of a prompt that never reached the agent.
const removedText = "the prompt was removed from the queue on another entry before the agent took it"

// queueIs ends our prompt where somebody took it out of the queue: it is not in the
// log, which a prompt reaches before it leaves the queue.
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

func (t *tracker) replacePartial(partial []api.PartialBlock) {
	t.blocks = nil
	if len(partial) == 0 && len(t.shown) == 0 {
		return
	}
	t.emit(api.MessageReset{Reason: "the connection was lost"})
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

// emit hands an event without a seq to the view.
func (t *tracker) emit(event api.Event) {
	t.view.Event(api.EventEnvelope{SessionID: t.sessionID, Event: event})
}

// endFromLog ends our turn when the host does not run it any more: its last event
// was lost with a connection or with the host.
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

// events takes events as they come over a connection.
func (t *tracker) events(events []api.EventEnvelope) {
	for _, event := range events {
		if event.SessionID != t.sessionID || event.Seq <= t.anchors.StreamLastSeq || t.end != nil {
			continue // of the host, or known from the resync
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
		t.ask(e.Approval.TurnID, request{sessionID: t.sessionID, approval: &e.Approval})
	case api.QuestionAsked:
		t.ask(e.Question.TurnID, request{sessionID: t.sessionID, question: &e.Question})
	case api.QuestionAnswered:
		if t.questions.isAsking(e.QuestionID) {
			t.view.Notice(told(e.AnsweredBy, e.Outcome, e.Answer))
		}
		t.questions.resolved(e.QuestionID)
	case api.ApprovalResolved:
		if e.Released != nil && t.questions.isAsking(e.ApprovalID) {
			t.view.Notice(letGo(e.DecidedBy, e.Released))
		}
		t.questions.resolved(e.ApprovalID)
	case api.CrewUpdated:
		t.childIs(e.Child)
	default:
		t.partial(e)
	}
}

// partial takes the events of a message that streams.
func (t *tracker) partial(event api.Event) {
	switch e := event.(type) {
	case api.MessageStarted:
		t.breakOff()
	case api.MessageReset:
		t.breakOff()
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

// breakOff forgets the message that streams.
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

// entry takes a log entry, from an event or from a resync.
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

// turnRecord keeps how our turn ended. A host that crashed names no turn in it:
// it is about the turn that was the last one in the log.
func (t *tracker) turnRecord(entry session.CustomEntry) {
	var record session.TurnRecord
	if json.Unmarshal(entry.Data, &record) != nil {
		return
	}
	if t.turnID != "" && (record.TurnID == t.turnID || t.ours()) {
		t.record = &record
	}
}

// message takes a finished message of our turn.
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

// catchUp shows what is missing of a message whose whole text is known.
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
