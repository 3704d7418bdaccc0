package api

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Limits on session metadata.
const (
	MaxMeta      = 32   // keys per session
	MaxMetaKey   = 64   // bytes of a key
	MaxMetaValue = 1024 // bytes of a value
)

// Values of Archived in ListSessionsRequest.
const (
	ArchivedOnly = "only"
	ArchivedToo  = "too"
)

type (
	// UpdateSessionRequest changes the given fields and keeps the others. Repeating
	// a change adds nothing to the log.
	UpdateSessionRequest struct {
		SessionID string  `json:"sessionId" req:"min=1,max=256"`
		Title     *string `json:"title,omitempty" req:"max=256"` // "" restores the title derived from the first prompt
		Archived  *bool   `json:"archived,omitempty"`
		Pinned    *bool   `json:"pinned,omitempty"`
		// Meta sets keys; an empty value removes its key.
		Meta map[string]string `json:"meta,omitempty"`
	}
	UpdateSessionResponse struct {
		Session SessionSummary `json:"session"`
	}
	// GetSnapshotResponse is the current state of a session and the context for its
	// model.
	GetSnapshotResponse struct {
		Session SessionSummary `json:"session"`
		LeafID  string         `json:"leafId"`  // "" before the first entry
		Entries int            `json:"entries"` // in the log, on all branches
		Live    Live           `json:"live"`
		// Hole describes damage on the path to the leaf: entries above it are
		// missing from the context.
		Hole           string         `json:"hole,omitempty"`
		RuntimeContext RuntimeContext `json:"runtimeContext"`
	}
	// RuntimeContext is what the model would be given with the next prompt. Tokens
	// are estimates; the total uses the provider's last count if that is higher.
	RuntimeContext struct {
		Model         Model            `json:"model"`
		Thinking      string           `json:"thinking,omitempty"`
		Cwd           string           `json:"cwd"`
		System        []ContextPart    `json:"system"`
		Tools         []ContextTool    `json:"tools"`
		Messages      []ContextMessage `json:"messages"`
		Omitted       int              `json:"omitted,omitempty"` // earlier messages that do not fit into the answer
		Tokens        int              `json:"tokens"`
		ContextWindow int              `json:"contextWindow,omitempty"`
		// CompactAt is the number of tokens beyond which older messages are summarized;
		// 0 if that is not known or never done.
		CompactAt int `json:"compactAt,omitempty"`
	}
	// ContextPart is a part of the system prompt.
	ContextPart struct {
		Name   string `json:"name"` // its heading; "" for the first part
		Text   string `json:"text"`
		Tokens int    `json:"tokens"`
	}
	// ContextTool is a tool as the model sees it.
	ContextTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"` // JSON Schema
		Tokens      int             `json:"tokens"`
	}
	// ContextMessage is a message as the model sees it; images are referenced by
	// hash.
	ContextMessage struct {
		Role       session.Role    `json:"role"`
		ToolCallID string          `json:"toolCallId,omitempty"`
		ToolName   string          `json:"toolName,omitempty"`
		Content    session.Content `json:"content"`
		Tokens     int             `json:"tokens"`
	}
)
