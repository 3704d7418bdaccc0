package api

import (
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Project is a folder on the host that sessions run in.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"` // last element of the path
	Path string `json:"path"` // absolute, symbolic links resolved
	// Missing is true when the folder is not there now.
	Missing bool `json:"missing,omitempty"`
	// Trusted is true when the folder's own settings, skills and MCP servers count.
	Trusted bool `json:"trusted,omitempty"`
}

// Model is a model that the host can use.
type Model struct {
	Name          string `json:"name"` // the name in config.toml
	Provider      string `json:"provider"`
	ID            string `json:"id"` // the provider's name for it
	ContextWindow int    `json:"contextWindow,omitempty"`
	// ThinkingLevels are what set_model can choose, from the least to the most; empty
	// where the model cannot be told how much to think.
	ThinkingLevels []string `json:"thinkingLevels,omitempty"`
	// Thinking is the level that config.toml names; "" leaves it to the provider.
	Thinking string `json:"thinking,omitempty"`
	// Demo is true for the built-in demo model, which is not an AI.
	Demo bool `json:"demo,omitempty"`
}

// HostInfo describes the host.
type HostInfo struct {
	DeviceID     ident.ID `json:"deviceId"`
	Label        string   `json:"label"`
	Version      string   `json:"version"`
	Home         string   `json:"home"` // the user's home folder, where browsing starts
	Models       []Model  `json:"models"`
	DefaultModel string   `json:"defaultModel"`
	RelayURL     string   `json:"relayUrl,omitempty"`
	// RelayState is "connected", "connecting" or "off".
	RelayState string  `json:"relayState"`
	Grants     []Grant `json:"grants"`            // what the asking connection may do
	MaxMode    Mode    `json:"maxMode,omitempty"` // the highest mode that it may set
	// Sandbox tells what holds commands back: "bubblewrap+landlock", "landlock" or "none".
	Sandbox     string `json:"sandbox,omitempty"`
	SandboxNote string `json:"sandboxNote,omitempty"` // why it is not the strongest
	// SandboxLimits is absent without a sandbox, where nothing holds commands back.
	SandboxLimits *SandboxLimits `json:"sandboxLimits,omitempty"`
}

// SandboxLimits is what commands reach in truth, whatever config.toml asks for.
type SandboxLimits struct {
	// Network is "open", "closed", or "no_tcp" where TCP alone can be cut off.
	Network  string   `json:"network"`
	Writable []string `json:"writable"`          // absolute folders besides the project
	Missing  []string `json:"missing,omitempty"` // folders that were asked for and are not there
	// Exposed are folders of scorel's own that commands can write to, for they lie in
	// a writable one.
	Exposed []string `json:"exposed,omitempty"`
}

// Client is an entry that the host knows.
type Client struct {
	ID       ident.ID `json:"id"`
	Label    string   `json:"label"`
	Grants   []Grant  `json:"grants"`
	PairedAt int64    `json:"pairedAt"` // Unix milliseconds
	Online   bool     `json:"online"`   // has a channel open
}

// MCPServer is a server of tools that a project can use.
type MCPServer struct {
	Name      string `json:"name"`
	Source    string `json:"source"`    // "config.toml" or ".mcp.json"
	Transport string `json:"transport"` // "stdio" or "http"
	// Shown is what would be started or asked, in one line: what a person consents to.
	Shown string `json:"shown"`
	// The same in parts. Command, Args, Cwd and Env are of a server that is started, URL
	// and Headers of one that is asked.
	Command string       `json:"command,omitempty"`
	Args    []string     `json:"args,omitempty"`
	Cwd     string       `json:"cwd,omitempty"` // "" is the project's folder
	Env     []MCPSetting `json:"env,omitempty"`
	URL     string       `json:"url,omitempty"`
	Headers []MCPSetting `json:"headers,omitempty"`
	// Hash is of the configuration that is consented to; "" where none is needed.
	Hash  string         `json:"hash,omitempty"`
	State MCPServerState `json:"state"`
	// Reason says in words why it does not run.
	Reason string   `json:"reason,omitempty"`
	Tools  []string `json:"tools"` // as the server names them, while it runs
}

// MCPSetting is a variable or a header that a server is given.
type MCPSetting struct {
	Name string `json:"name"`
	// Value is "" where Secret is true: the name sounds like that of a secret.
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"`
}

// MCPServerState says how a server stands.
type MCPServerState string

const (
	MCPDisabled     MCPServerState = "disabled"      // config.toml says so
	MCPUntrusted    MCPServerState = "untrusted"     // its folder is not trusted
	MCPNeedsConsent MCPServerState = "needs_consent" // nobody decided about this configuration
	MCPDenied       MCPServerState = "denied"
	MCPIdle         MCPServerState = "idle" // it may run, and no turn wanted it yet
	MCPStarting     MCPServerState = "starting"
	MCPReady        MCPServerState = "ready"
	MCPFailed       MCPServerState = "failed" // it did not start, or ended; a later turn tries again
)

// Token is what a host tells of a token for programs on its own machine.
type Token struct {
	ID        string  `json:"id"` // begins with tok_
	Label     string  `json:"label"`
	Grants    []Grant `json:"grants"`
	CreatedAt int64   `json:"createdAt"` // Unix milliseconds
	// ExpiresAt is when it stops working, in Unix milliseconds; absent is never.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
}

// DirEntry is one folder in a listing.
type DirEntry struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Hidden bool   `json:"hidden,omitempty"` // the name begins with a dot
	Git    bool   `json:"git,omitempty"`    // holds a .git
}

// SessionSummary is a line of a session list.
type SessionSummary struct {
	ID           string `json:"id"`
	ProjectID    string `json:"projectId"`
	Name         string `json:"name"`      // given, or the first words of the first prompt, or ""
	CreatedAt    int64  `json:"createdAt"` // Unix milliseconds
	UpdatedAt    int64  `json:"updatedAt"` // Unix milliseconds
	MessageCount int    `json:"messageCount"`
	Running      bool   `json:"running"`
	// WaitingApproval is true while a tool call waits for an answer, here or in a child.
	WaitingApproval bool `json:"waitingApproval,omitempty"`
	// WaitingAnswer is true while a question of the agent waits.
	WaitingAnswer bool `json:"waitingAnswer,omitempty"`
	// Model is the name in config.toml of the model that answers next.
	Model string `json:"model"`
	// Thinking is how much that model thinks; "" leaves it to the provider.
	Thinking string `json:"thinking,omitempty"`
	// Mode is how much the agent may do without asking.
	Mode Mode `json:"mode,omitempty"`
	// Damaged tells what is wrong with the file, "" when nothing is.
	Damaged string `json:"damaged,omitempty"`
	// ParentSessionID is of the session whose agent had this one made; "" when a person did.
	ParentSessionID string `json:"parentSessionId,omitempty"`
	// Usage is what the turns of the session took, on all branches, with attempts that
	// failed or were cancelled as far as the provider told of them.
	Usage TokenUsage `json:"usage,omitzero"`
	// Auxiliary is what was spent beside the turns: on summaries and titles.
	Auxiliary TokenUsage `json:"auxiliary,omitzero"`
	// Delegated is all that the sessions took, those of theirs with them, that its agent had
	// made for tasks. With Usage and Auxiliary it is the total of the session.
	Delegated TokenUsage `json:"delegated,omitzero"`
	// Inherited is what had been spent on what it took over when it was forked. That is in
	// the total of the session that it was forked from, and not in its own.
	Inherited TokenUsage `json:"inherited,omitzero"`
	// Uncounted is how many calls broke off before the provider had told what they took: the
	// total has of them what it had told, which is mostly nothing.
	Uncounted int `json:"uncounted,omitempty"`
}

// TokenUsage is a sum of tokens as providers count them.
type TokenUsage struct {
	Input      int `json:"input"` // not read from a cache
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	// Cost is in US dollars; absent where config.toml names no price.
	Cost float64 `json:"cost,omitempty"`
}

// Anchors say how much of a session an entry has seen.
type Anchors struct {
	// Epoch names the opening of the session on the host that StreamLastSeq
	// belongs to: transient events do not survive a restart.
	Epoch             string `json:"epoch"`
	PersistentLastSeq uint64 `json:"persistentLastSeq"`
	StreamLastSeq     uint64 `json:"streamLastSeq"`
}

// Turn is a turn under way.
type Turn struct {
	TurnID string `json:"turnId"`
	// ClientKey is the key of the prompt that started it.
	ClientKey string `json:"clientKey"`
	StartedAt int64  `json:"startedAt"` // Unix milliseconds
	// Cancelling is true from cancel_turn to turn_ended.
	Cancelling bool `json:"cancelling,omitempty"`
}

// PartialBlock is a block of a message that still streams. Text is the text, the
// thinking, or the JSON text of the arguments so far.
type PartialBlock struct {
	Type session.BlockType `json:"type"`
	Text string            `json:"text"`
	ID   string            `json:"id,omitempty"`   // toolCall
	Name string            `json:"name,omitempty"` // toolCall
}

// RunningTool is a tool call that has started and has no result yet.
type RunningTool struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Output     string `json:"output"` // the last MaxToolTail bytes so far
}

// Process is an operation that people are shown: a long command, a script of a skill,
// a call of an MCP server, a subagent. It is live until its record is in the log.
type Process struct {
	ToolCallID string `json:"toolCallId,omitempty"` // the call that it serves
	StartedAt  int64  `json:"startedAt"`            // Unix milliseconds
	// ProcessLogRef is what get_process_log takes; it is no path.
	ProcessLogRef string `json:"processLogRef"`
	// Last is the newest event, with those merged into it.
	Last session.ProcessLine `json:"last"`
}

// MaxToolTail is how much output of a running tool Live holds, in bytes.
const MaxToolTail = 16 << 10

// Live is the part of a session that is not in its log yet.
type Live struct {
	Turn      *Turn          `json:"turn"`    // null when idle
	Partial   []PartialBlock `json:"partial"` // the assistant message that streams
	Tools     []RunningTool  `json:"tools"`
	Approvals []Approval     `json:"approvals"`
	// Questions of the agent that wait for a person.
	Questions []Question             `json:"questions"`
	Queue     []session.QueuedPrompt `json:"queue"`
	// Unattended is true while an approval or a question waits and nobody who watches
	// the session may answer it.
	Unattended bool `json:"unattended,omitempty"`
	// Work is what the host does to the session between turns; null when nothing.
	Work *Work `json:"work"`
	// Crew is who works for calls of the turn.
	Crew []CrewBatch `json:"crew"`
	// Processes are operations whose record is not in the log yet.
	Processes []Process `json:"processes"`
}

// Work is something that takes a while and is no turn. Prompts wait for its end.
type Work struct {
	Kind      WorkKind `json:"kind"`
	StartedAt int64    `json:"startedAt"` // Unix milliseconds
}

// WorkKind says what the host works on.
type WorkKind string

const (
	WorkCompaction    WorkKind = "compaction"
	WorkBranchSummary WorkKind = "branch_summary"
)

// TreeNode is an entry in the tree of a session, in short.
type TreeNode struct {
	ID        string            `json:"id"`
	ParentID  string            `json:"parentId,omitempty"` // the nearest one above that is in the answer; "" is none
	Type      session.EntryType `json:"type"`
	Role      session.Role      `json:"role,omitempty"` // of a message
	Text      string            `json:"text,omitempty"` // how it begins, on one line
	Label     string            `json:"label,omitempty"`
	Timestamp string            `json:"timestamp,omitempty"`
	// Active is true on the path to the leaf.
	Active bool `json:"active,omitempty"`
	// Target is true where rewind_session or navigate_session can go.
	Target bool `json:"target,omitempty"`
}

// Approval is a tool call that waits for a person.
type Approval struct {
	ID         string `json:"id"`
	TurnID     string `json:"turnId"`
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Title      string `json:"title"`  // one line: what it wants to do
	Detail     string `json:"detail"` // all of it: the command, the diff, or what is to be written
	Cwd        string `json:"cwd"`
	CreatedAt  int64  `json:"createdAt"` // Unix milliseconds
	// Command is the command line of a call that runs one.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`  // the files that it would change, as the call names them
	IsDiff  bool     `json:"isDiff,omitempty"` // Detail is a unified diff
	Reason  string   `json:"reason,omitempty"` // why it asks, one sentence
	Risk    *Risk    `json:"risk,omitempty"`
	// ProposedRules are what "always" would allow from then on in the project.
	ProposedRules []string   `json:"proposedRules,omitempty"`
	Options       []Decision `json:"options,omitempty"` // what may be answered
	// Shown is the hash of what is shown. An answer that names another is refused.
	Shown string `json:"shown,omitempty"`
}

// Decision answers an approval.
type Decision string

const (
	DecisionAllow     Decision = "allow"     // once
	DecisionAlways    Decision = "always"    // and from then on what the proposed rules say; needs the grant manage
	DecisionDeny      Decision = "deny"      // with a word to the agent, if there is one
	DecisionStop      Decision = "stop"      // deny, and cancel the turn
	DecisionCancelled Decision = "cancelled" // the turn was cancelled before anyone answered
)

// Question is what the agent asks the people who watch.
type Question struct {
	ID         string `json:"id"`
	TurnID     string `json:"turnId"`
	ToolCallID string `json:"toolCallId"`
	Question   string `json:"question"`
	// Choices are answers to choose from, at most MaxChoices; another one may be given.
	Choices   []string `json:"choices"`
	CreatedAt int64    `json:"createdAt"` // Unix milliseconds
	// Deadline is when the agent goes on without an answer, in Unix milliseconds; 0 is never.
	Deadline int64 `json:"deadline,omitempty"`
}

// QuestionOutcome is how a question ended.
type QuestionOutcome string

const (
	OutcomeAnswered  QuestionOutcome = "answered"
	OutcomeSkipped   QuestionOutcome = "skipped"   // somebody left it to the agent
	OutcomeTimedOut  QuestionOutcome = "timed_out" // nobody answered until the deadline
	OutcomeCancelled QuestionOutcome = "cancelled" // the turn was cancelled
)

// PromptState is how far a prompt got.
type PromptState string

const (
	PromptQueued PromptState = "queued" // on the host, waits for the running turn
	PromptTaken  PromptState = "taken"  // in the log; the agent works on it
	// PromptRemoved: somebody took it out of the queue; sending it again changes nothing.
	PromptRemoved PromptState = "removed"
)

// ResyncMode says how an entry catches up.
type ResyncMode string

const (
	// ResyncStream: Events holds every event after StreamLastSeq.
	ResyncStream ResyncMode = "stream_resume"
	// ResyncPersistent: Entries holds every log entry after PersistentLastSeq, and
	// Live replaces what the entry knew of the running turn.
	ResyncPersistent ResyncMode = "persistent_fallback"
	// ResyncFull: Entries holds the end of the log, and get_entries gives what lies
	// before; the entry forgets what it had.
	ResyncFull ResyncMode = "full_reload"
)
