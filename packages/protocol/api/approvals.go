package api

// Approval is a tool call that waits for a person.
type Approval struct {
	ID         string `json:"id"`         // identifies the approval
	TurnID     string `json:"turnId"`     // the turn that asks
	ToolCallID string `json:"toolCallId"` // the call that waits
	ToolName   string `json:"toolName"`   // which tool
	Title      string `json:"title"`      // one line: what it wants to do
	Detail     string `json:"detail"`     // in full: the command, the diff, or the text to write
	Cwd        string `json:"cwd"`        // the folder it runs in
	CreatedAt  int64  `json:"createdAt"`  // Unix milliseconds
	// Command is the command line of a call that runs one.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`  // the files that it would change, as named in the call
	IsDiff  bool     `json:"isDiff,omitempty"` // Detail is a unified diff
	Reason  string   `json:"reason,omitempty"` // why approval is needed, one sentence
	Risk    *Risk    `json:"risk,omitempty"`   // assessment of the risk
	// ProposedRules are the rules that "always" would add for the project.
	ProposedRules []string   `json:"proposedRules,omitempty"`
	Options       []Decision `json:"options,omitempty"` // the possible answers
	// Choices are answers of the program that asks, which Options has too. The log keeps
	// which one was given.
	Choices []ApprovalChoice `json:"choices,omitempty"`
	// Shown is the hash of what is displayed. An answer with a different hash is
	// refused.
	Shown string `json:"shown,omitempty"`
}

// Decision answers an approval.
type Decision string

const (
	DecisionAllow     Decision = "allow"     // once
	DecisionAlways    Decision = "always"    // and add the proposed rules; needs the grant manage
	DecisionDeny      Decision = "deny"      // with optional feedback to the agent
	DecisionStop      Decision = "stop"      // deny, and cancel the turn
	DecisionCancelled Decision = "cancelled" // the turn was canceled before anyone answered
)

// Question is a question of the agent to the people watching.
type Question struct {
	ID         string `json:"id"`         // identifies the question
	TurnID     string `json:"turnId"`     // the turn that asks
	ToolCallID string `json:"toolCallId"` // the call that waits: of "clarify", or of a tool of an MCP server
	Question   string `json:"question"`   // what is asked; text without markup if "server" is set
	// Choices are suggested answers, at most MaxChoices; free text is also
	// accepted.
	Choices   []string `json:"choices"`
	CreatedAt int64    `json:"createdAt"` // Unix milliseconds
	// Deadline is when the agent continues without an answer, in Unix milliseconds;
	// 0 means never.
	Deadline int64 `json:"deadline,omitempty"`
	// Server is the MCP server that asks, which receives the answer; absent for a question
	// of the agent. Skipping its question declines.
	Server string `json:"server,omitempty"`
	// URL is a page that the server asks a person to open.
	URL string `json:"url,omitempty"`
}

// QuestionOutcome is how a question ended.
type QuestionOutcome string

const (
	OutcomeAnswered  QuestionOutcome = "answered"
	OutcomeSkipped   QuestionOutcome = "skipped"   // a person let the agent decide
	OutcomeTimedOut  QuestionOutcome = "timed_out" // not answered before the deadline
	OutcomeCancelled QuestionOutcome = "cancelled" // the turn was canceled
)
