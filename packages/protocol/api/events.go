package api

import (
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Event is something that happened. EventType is its "type" on the wire.
//
// Events of a session have a seq, one increasing series for persistent
// (entry_appended) and transient events. An entry projects them so:
//
//	entry_appended       append; an assistant message clears the partial, a tool
//	                     result removes its running tool
//	message_started      the partial is empty
//	block_started        a block is added to the partial at index
//	block_delta          its text, thinking or arguments grow
//	message_reset        the partial is empty: the attempt failed and is made again
//	tool_started, tool_output            running tools
//	process_event        an operation is added, or replaced by its id; the entry that
//	                     holds its record removes it
//	approval_requested, approval_resolved  approvals
//	question_asked, question_answered    questions
//	attendance_changed   whether nobody who may answer watches
//	queue_changed        the queue is replaced
//	turn_started, turn_cancelling, turn_ended   the turn; its end clears partial,
//	                     tools, approvals, questions and crew
//	crew_started, crew_updated, crew_ended   the agents that work for a call
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
	}
	BlockStarted struct {
		Index int               `json:"index"`
		Block session.BlockType `json:"block"`
		ID    string            `json:"id,omitempty"`   // toolCall
		Name  string            `json:"name,omitempty"` // toolCall
	}
	// BlockDelta grows a block: its text, its thinking, or the JSON text of its
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
	// ProcessChanged is the newest of what an operation told people; of many within a
	// moment only the last is sent.
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
		Rules      []string `json:"rules,omitempty"` // that hold from now on, with "always"
		// Released says what allowed the call where nobody answered; decidedBy is then who
		// changed that, or "host" after its start.
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
	// AttendanceChanged tells, while something waits for a person, whether nobody who
	// watches may answer it.
	AttendanceChanged struct {
		Unattended bool `json:"unattended"`
	}
	QueueChanged struct {
		Queue []session.QueuedPrompt `json:"queue"`
	}
	// CrewStarted tells that a call has given tasks to other agents.
	CrewStarted struct {
		Batch CrewBatch `json:"batch"`
	}
	// CrewUpdated replaces one child of a batch.
	CrewUpdated struct {
		ToolCallID string    `json:"toolCallId"`
		Index      int       `json:"index"`
		Child      CrewChild `json:"child"`
	}
	// CrewEnded takes a batch away; how it ended is in the log.
	CrewEnded struct {
		ToolCallID string `json:"toolCallId"`
	}
	WorkStarted struct {
		Work Work `json:"work"`
	}
	// WorkEnded ends it; Error is for people, and empty when it came to its end.
	WorkEnded struct {
		Kind  WorkKind `json:"kind"`
		Error string   `json:"error,omitempty"`
	}
)

// Events of the host, without seq; every connection with the view grant gets them.
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
	// RulesChanged tells that rules were added or removed; list_rules lists them.
	RulesChanged struct{}
	// MCPServersChanged tells that it was decided about a server of a project, or about
	// the trust of its folder.
	MCPServersChanged struct {
		ProjectID string `json:"projectId"`
	}
	// UnknownEvent is an event of a newer host, kept as it came.
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
func (CrewStarted) EventType() string       { return "crew_started" }
func (CrewUpdated) EventType() string       { return "crew_updated" }
func (CrewEnded) EventType() string         { return "crew_ended" }
func (WorkStarted) EventType() string       { return "work_started" }
func (WorkEnded) EventType() string         { return "work_ended" }
func (ProjectsChanged) EventType() string   { return "projects_changed" }
func (SessionUpdated) EventType() string    { return "session_updated" }
func (SessionDeleted) EventType() string    { return "session_deleted" }
func (ClientsChanged) EventType() string    { return "clients_changed" }
func (RulesChanged) EventType() string      { return "rules_changed" }
func (MCPServersChanged) EventType() string { return "mcp_servers_changed" }
func (e UnknownEvent) EventType() string    { return e.Name }

// Events lists a zero value of every event of this version.
func Events() []Event {
	return []Event{
		EntryAppended{}, TurnStarted{}, TurnCancelling{}, TurnEnded{}, MessageStarted{}, MessageReset{},
		BlockStarted{}, BlockDelta{}, ToolStarted{}, ToolOutput{}, ProcessChanged{}, ApprovalRequested{}, ApprovalResolved{},
		QuestionAsked{}, QuestionAnswered{}, AttendanceChanged{}, QueueChanged{}, CrewStarted{}, CrewUpdated{}, CrewEnded{}, WorkStarted{}, WorkEnded{},
		ProjectsChanged{}, SessionUpdated{}, SessionDeleted{}, ClientsChanged{}, RulesChanged{}, MCPServersChanged{},
	}
}

// EventEnvelope is an event on the wire: the fields of the event together with
// its type and, for events of a session, where it belongs.
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
	body, err := session.Encode(e.Event)
	if err != nil {
		return nil, err
	}
	return joinObjects(head, body), nil
}

// UnmarshalJSON reads what MarshalJSON writes. An unknown type becomes an
// UnknownEvent.
func (e *EventEnvelope) UnmarshalJSON(data []byte) error {
	var head eventHead
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("api: reading an event: %w", err)
	}
	event, err := decodeEvent(head.Type, data)
	if err != nil {
		return fmt.Errorf("api: reading %s: %w", head.Type, err)
	}
	*e = EventEnvelope{SessionID: head.SessionID, Seq: head.Seq, Event: event}
	return nil
}

func decodeEvent(name string, data []byte) (Event, error) {
	switch name {
	case "entry_appended":
		return decode[EntryAppended](data)
	case "turn_started":
		return decode[TurnStarted](data)
	case "turn_cancelling":
		return decode[TurnCancelling](data)
	case "turn_ended":
		return decode[TurnEnded](data)
	case "message_started":
		return MessageStarted{}, nil
	case "message_reset":
		return decode[MessageReset](data)
	case "block_started":
		return decode[BlockStarted](data)
	case "block_delta":
		return decode[BlockDelta](data)
	case "tool_started":
		return decode[ToolStarted](data)
	case "tool_output":
		return decode[ToolOutput](data)
	case "process_event":
		return decode[ProcessChanged](data)
	case "approval_requested":
		return decode[ApprovalRequested](data)
	case "approval_resolved":
		return decode[ApprovalResolved](data)
	case "question_asked":
		return decode[QuestionAsked](data)
	case "question_answered":
		return decode[QuestionAnswered](data)
	case "attendance_changed":
		return decode[AttendanceChanged](data)
	case "queue_changed":
		return decode[QueueChanged](data)
	case "crew_started":
		return decode[CrewStarted](data)
	case "crew_updated":
		return decode[CrewUpdated](data)
	case "crew_ended":
		return decode[CrewEnded](data)
	case "work_started":
		return decode[WorkStarted](data)
	case "work_ended":
		return decode[WorkEnded](data)
	}
	return decodeHostEvent(name, data)
}

// decodeHostEvent reads what belongs to no session, or is told to those who do not
// watch it too.
func decodeHostEvent(name string, data []byte) (Event, error) {
	switch name {
	case "projects_changed":
		return decode[ProjectsChanged](data)
	case "session_updated":
		return decode[SessionUpdated](data)
	case "session_deleted":
		return decode[SessionDeleted](data)
	case "clients_changed":
		return ClientsChanged{}, nil
	case "rules_changed":
		return RulesChanged{}, nil
	case "mcp_servers_changed":
		return decode[MCPServersChanged](data)
	}
	return UnknownEvent{Name: name, Raw: json.RawMessage(append([]byte(nil), data...))}, nil
}

func decode[T Event](data []byte) (Event, error) {
	var event T
	err := json.Unmarshal(data, &event)
	return event, err
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
