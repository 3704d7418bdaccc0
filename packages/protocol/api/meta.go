package api

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Limits on session metadata.
const (
	MaxMeta      = 32   // keys of the metadata of a session
	MaxMetaKey   = 64   // bytes of such a key
	MaxMetaValue = 1024 // bytes of a value of such a key
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
		Model         Model            `json:"model"`                   // the model that answers next
		Thinking      string           `json:"thinking,omitempty"`      // its thinking level
		Cwd           string           `json:"cwd"`                     // the working folder
		System        []ContextPart    `json:"system"`                  // the system prompt
		Tools         []ContextTool    `json:"tools"`                   // as of the last turn; servers start with the next one
		Messages      []ContextMessage `json:"messages"`                // the newest that fit 2 MiB
		Omitted       int              `json:"omitted,omitempty"`       // earlier messages that do not fit into the answer
		Tokens        int              `json:"tokens"`                  // tokens of the whole context
		ContextWindow int              `json:"contextWindow,omitempty"` // tokens that the model accepts
		// CompactAt is the number of tokens beyond which older messages are summarized;
		// 0 if that is not known or never done.
		CompactAt int `json:"compactAt,omitempty"`
	}
	// ContextPart is a part of the system prompt.
	ContextPart struct {
		Name   string `json:"name"`   // heading of the part, "" for the beginning
		Text   string `json:"text"`   // its text
		Tokens int    `json:"tokens"` // estimate
	}
	// ContextTool is a tool as the model sees it.
	ContextTool struct {
		Name        string          `json:"name"`        // as the model reads them
		Description string          `json:"description"` // as the model reads them
		Parameters  json.RawMessage `json:"parameters"`  // JSON Schema
		Tokens      int             `json:"tokens"`      // estimate
	}
	// ContextMessage is a message as the model sees it; images are referenced by
	// hash.
	ContextMessage struct {
		Role       session.Role    `json:"role"`                 // "user", "assistant" or "toolResult"
		ToolCallID string          `json:"toolCallId,omitempty"` // of a result
		ToolName   string          `json:"toolName,omitempty"`   // of a result
		Content    session.Content `json:"content"`              // as the model reads it; images without data
		Tokens     int             `json:"tokens"`               // estimate
	}
)
