// Package session is the vocabulary of the session log: one header, then entries
// that form a tree by parentId. The type on disk is the type on the wire. The
// format is Pi's, version 3 (docs/session-format.md); our own data rides on
// unknown keys (seq, clientId, clientKey) and on custom entries "scorel.*",
// which Pi ignores. An entry of an unknown type is kept and forwarded as it is.
//
// The package is pure: no file, no clock, no randomness.
package session

import (
	"encoding/json"
	"time"
)

// Version is the version that headers are written with.
const Version = 3

// EntryType tells entries apart.
type EntryType string

const (
	TypeSession             EntryType = "session" // the header
	TypeMessage             EntryType = "message"
	TypeModelChange         EntryType = "model_change"
	TypeThinkingLevelChange EntryType = "thinking_level_change"
	TypeCompaction          EntryType = "compaction"
	TypeBranchSummary       EntryType = "branch_summary"
	TypeSessionInfo         EntryType = "session_info"
	TypeLabel               EntryType = "label"
	TypeCustom              EntryType = "custom"
	TypeCustomMessage       EntryType = "custom_message"
	TypeUsage               EntryType = "usage"        // tokens spent outside of a message
	TypeContextEdit         EntryType = "context_edit" // changes what the model sees of an earlier entry
)

// Custom types of ours.
const (
	CustomQueue    = "scorel.queue"    // data: Queue, the whole queue after a change
	CustomApproval = "scorel.approval" // data: ApprovalRecord, that a call waits, and then who decided what
	CustomQuestion = "scorel.question" // data: QuestionRecord, that a question waits, and then what was answered
	CustomMode     = "scorel.mode"     // data: ModeRecord, how much the agent may do without asking
	CustomTurn     = "scorel.turn"     // data: TurnRecord, how a turn ended
	CustomLeaf     = "scorel.leaf"     // data: LeafRecord, the leaf was moved to the entry that this one hangs on
	CustomOmitted  = "scorel.omitted"  // data: OmittedRecord; never on disk, sent in the place of an entry that is too long
)

// Header is the first line of a session file.
type Header struct {
	Type          EntryType `json:"type"` // TypeSession
	Version       int       `json:"version"`
	ID            string    `json:"id"`
	Timestamp     string    `json:"timestamp"` // ISO 8601, milliseconds, Z
	Cwd           string    `json:"cwd"`
	ParentSession string    `json:"parentSession,omitempty"` // path of the session it was forked from
	ProjectID     string    `json:"projectId,omitempty"`     // ours
	ClientKey     string    `json:"clientKey,omitempty"`     // ours: the key that made it, so that a retry makes no second one
	ChildOf       string    `json:"childOf,omitempty"`       // ours: id of the session whose agent had it made
}

// The typed entries. The order of the fields is the order on disk.
type (
	// MessageEntry holds one complete message.
	MessageEntry struct {
		Type      EntryType `json:"type"`
		ID        string    `json:"id"`
		ParentID  *string   `json:"parentId"`
		Timestamp string    `json:"timestamp"`
		Message   Message   `json:"message"`
		Seq       uint64    `json:"seq,omitempty"`
		ClientID  string    `json:"clientId,omitempty"`  // the entry that sent a user message
		ClientKey string    `json:"clientKey,omitempty"` // its key, so that a retry adds no second message
		TurnID    string    `json:"turnId,omitempty"`
		Steer     bool      `json:"steer,omitempty"` // a user message that was given to a running turn
	}
	// ModelChangeEntry says which model answers from here on.
	ModelChangeEntry struct {
		Type      EntryType `json:"type"`
		ID        string    `json:"id"`
		ParentID  *string   `json:"parentId"`
		Timestamp string    `json:"timestamp"`
		Provider  string    `json:"provider"`
		ModelID   string    `json:"modelId"`
		Seq       uint64    `json:"seq,omitempty"`
		ClientID  string    `json:"clientId,omitempty"`
	}
	// SessionInfoEntry renames the session; the last one counts.
	SessionInfoEntry struct {
		Type      EntryType `json:"type"`
		ID        string    `json:"id"`
		ParentID  *string   `json:"parentId"`
		Timestamp string    `json:"timestamp"`
		Name      string    `json:"name"`
		Seq       uint64    `json:"seq,omitempty"`
		ClientID  string    `json:"clientId,omitempty"`
	}
	// CustomEntry is state of a program; it is never shown to a model.
	CustomEntry struct {
		Type       EntryType       `json:"type"`
		CustomType string          `json:"customType"`
		Data       json.RawMessage `json:"data,omitempty"`
		ID         string          `json:"id"`
		ParentID   *string         `json:"parentId"`
		Timestamp  string          `json:"timestamp"`
		Seq        uint64          `json:"seq,omitempty"`
		ClientID   string          `json:"clientId,omitempty"`
	}
)

// PromptMode says how a prompt meets a turn that runs.
type PromptMode string

const (
	ModeFollowUp PromptMode = "follow_up" // it waits for the end of the turn
	ModeSteer    PromptMode = "steer"     // the next model call of the turn is given it
)

// Data of our custom entries.
type (
	// QueuedPrompt is a prompt that is on the host and not yet taken by the agent.
	QueuedPrompt struct {
		ClientKey string `json:"clientKey"`
		ClientID  string `json:"clientId"`
		Text      string `json:"text"`
		AllowAll  bool   `json:"allowAll,omitempty"` // approvals are given for this prompt
		QueuedAt  int64  `json:"queuedAt"`           // Unix milliseconds
		// AllowRules hold for this prompt.
		AllowRules []string `json:"allowRules,omitempty"`
		// MaxMode is the highest mode in which this prompt runs, "" for the session's own.
		MaxMode string `json:"maxMode,omitempty"`
		// Mode is ModeSteer, or "" for ModeFollowUp.
		Mode PromptMode `json:"mode,omitempty"`
	}
	// Queue is the data of CustomQueue.
	Queue struct {
		Items []QueuedPrompt `json:"items"`
		// Removed names the prompts that were taken out by this change, so that one of
		// them that is sent again does not come back.
		Removed []string `json:"removed,omitempty"`
	}
	// ApprovalRecord is the data of CustomApproval: one when a call begins to wait,
	// without a decision, and one when it is decided.
	ApprovalRecord struct {
		ApprovalID string `json:"approvalId"`
		ToolCallID string `json:"toolCallId"`
		Decision   string `json:"decision,omitempty"`  // "" while it waits
		DecidedBy  string `json:"decidedBy,omitempty"` // client id, or "host"
		Feedback   string `json:"feedback,omitempty"`  // to the agent, with a denial
		// Rules hold in the project from here on.
		Rules []string `json:"rules,omitempty"`
		// Released says what allowed the call where nobody answered.
		Released *Release `json:"released,omitempty"`
		// Request is what people were shown (api.Approval), while it waits.
		Request json.RawMessage `json:"request,omitempty"`
		// Prompt is that of the turn, without its text, while it waits.
		Prompt *QueuedPrompt `json:"prompt,omitempty"`
	}
	// Release is what lets a call go on that waited for an answer: rules, a mode, or both
	// for parts of it. With neither, nothing asks about the call any more.
	Release struct {
		Rules []string `json:"rules,omitempty"`
		Mode  string   `json:"mode,omitempty"`
	}
	// QuestionRecord is the data of CustomQuestion: one when a question begins to wait,
	// without an outcome, and one when it ends.
	QuestionRecord struct {
		QuestionID string `json:"questionId"`
		ToolCallID string `json:"toolCallId"`
		Outcome    string `json:"outcome,omitempty"`    // "" while it waits
		Answer     string `json:"answer,omitempty"`     // with the outcome "answered"
		AnsweredBy string `json:"answeredBy,omitempty"` // client id, or "host"
		// Request is what people were shown (api.Question), while it waits.
		Request json.RawMessage `json:"request,omitempty"`
		// Prompt is that of the turn, without its text, while it waits.
		Prompt *QueuedPrompt `json:"prompt,omitempty"`
	}
	// ModeRecord is the data of CustomMode.
	ModeRecord struct {
		Mode string `json:"mode"`
	}
	// TurnRecord is the data of CustomTurn.
	TurnRecord struct {
		TurnID     string     `json:"turnId"`
		StopReason StopReason `json:"stopReason"`
		Error      string     `json:"error,omitempty"`
	}
	// LeafRecord is the data of CustomLeaf.
	LeafRecord struct {
		From string `json:"from,omitempty"` // the leaf that was left
	}
	// OmittedRecord is the data of CustomOmitted.
	OmittedRecord struct {
		Type  EntryType `json:"type"`  // of the entry
		Bytes int       `json:"bytes"` // of its line
	}
)

// FormatTime writes the timestamps of headers and entries: ISO 8601 with
// milliseconds and Z.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
