package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Event is something that happened. EventType is its "type" on the wire.
//
// Events of a session have a seq, one increasing series for persistent
// (entry_appended) and transient events. An entry applies them as follows:
//
//	entry_appended       append; an assistant message clears the partial and the
//	                     retry, a tool result removes its running tool
//	message_started      the partial and the retry are cleared
//	block_started        a block is added to the partial at index; the retry is cleared
//	block_delta          its text, thinking or arguments grow
//	message_reset        the partial is cleared: the attempt failed and is retried;
//	                     the retry is replaced
//	tool_started, tool_output            running tools
//	process_event        an operation is added or replaced by id; the entry with its
//	                     record removes it
//	approval_requested, approval_resolved  approvals
//	question_asked, question_answered    questions
//	attendance_changed   whether anyone who may answer is watching
//	queue_changed        the queue is replaced
//	turn_started, turn_cancelling, turn_ended   the turn; its end clears partial,
//	                     retry, tools, approvals, questions and subagents
//	crew_started, crew_updated, crew_ended   the subagents of a call
//	work_started, work_ended   what the host does between turns
type Event interface{ EventType() string }

// Events of one session.
type (
	EntryAppended struct {
		Entry session.Entry `json:"entry"`
	}
	TurnStarted struct {
		Turn Turn `json:"turn"`
	}
	TurnCancelling struct {
		TurnID string `json:"turnId"`
	}
	// TurnEnded is the one terminal event of every accepted prompt.
	TurnEnded struct {
		TurnID     string             `json:"turnId"`
		ClientKey  string             `json:"clientKey"`
		StopReason session.StopReason `json:"stopReason"`
		Error      string             `json:"error,omitempty"`
	}
	MessageStarted struct{}
	MessageReset   struct {
		Reason string `json:"reason"`
		// Retry is set if the call is made again after a pause; absent from older hosts.
		Retry *ModelRetry `json:"retry,omitempty"`
	}
	BlockStarted struct {
		Index int               `json:"index"`
		Block session.BlockType `json:"block"`
		ID    string            `json:"id,omitempty"`   // toolCall
		Name  string            `json:"name,omitempty"` // toolCall
	}
	// BlockDelta extends a block: its text, its thinking, or the JSON text of its
	// arguments.
	BlockDelta struct {
		Index int    `json:"index"`
		Delta string `json:"delta"`
	}
	ToolStarted struct {
		ToolCallID string `json:"toolCallId"`
		ToolName   string `json:"toolName"`
	}
	ToolOutput struct {
		ToolCallID string `json:"toolCallId"`
		Delta      string `json:"delta"`
	}
	// ProcessChanged carries the latest progress of an operation. Of several within
	// a short interval only the last is sent.
	ProcessChanged struct {
		Process Process `json:"process"`
	}
	ApprovalRequested struct {
		Approval Approval `json:"approval"`
	}
	ApprovalResolved struct {
		ApprovalID string   `json:"approvalId"`
		Decision   Decision `json:"decision"`
		DecidedBy  string   `json:"decidedBy"` // client id, token id, or "host"
		Feedback   string   `json:"feedback,omitempty"`
		Rules      []string `json:"rules,omitempty"` // rules added with "always"
		// Released is set if a rule or mode allowed the call before anyone
		// answered; decidedBy is then whoever changed that, or "host" after a
		// restart.
		Released *session.Release `json:"released,omitempty"`
	}
	QuestionAsked struct {
		Question Question `json:"question"`
	}
	QuestionAnswered struct {
		QuestionID string          `json:"questionId"`
		Outcome    QuestionOutcome `json:"outcome"`
		Answer     string          `json:"answer,omitempty"`
		AnsweredBy string          `json:"answeredBy"` // client id, token id, or "host"
	}
	// AttendanceChanged reports, while an approval or a question waits, whether
	// anyone who is watching may answer it.
	AttendanceChanged struct {
		Unattended bool `json:"unattended"`
	}
	QueueChanged struct {
		Queue []session.QueuedPrompt `json:"queue"`
	}
	// SubagentStarted reports that a call has delegated tasks to subagents.
	SubagentStarted struct {
		Batch SubagentBatch `json:"batch"`
	}
	// SubagentUpdated replaces one child of a batch.
	SubagentUpdated struct {
		ToolCallID string        `json:"toolCallId"`
		Index      int           `json:"index"`
		Child      SubagentChild `json:"child"`
	}
	// SubagentEnded removes a batch; its outcome is in the log too.
	SubagentEnded struct {
		Members    []session.SubagentMember `json:"members,omitempty"` // in the order of the tasks; absent from older hosts
		ToolCallID string                   `json:"toolCallId"`
	}
	WorkStarted struct {
		Work Work `json:"work"`
	}
	// WorkEnded ends the work; Error is for people and empty on success.
	WorkEnded struct {
		Kind  WorkKind `json:"kind"`
		Error string   `json:"error,omitempty"`
	}
)

// Events of the host have no seq; every connection with the view grant gets them.
type (
	ProjectsChanged struct {
		Projects []Project `json:"projects"`
	}
	SessionUpdated struct {
		Session SessionSummary `json:"session"`
	}
	SessionDeleted struct {
		ID string `json:"id"`
	}
	ClientsChanged struct{}
	// RulesChanged reports that rules were added or removed; list_rules lists them.
	RulesChanged struct{}
	// ModelsChanged reports that the key of a provider changed, and with it perhaps the
	// models; list_providers and get_host describe them.
	ModelsChanged struct{}
	// AgentsChanged reports that agent definitions, or which of them may be used,
	// changed; list_agents lists them.
	AgentsChanged struct{}
	// SkillsChanged reports that a skill was disabled or enabled; list_skills lists them.
	SkillsChanged struct{}
	// MemoryChanged reports that a note was saved or deleted; list_memory lists the
	// notes.
	MemoryChanged struct{}
	// MCPServersChanged reports a decision about a server of a project or about the
	// trust of its folder.
	MCPServersChanged struct {
		ProjectID string `json:"projectId"`
	}
	// HooksChanged reports a decision about a hook of a project or about the trust of its
	// folder.
	HooksChanged struct {
		ProjectID string `json:"projectId"`
	}
	// SchedulesChanged reports a change of the schedules of a project or of their runs.
	SchedulesChanged struct {
		ProjectID string `json:"projectId"`
	}
	// ExtensionsChanged reports that an extension was added, replaced, removed, enabled or
	// disabled, or a decision about one; list_extensions lists them.
	ExtensionsChanged struct{}
	// ChannelsChanged reports a change of the channels, their states or their chats;
	// list_channels lists them.
	ChannelsChanged struct{}
	// UnknownEvent is an event of a newer host, kept as received.
	UnknownEvent struct {
		Name string          `json:"-"`
		Raw  json.RawMessage `json:"-"`
	}
)

func (EntryAppended) EventType() string     { return "entry_appended" }
func (TurnStarted) EventType() string       { return "turn_started" }
func (TurnCancelling) EventType() string    { return "turn_cancelling" }
func (TurnEnded) EventType() string         { return "turn_ended" }
func (MessageStarted) EventType() string    { return "message_started" }
func (MessageReset) EventType() string      { return "message_reset" }
func (BlockStarted) EventType() string      { return "block_started" }
func (BlockDelta) EventType() string        { return "block_delta" }
func (ToolStarted) EventType() string       { return "tool_started" }
func (ToolOutput) EventType() string        { return "tool_output" }
func (ProcessChanged) EventType() string    { return "process_event" }
func (ApprovalRequested) EventType() string { return "approval_requested" }
func (ApprovalResolved) EventType() string  { return "approval_resolved" }
func (QuestionAsked) EventType() string     { return "question_asked" }
func (QuestionAnswered) EventType() string  { return "question_answered" }
func (AttendanceChanged) EventType() string { return "attendance_changed" }
func (QueueChanged) EventType() string      { return "queue_changed" }
func (SubagentStarted) EventType() string   { return "crew_started" }
func (SubagentUpdated) EventType() string   { return "crew_updated" }
func (SubagentEnded) EventType() string     { return "crew_ended" }
func (WorkStarted) EventType() string       { return "work_started" }
func (WorkEnded) EventType() string         { return "work_ended" }
func (ProjectsChanged) EventType() string   { return "projects_changed" }
func (SessionUpdated) EventType() string    { return "session_updated" }
func (SessionDeleted) EventType() string    { return "session_deleted" }
func (ClientsChanged) EventType() string    { return "clients_changed" }
func (RulesChanged) EventType() string      { return "rules_changed" }
func (ModelsChanged) EventType() string     { return "models_changed" }
func (AgentsChanged) EventType() string     { return "agents_changed" }
func (SkillsChanged) EventType() string     { return "skills_changed" }
func (MemoryChanged) EventType() string     { return "memory_changed" }
func (MCPServersChanged) EventType() string { return "mcp_servers_changed" }
func (HooksChanged) EventType() string      { return "hooks_changed" }
func (SchedulesChanged) EventType() string  { return "schedules_changed" }
func (ExtensionsChanged) EventType() string { return "extensions_changed" }
func (ChannelsChanged) EventType() string   { return "channels_changed" }
func (e UnknownEvent) EventType() string    { return e.Name }

// eventDefinition is one event: its name on the wire, its zero value, and its
// decoder.
type eventDefinition struct {
	name   string
	zero   Event
	decode func(data []byte) (Event, error)
}

// defineEvent defines an event. A name is never reused for another event.
func defineEvent[T Event]() eventDefinition {
	var zero T
	return eventDefinition{zero.EventType(), zero, func(data []byte) (Event, error) {
		var event T
		err := exactjson.Unmarshal(data, &event)
		return event, err
	}}
}

// events lists every event of this version.
var events = []eventDefinition{
	defineEvent[EntryAppended](),
	defineEvent[TurnStarted](),
	defineEvent[TurnCancelling](),
	defineEvent[TurnEnded](),
	defineEvent[MessageStarted](),
	defineEvent[MessageReset](),
	defineEvent[BlockStarted](),
	defineEvent[BlockDelta](),
	defineEvent[ToolStarted](),
	defineEvent[ToolOutput](),
	defineEvent[ProcessChanged](),
	defineEvent[ApprovalRequested](),
	defineEvent[ApprovalResolved](),
	defineEvent[QuestionAsked](),
	defineEvent[QuestionAnswered](),
	defineEvent[AttendanceChanged](),
	defineEvent[QueueChanged](),
	defineEvent[SubagentStarted](),
	defineEvent[SubagentUpdated](),
	defineEvent[SubagentEnded](),
	defineEvent[WorkStarted](),
	defineEvent[WorkEnded](),
	defineEvent[ProjectsChanged](),
	defineEvent[SessionUpdated](),
	defineEvent[SessionDeleted](),
	defineEvent[SessionMoved](),
	defineEvent[ClientsChanged](),
	defineEvent[RulesChanged](),
	defineEvent[ModelsChanged](),
	defineEvent[AgentsChanged](),
	defineEvent[MemoryChanged](),
	defineEvent[MCPServersChanged](),
	defineEvent[TerminalOutput](),
	defineEvent[TerminalChanged](),
	defineEvent[TerminalsChanged](),
	defineEvent[PathsChanged](),
	defineEvent[SkillsChanged](),
	defineEvent[HooksChanged](),
	defineEvent[SchedulesChanged](),
	defineEvent[ExtensionsChanged](),
	defineEvent[ChannelsChanged](),
}

// eventsByName maps names to events. It is read-only after initialization.
var eventsByName = func() map[string]eventDefinition {
	byName := map[string]eventDefinition{}
	for _, d := range events {
		byName[d.name] = d
	}
	return byName
}()

// Events returns a zero value of every event of this version.
func Events() (all []Event) {
	for _, d := range events {
		all = append(all, d.zero)
	}
	return all
}

// EventEnvelope is an event on the wire: its fields, its type and, for events of a
// session, the session and seq.
type EventEnvelope struct {
	SessionID string
	Seq       uint64
	Event     Event
}

type eventHead struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId,omitempty"`
	Seq       uint64 `json:"seq,omitempty"`
}

// MarshalJSON writes {"type", "sessionId", "seq", ...fields}.
func (e EventEnvelope) MarshalJSON() ([]byte, error) {
	if unknown, ok := e.Event.(UnknownEvent); ok {
		return unknown.Raw, nil
	}
	head, err := session.Encode(eventHead{e.Event.EventType(), e.SessionID, e.Seq})
	if err != nil {
		return nil, err
	}
	body, err := encodeBody(e.Event)
	if err != nil {
		return nil, err
	}
	return joinObjects(head, body), nil
}

// encodeBody encodes the fields of an event. The line of an entry is copied: it is JSON on one
// line already. Only line ends, which JSON allows between values, need another form.
func encodeBody(event Event) ([]byte, error) {
	appended, ok := event.(EntryAppended)
	raw := appended.Entry.Raw
	if !ok || len(raw) == 0 || bytes.IndexByte(raw, '\r') >= 0 || bytes.IndexByte(raw, '\n') >= 0 {
		return session.Encode(event)
	}
	const opening, closing = `{"entry":`, `}`
	body := make([]byte, 0, len(opening)+len(raw)+len(closing))
	return append(append(append(body, opening...), raw...), closing...), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes. An unknown type becomes an
// UnknownEvent.
func (e *EventEnvelope) UnmarshalJSON(data []byte) error {
	var head eventHead
	if err := exactjson.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("api: reading an event: %w", err)
	}
	event, err := decodeEvent(head.Type, data)
	if err != nil {
		return fmt.Errorf("api: reading %s: %w", head.Type, err)
	}
	*e = EventEnvelope{SessionID: head.SessionID, Seq: head.Seq, Event: event}
	return nil
}

// decodeEvent reads the fields of an event. An event of a newer host is kept as
// received.
func decodeEvent(name string, data []byte) (Event, error) {
	if d, known := eventsByName[name]; known {
		return d.decode(data)
	}
	return UnknownEvent{Name: name, Raw: json.RawMessage(append([]byte(nil), data...))}, nil
}

// joinObjects joins two JSON objects into one; a comes first.
func joinObjects(a, b []byte) []byte {
	if len(b) <= 2 { // {}
		return a
	}
	out := make([]byte, 0, len(a)+len(b))
	out = append(out, a[:len(a)-1]...)
	out = append(out, ',')
	return append(out, b[1:]...)
}
