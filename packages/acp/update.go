package acp

import "encoding/json"

// The kinds of updates.
const (
	UpdateUserChunk    = "user_message_chunk"
	UpdateAgentChunk   = "agent_message_chunk"
	UpdateThoughtChunk = "agent_thought_chunk"
	UpdateToolCall     = "tool_call"
	UpdateToolChange   = "tool_call_update"
	UpdatePlan         = "plan"
	UpdateCommands     = "available_commands_update"
	UpdateMode         = "current_mode_update"
	UpdateOptions      = "config_option_update"
	UpdateSessionInfo  = "session_info_update"
	UpdateUsage        = "usage_update"
	UpdateNotice       = "notice"
	UpdateCompaction   = "compaction_update"
	UpdateSummaryChunk = "compaction_summary_chunk"
)

// SessionNotification carries an update of a session.
type SessionNotification struct {
	SessionID string `json:"sessionId"`
	Update    Update `json:"update"`
	Meta      Meta   `json:"_meta,omitempty"`
}

// Update is what an agent tells about a session. Kind says which fields are set; one that this
// package does not know has Raw only. Updates with chunks have Content, those of tools Tool.
type Update struct {
	Kind string

	Content   *ContentBlock // of chunks
	MessageID string
	Tool      *ToolCall
	Plan      []PlanEntry
	Commands  []Command
	ModeID    string
	Options   []ConfigOption
	Info      *InfoUpdate
	Usage     *Usage
	Notice    *Notice
	Compact   *Compaction

	Meta Meta
	// Raw is what the update was decoded from, which it is encoded as.
	Raw json.RawMessage
	// Err is why the fields of a known kind are not set: Raw is not what the schema asks for.
	Err error
}

// PlanEntry is a step of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium or low
	Status   string `json:"status"`   // pending, in_progress or completed
	Meta     Meta   `json:"_meta,omitempty"`
}

// Command is something that a prompt can call as "/name args".
type Command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"`
	Meta        Meta          `json:"_meta,omitempty"`
}

// CommandInput describes what follows the name of a command.
type CommandInput struct {
	Hint string `json:"hint"`
}

// InfoUpdate is what changed in the description of a session; a nil field did not.
type InfoUpdate struct {
	Title     *string `json:"title,omitempty"`
	UpdatedAt *string `json:"updatedAt,omitempty"`
}

// Usage is how full the context of a session is, and what it has cost so far.
type Usage struct {
	Used int64 `json:"used"`
	Size int64 `json:"size"`
	Cost *Cost `json:"cost,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}

// Notice is a message of the agent's program to people.
type Notice struct {
	Severity    string `json:"severity"` // info, warning, error or another
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// Compaction is a shortening of a session's context. ID is the same in all updates about it; a
// summary chunk has Content of the update and no Status.
type Compaction struct {
	ID      string         `json:"compactionId"`
	Status  string         `json:"status,omitempty"` // in_progress, completed, failed, cancelled or another
	Summary []ContentBlock `json:"summary,omitempty"`
	Error   string         `json:"error,omitempty"`
}
