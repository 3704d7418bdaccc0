package api

import "github.com/scorel/scorel/packages/protocol/session"

// SessionSummary is a line of a session list.
type SessionSummary struct {
	ID           string `json:"id"`           // UUID
	ProjectID    string `json:"projectId"`    // the project that it belongs to
	Name         string `json:"name"`         // as it was given, else the first words of the first prompt, else ""
	CreatedAt    int64  `json:"createdAt"`    // Unix milliseconds
	UpdatedAt    int64  `json:"updatedAt"`    // Unix milliseconds
	MessageCount int    `json:"messageCount"` // messages in the log
	Running      bool   `json:"running"`      // a turn is running
	// WaitingApproval is true while a tool call waits for an approval, in the
	// session or a subagent.
	WaitingApproval bool `json:"waitingApproval,omitempty"`
	// WaitingAnswer is true while a question of the agent waits.
	WaitingAnswer bool `json:"waitingAnswer,omitempty"`
	// Model is the name of the model for the next turn.
	Model string `json:"model"`
	// Thinking is the model's thinking level; "" leaves it to the provider.
	Thinking string `json:"thinking,omitempty"`
	// Mode is how much the agent may do without asking.
	Mode Mode `json:"mode,omitempty"`
	// Backend is the program that works on the next turns; absent for scorel's own agent.
	Backend string `json:"backend,omitempty"`
	// Archived sessions are left out of lists by default; Pinned ones come first.
	Archived bool `json:"archived,omitempty"`
	Pinned   bool `json:"pinned,omitempty"`
	// Worktree is the git worktree that the session works in; absent if it works in
	// the project's folder.
	Worktree *Worktree `json:"worktree,omitempty"`
	// Meta holds the keys and values set by update_session.
	Meta map[string]string `json:"meta,omitempty"`
	// Damaged describes damage to the session file, "" if there is none.
	Damaged string `json:"damaged,omitempty"`
	// ParentSessionID is the session whose agent started this subagent; "" if a
	// person created it.
	ParentSessionID string `json:"parentSessionId,omitempty"`
	// Usage is what the turns of the session used, on all branches, including
	// failed or canceled attempts as far as the provider reported them.
	Usage TokenUsage `json:"usage,omitzero"`
	// Auxiliary is usage outside turns, for summaries and titles.
	Auxiliary TokenUsage `json:"auxiliary,omitzero"`
	// Delegated is the total usage of the session's subagents, including their own
	// subagents. Together with Usage and Auxiliary it is the session's total.
	Delegated TokenUsage `json:"delegated,omitzero"`
	// Inherited is the usage of the history taken over by a fork. It counts in the
	// total of the original session, not in this one.
	Inherited TokenUsage `json:"inherited,omitzero"`
	// Uncounted is the number of calls that ended before the provider reported
	// their usage; totals include only what was reported, mostly nothing.
	Uncounted int `json:"uncounted,omitempty"`
}

// Worktree is a git worktree that a session works in.
type Worktree struct {
	Folder string `json:"folder"` // that the session works in
	Branch string `json:"branch"` // its own branch
	Base   string `json:"base"`   // id of the commit that it began with
	// Removed is true after its folder was removed with the archived session. The next
	// prompt, or taking the session out of the archive, makes it again.
	Removed bool `json:"removed,omitempty"`
	// Kept is why it was not removed: "uncommitted" changes, an unfinished "operation" such
	// as a merge, or a lock, "commits" on no branch, another "repository" in it, "shared"
	// with another session, "busy": the session was working, "failed": it could not be
	// checked or removed.
	Kept WorktreeKept `json:"kept,omitempty"`
}

// WorktreeKept is a reason to keep a worktree.
type WorktreeKept string

const (
	KeptUncommitted WorktreeKept = "uncommitted" // changed or new files that are not committed
	KeptOperation   WorktreeKept = "operation"   // a merge or the like is not finished, or it is locked
	KeptCommits     WorktreeKept = "commits"     // commits that are on no branch
	KeptRepository  WorktreeKept = "repository"  // another repository in it, such as a submodule
	KeptShared      WorktreeKept = "shared"      // another session works in it
	KeptBusy        WorktreeKept = "busy"        // the session was still working
	KeptFailed      WorktreeKept = "failed"      // it could not be checked or removed
)

// TokenUsage is a sum of tokens as providers count them.
type TokenUsage struct {
	Input      int `json:"input"`      // tokens that were not read from a cache
	Output     int `json:"output"`     // tokens, including thinking
	CacheRead  int `json:"cacheRead"`  // tokens
	CacheWrite int `json:"cacheWrite"` // tokens
	// Cost is in US dollars; absent if config.toml sets no price.
	Cost float64 `json:"cost,omitempty"`
}

// Anchors state how much of a session an entry has seen.
type Anchors struct {
	// Epoch identifies the opening of the session on the host that StreamLastSeq
	// belongs to: transient events do not survive a restart.
	Epoch             string `json:"epoch"`
	PersistentLastSeq uint64 `json:"persistentLastSeq"` // seq of the last log entry seen
	StreamLastSeq     uint64 `json:"streamLastSeq"`     // seq of the last event seen
}

// Turn is a running turn.
type Turn struct {
	TurnID string `json:"turnId"` // identifies the turn
	// ClientKey is the key of the prompt that started it.
	ClientKey string `json:"clientKey"`
	StartedAt int64  `json:"startedAt"` // Unix milliseconds
	// Cancelling is true from cancel_turn to turn_ended.
	Cancelling bool `json:"cancelling,omitempty"`
}

// PartialBlock is a block of a message that is still streaming. Text is the text,
// the thinking, or the JSON text of the arguments so far.
type PartialBlock struct {
	Type session.BlockType `json:"type"`           // "text", "thinking" or "toolCall"
	Text string            `json:"text"`           // the text, the thinking, or the JSON text of the arguments so far
	ID   string            `json:"id,omitempty"`   // of the tool call
	Name string            `json:"name,omitempty"` // of the tool
}

// RunningTool is a tool call that has started and has no result yet.
type RunningTool struct {
	ToolCallID string `json:"toolCallId"` // identifies the call
	ToolName   string `json:"toolName"`   // which tool
	Output     string `json:"output"`     // the last 16 KiB of its output so far, beginning at a whole character
}

// Process is an operation whose progress people see: a long command, a skill's
// script, a call of an MCP server, a subagent. It is live until its record is in
// the log.
type Process struct {
	ToolCallID string `json:"toolCallId,omitempty"` // the call that it belongs to
	StartedAt  int64  `json:"startedAt"`            // Unix milliseconds
	// ProcessLogRef is the argument of get_process_log; it is not a path.
	ProcessLogRef string `json:"processLogRef"`
	// Last is the latest event, with those merged into it.
	Last session.ProcessLine `json:"last"`
}

// MaxToolTail is how much output of a running tool Live keeps, in bytes.
const MaxToolTail = 16 << 10

// Live is the state of a session that is not in its log yet.
type Live struct {
	Turn    *Turn          `json:"turn"`    // null when idle
	Partial []PartialBlock `json:"partial"` // the assistant message that streams
	// Retry is the attempt that follows a failed call to the model, until its answer begins.
	Retry     *ModelRetry   `json:"retry,omitempty"`
	Tools     []RunningTool `json:"tools"`     // tools that have started and have no result yet
	Approvals []Approval    `json:"approvals"` // tool calls that wait for a person
	// Questions are the agent's questions that wait for a person.
	Questions []Question             `json:"questions"`
	Queue     []session.QueuedPrompt `json:"queue"` // prompts that wait for the running turn
	// Unattended is true while an approval or a question waits and no one who may
	// answer is watching the session.
	Unattended bool `json:"unattended,omitempty"`
	// Work is what the host is doing to the session between turns; null if nothing.
	Work *Work `json:"work"`
	// Subagents are the batches of subagents that work for calls of the turn.
	Subagents []SubagentBatch `json:"crew"`
	// Processes are operations whose record is not in the log yet.
	Processes []Process `json:"processes"`
}

// Work is a lengthy operation outside turns. Prompts wait for its end.
type Work struct {
	Kind      WorkKind `json:"kind"`      // "compaction" or "branch_summary"
	StartedAt int64    `json:"startedAt"` // Unix milliseconds
}

// WorkKind is the kind of work.
type WorkKind string

const (
	WorkCompaction    WorkKind = "compaction"
	WorkBranchSummary WorkKind = "branch_summary"
)

// TreeNode is the outline of one entry in the tree of a session.
type TreeNode struct {
	ID        string            `json:"id"`                  // of the entry
	ParentID  string            `json:"parentId,omitempty"`  // the nearest ancestor in the answer; "" if none
	Type      session.EntryType `json:"type"`                // of the entry
	Role      session.Role      `json:"role,omitempty"`      // of a message
	Text      string            `json:"text,omitempty"`      // the beginning of its text, on one line
	Label     string            `json:"label,omitempty"`     // as it was given
	Timestamp string            `json:"timestamp,omitempty"` // of the entry
	// Active is true on the path to the leaf.
	Active bool `json:"active,omitempty"`
	// Target is true if rewind_session or navigate_session can go there.
	Target bool `json:"target,omitempty"`
}

// PromptState is the state of a prompt.
type PromptState string

const (
	PromptQueued PromptState = "queued" // queued on the host until the running turn ends
	PromptTaken  PromptState = "taken"  // in the log; the agent works on it
	// PromptRemoved: removed from the queue by a person; sending it again changes
	// nothing.
	PromptRemoved PromptState = "removed"
)

// ResyncMode is how an entry catches up.
type ResyncMode string

const (
	// ResyncStream: Events holds every event after StreamLastSeq.
	ResyncStream ResyncMode = "stream_resume"
	// ResyncPersistent: Entries holds every log entry after PersistentLastSeq, and
	// Live replaces the entry's state of the running turn.
	ResyncPersistent ResyncMode = "persistent_fallback"
	// ResyncFull: Entries holds the end of the log, and get_entries returns what
	// precedes it; the entry discards its state.
	ResyncFull ResyncMode = "full_reload"
)
