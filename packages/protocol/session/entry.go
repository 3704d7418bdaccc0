// Package session defines the session log: one header, then entries that form a
// tree by parentId. The format is the same on disk and on the wire. It is Pi's,
// version 3 (docs/session-format.md); scorel's own data is in additional keys (seq,
// clientId, clientKey) and in custom entries "scorel.*", which Pi ignores. An entry
// of an unknown type is kept and forwarded unchanged.
//
// The package is pure: no file, no clock, no randomness.
package session

import (
	"encoding/json"
	"time"
)

// Version is the version of new headers.
const Version = 3

// EntryType is the type of an entry.
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
	TypeUsage               EntryType = "usage"        // tokens used outside a message
	TypeContextEdit         EntryType = "context_edit" // changes what the model sees of an earlier entry
)

// Custom types of scorel.
const (
	CustomQueue    = "scorel.queue"    // data: Queue, the whole queue after a change
	CustomApproval = "scorel.approval" // data: ApprovalRecord, when a call begins to wait and when it is decided
	CustomQuestion = "scorel.question" // data: QuestionRecord, when a question begins to wait and when it ends
	CustomMode     = "scorel.mode"     // data: ModeRecord, how much the agent may do without asking
	CustomTurn     = "scorel.turn"     // data: TurnRecord, how a turn ended
	CustomLeaf     = "scorel.leaf"     // data: LeafRecord, the leaf was moved to this entry's parent
	CustomMeta     = "scorel.session"  // data: MetaRecord, title, archived and pinned state, metadata
	CustomImage    = "scorel.image"    // data: Block, an image of a queued prompt
	CustomMoved    = "scorel.moved"    // data: MovedRecord, the session moves to another host, or has arrived there
	CustomSchedule = "scorel.schedule" // data: ScheduleRecord, the schedule whose run the session is
	CustomOmitted  = "scorel.omitted"  // data: OmittedRecord; never on disk, sent instead of an entry that is too long
)

// Header is the first line of a session file.
type Header struct {
	Type          EntryType `json:"type"` // TypeSession
	Version       int       `json:"version"`
	ID            string    `json:"id"`
	Timestamp     string    `json:"timestamp"` // ISO 8601, milliseconds, Z
	Cwd           string    `json:"cwd"`
	ParentSession string    `json:"parentSession,omitempty"` // path of the session it was forked from
	ProjectID     string    `json:"projectId,omitempty"`     // scorel's own
	ClientKey     string    `json:"clientKey,omitempty"`     // scorel's own: key of the request that created it, so that a retry creates no second one
	ChildOf       string    `json:"childOf,omitempty"`       // scorel's own: id of the session whose agent created it
	Origin        Origin    `json:"origin,omitzero"`         // scorel's own: what a fork was made from
}

// Origin says what a fork was made from: the session, the last entry copied, and
// the chain value of its line there.
type Origin struct {
	SessionID string `json:"sessionId"`
	EntryID   string `json:"entryId,omitempty"` // "" before the first entry
	Chain     string `json:"chain,omitempty"`   // "" if the line has none
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
		Steer     bool      `json:"steer,omitempty"` // a user message sent during a running turn
		// MaxMode is the highest mode in which the prompt of a user message may
		// run; "" sets no limit.
		MaxMode string `json:"maxMode,omitempty"`
	}
	// ModelChangeEntry sets the model from here on.
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
	// CustomEntry is a program's own state; it is never shown to a model.
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

// PromptMode determines how a prompt meets a running turn.
type PromptMode string

const (
	ModeFollowUp PromptMode = "follow_up" // waits for the end of the turn
	ModeSteer    PromptMode = "steer"     // is added to the next model call of the turn
)

// Data of scorel's custom entries.
type (
	// QueuedPrompt is a prompt that waits on the host for the agent.
	QueuedPrompt struct {
		ClientKey string `json:"clientKey"` // of the prompt
		ClientID  string `json:"clientId"`  // client id, token id, or "host"
		Text      string `json:"text"`      // the prompt; if it has images, all of its text
		// Content is set for a prompt with images: its text and image blocks in
		// order, the images by SHA256 and without data. Text is then the joined
		// text blocks.
		Content  Content `json:"content,omitempty"`
		AllowAll bool    `json:"allowAll,omitempty"` // as it was sent
		QueuedAt int64   `json:"queuedAt"`           // Unix milliseconds
		// AllowRules apply to this prompt.
		AllowRules []string `json:"allowRules,omitempty"`
		// MaxMode is the highest mode in which this prompt runs, "" for the
		// session's own.
		MaxMode string `json:"maxMode,omitempty"`
		// Mode is ModeSteer, or "" for ModeFollowUp.
		Mode PromptMode `json:"mode,omitempty"`
	}
	// Queue is the data of CustomQueue.
	Queue struct {
		Items []QueuedPrompt `json:"items"`
		// Removed names the prompts that this change removed, so that one that is
		// sent again is not added again.
		Removed []string `json:"removed,omitempty"`
	}
	// ApprovalRecord is the data of CustomApproval: one without a decision when a
	// call begins to wait, and one when it is decided.
	ApprovalRecord struct {
		ApprovalID string `json:"approvalId"`
		ToolCallID string `json:"toolCallId"`
		Decision   string `json:"decision,omitempty"`  // "" while it waits
		DecidedBy  string `json:"decidedBy,omitempty"` // client id, or "host"
		Feedback   string `json:"feedback,omitempty"`  // to the agent, with a denial
		// Unattended, with a denial, means that no person was asked.
		Unattended bool `json:"unattended,omitempty"`
		// Rules apply in the project from here on.
		Rules []string `json:"rules,omitempty"`
		// Released says what allowed the call if no one answered.
		Released *Release `json:"released,omitempty"`
		// Signature is the answering client's signature, if it made one.
		Signature *AnswerSignature `json:"signature,omitempty"`
		// Request is what people were shown (api.Approval), while the call waits.
		Request json.RawMessage `json:"request,omitempty"`
		// DetailHash replaces the detail of the request if that is stored only in
		// part.
		DetailHash string `json:"detailHash,omitempty"`
		// Prompt is the prompt of the turn, without its text, while the call waits.
		Prompt *QueuedPrompt `json:"prompt,omitempty"`
	}
	// AnswerSignature is the signature of an answer to an approval with the key of
	// the client that gave it. The client's id is the hash of both keys. Keys and
	// value are base64url without padding.
	AnswerSignature struct {
		DeviceID  string `json:"deviceId"`  // of the host that asked
		SessionID string `json:"sessionId"` // of the session that asked
		SignKey   string `json:"signKey"`   // the client's Ed25519 key, base64url
		SealKey   string `json:"sealKey"`   // the client's X25519 key, base64url; its id is the hash of both
		At        int64  `json:"at"`        // Unix milliseconds, by the client's clock
		Value     string `json:"value"`     // the Ed25519 signature, base64url (protocol.md, section 10.2)
	}
	// Release is what released a waiting call without an answer: rules, a mode, or
	// both for parts of it. With neither, the call no longer needs approval.
	Release struct {
		Rules []string `json:"rules,omitempty"` // rules that allow it
		// Mode is the mode that allows it: that of the session, capped at the highest mode that
		// the sender of the prompt may use.
		Mode string `json:"mode,omitempty"`
	}
	// QuestionRecord is the data of CustomQuestion: one without an outcome when a
	// question begins to wait, and one when it ends.
	QuestionRecord struct {
		QuestionID string `json:"questionId"`
		ToolCallID string `json:"toolCallId"`
		Outcome    string `json:"outcome,omitempty"`    // "" while it waits
		Answer     string `json:"answer,omitempty"`     // with the outcome "answered"
		AnsweredBy string `json:"answeredBy,omitempty"` // client id, or "host"
		// Request is what people were shown (api.Question), while the question
		// waits.
		Request json.RawMessage `json:"request,omitempty"`
		// Prompt is the prompt of the turn, without its text, while the question
		// waits.
		Prompt *QueuedPrompt `json:"prompt,omitempty"`
	}
	// ModeRecord is the data of CustomMode.
	ModeRecord struct {
		Mode string `json:"mode"`
	}
	// MovedRecord is the data of CustomMoved. The host that the session leaves writes and signs
	// it as the last entry; the other host repeats it with Arrived as its first.
	MovedRecord struct {
		MoveID  string `json:"moveId"`
		From    string `json:"from"` // device
		To      string `json:"to"`   // device
		Arrived bool   `json:"arrived,omitempty"`
	}
	// MetaRecord is the complete data of CustomMeta; the last one counts.
	MetaRecord struct {
		Archived bool `json:"archived,omitempty"`
		Pinned   bool `json:"pinned,omitempty"`
		// Meta holds keys and values set by people and programs.
		Meta map[string]string `json:"meta,omitempty"`
	}
	// TurnRecord is the data of CustomTurn.
	TurnRecord struct {
		TurnID     string     `json:"turnId"`
		StopReason StopReason `json:"stopReason"`
		Error      string     `json:"error,omitempty"`
		// HostEnded is true if the turn was aborted because the host stopped, not
		// by a person.
		HostEnded bool `json:"hostEnded,omitempty"`
	}
	// ScheduleRecord is the data of CustomSchedule.
	ScheduleRecord struct {
		ScheduleID string `json:"scheduleId"`
		RunID      string `json:"runId"`
		// Outside is true if the prompt has text that came from outside.
		Outside bool `json:"outside,omitempty"`
	}
	// LeafRecord is the data of CustomLeaf.
	LeafRecord struct {
		From string `json:"from,omitempty"` // the previous leaf
	}
	// OmittedRecord is the data of CustomOmitted.
	OmittedRecord struct {
		Type  EntryType `json:"type"`  // type of the entry
		Bytes int       `json:"bytes"` // length of its line
	}
)

// FormatTime formats the timestamps of headers and entries: ISO 8601 with
// milliseconds and Z.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
