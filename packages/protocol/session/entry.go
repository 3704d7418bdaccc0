// Package session is the vocabulary of the session log: one header, then entries
// that form a tree by parentId. The type on disk is the type on the wire. The
// format is Pi's, version 3 (docs/session-format.md); our own data rides on
// unknown keys (seq, clientId, clientKey) and on custom entries "scorel.*",
// which Pi ignores. An entry of an unknown type is kept and forwarded as it is.
//
// The package is pure: no file, no clock, no randomness.
package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
)

// Custom types of ours.
const (
	CustomQueue    = "scorel.queue"    // data: Queue, the whole queue after a change
	CustomApproval = "scorel.approval" // data: ApprovalRecord, who decided what
	CustomTurn     = "scorel.turn"     // data: TurnRecord, how a turn ended
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

// Data of our custom entries.
type (
	// QueuedPrompt is a prompt that is on the host and not yet taken by the agent.
	QueuedPrompt struct {
		ClientKey string `json:"clientKey"`
		ClientID  string `json:"clientId"`
		Text      string `json:"text"`
		AllowAll  bool   `json:"allowAll,omitempty"` // approvals are given for this prompt
		QueuedAt  int64  `json:"queuedAt"`           // Unix milliseconds
	}
	// Queue is the data of CustomQueue.
	Queue struct {
		Items []QueuedPrompt `json:"items"`
	}
	// ApprovalRecord is the data of CustomApproval.
	ApprovalRecord struct {
		ApprovalID string `json:"approvalId"`
		ToolCallID string `json:"toolCallId"`
		Decision   string `json:"decision"`
		DecidedBy  string `json:"decidedBy"` // client id, or "host"
	}
	// TurnRecord is the data of CustomTurn.
	TurnRecord struct {
		TurnID     string     `json:"turnId"`
		StopReason StopReason `json:"stopReason"`
		Error      string     `json:"error,omitempty"`
	}
)

// Entry is any entry: the fields that all share, and the line itself. Raw is the
// truth; it goes to disk and over the wire unchanged.
type Entry struct {
	Type       EntryType
	ID         string
	ParentID   string // "" at a root
	Timestamp  string
	Seq        uint64 // 0 in files that are not ours
	CustomType string
	Raw        json.RawMessage
}

// ErrNotEntry says that a line is not a JSON object with a type and an id.
var ErrNotEntry = errors.New("session: the line is not an entry")

// ParseEntry reads one line (without its LF). It keeps line as Raw.
func ParseEntry(line []byte) (Entry, error) {
	var head struct {
		Type       EntryType `json:"type"`
		ID         string    `json:"id"`
		ParentID   *string   `json:"parentId"`
		Timestamp  string    `json:"timestamp"`
		Seq        uint64    `json:"seq"`
		CustomType string    `json:"customType"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrNotEntry, err)
	}
	if head.Type == "" || head.ID == "" {
		return Entry{}, fmt.Errorf("%w: type or id is missing", ErrNotEntry)
	}
	e := Entry{Type: head.Type, ID: head.ID, Timestamp: head.Timestamp, Seq: head.Seq, CustomType: head.CustomType, Raw: line}
	if head.ParentID != nil {
		e.ParentID = *head.ParentID
	}
	return e, nil
}

// ParseHeader reads the first line of a session file.
func ParseHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return Header{}, fmt.Errorf("session: reading the header: %w", err)
	}
	if h.Type != TypeSession || h.ID == "" {
		return Header{}, errors.New("session: the first line is not a session header")
	}
	return h, nil
}

// MarshalJSON returns Raw.
func (e Entry) MarshalJSON() ([]byte, error) {
	if len(e.Raw) == 0 {
		return nil, errors.New("session: entry without its line")
	}
	return e.Raw, nil
}

// UnmarshalJSON is ParseEntry on a copy.
func (e *Entry) UnmarshalJSON(data []byte) error {
	parsed, err := ParseEntry(bytes.Clone(data))
	if err != nil {
		return err
	}
	*e = parsed
	return nil
}

// AsMessage decodes a message entry. ok is false for every other type, and for
// a message that does not decode.
func (e Entry) AsMessage() (entry MessageEntry, ok bool) { return as[MessageEntry](e, TypeMessage) }

// AsModelChange decodes a model_change entry.
func (e Entry) AsModelChange() (ModelChangeEntry, bool) {
	return as[ModelChangeEntry](e, TypeModelChange)
}

// AsSessionInfo decodes a session_info entry.
func (e Entry) AsSessionInfo() (SessionInfoEntry, bool) {
	return as[SessionInfoEntry](e, TypeSessionInfo)
}

// AsCustom decodes a custom entry.
func (e Entry) AsCustom() (CustomEntry, bool) { return as[CustomEntry](e, TypeCustom) }

func as[T any](e Entry, want EntryType) (out T, ok bool) {
	if e.Type != want {
		return out, false
	}
	return out, json.Unmarshal(e.Raw, &out) == nil
}

// Encode writes v as one line without LF, the way JavaScript's JSON.stringify
// would: <, > and & stay as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("session: encoding an entry: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// FormatTime writes the timestamps of headers and entries: ISO 8601 with
// milliseconds and Z.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
