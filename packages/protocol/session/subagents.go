package session

// Custom types for subagents.
const (
	CustomSubagents = "scorel.crew"  // data: SubagentRecord, the subagents of a tool call; written when they start, on each state change, and when all have ended
	CustomAgent     = "scorel.agent" // data: AgentRecord, the agent that a session runs as
	CustomChild     = "scorel.child" // data: ChildRecord, the task of a child session
)

// ChildState is the state of a subagent's task.
type ChildState string

const (
	ChildQueued    ChildState = "queued" // waits until fewer subagents are running
	ChildRunning   ChildState = "running"
	ChildCompleted ChildState = "completed"
	ChildFailed    ChildState = "failed"
	ChildCancelled ChildState = "cancelled"
)

// Ended reports whether the state is final.
func (s ChildState) Ended() bool {
	return s == ChildCompleted || s == ChildFailed || s == ChildCancelled
}

type (
	// AgentRecord is the data of CustomAgent: the session runs as an agent, whose
	// definition is read again at the beginning of each turn.
	AgentRecord struct {
		Name string `json:"name"`
	}
	// SubagentMember is one subagent of a tool call, in a session of its own.
	SubagentMember struct {
		SessionID string     `json:"sessionId,omitempty"` // "" if none could be created
		Agent     string     `json:"agent"`               // name of the agent definition
		Title     string     `json:"title"`               // one line
		State     ChildState `json:"state"`
		Error     string     `json:"error,omitempty"`     // for people, if it did not complete
		StartedAt int64      `json:"startedAt,omitempty"` // Unix milliseconds; 0 means not yet
		EndedAt   int64      `json:"endedAt,omitempty"`   // Unix milliseconds; 0 means not yet
		SubagentWork
	}
	// SubagentWork is a subagent's work on its task so far.
	SubagentWork struct {
		Summary       string   `json:"summary,omitempty"`   // beginning of its report, one line of at most 300 characters
		ToolNames     []string `json:"toolNames,omitempty"` // tools that it called, in the order of their first call
		ToolCallCount int      `json:"toolCallCount,omitempty"`
		Usage         *Usage   `json:"usage,omitempty"` // usage of its messages; absent if no provider reported any
		// AssistantMessageID is the entry of its last message with text, in its own
		// session: once it has completed, that is the report.
		AssistantMessageID string `json:"assistantMessageId,omitempty"`
	}
	// SubagentRecord is the data of CustomSubagents. The last one of a call counts.
	SubagentRecord struct {
		EntryID    string           `json:"entryId"` // entry of the message with the call
		ToolCallID string           `json:"toolCallId"`
		TurnID     string           `json:"turnId,omitempty"`
		StartedAt  int64            `json:"startedAt,omitempty"` // Unix milliseconds; 0 means unknown
		Members    []SubagentMember `json:"members"`
	}
	// ChildRecord is the data of CustomChild, the first entry of the child's session.
	ChildRecord struct {
		ParentSessionID string `json:"parentSessionId"`
		EntryID         string `json:"entryId"` // entry in the parent of the message with the call
		ToolCallID      string `json:"toolCallId"`
		Agent           string `json:"agent"` // name of the agent definition
		Title           string `json:"title"`
		// Prompt follows the system prompt: the limits of the child and the
		// instructions of the agent definition.
		Prompt string `json:"prompt"`
		// Tools lists all tools that it may use, and Without those that it may
		// never use. A name that ends in * matches all names with that prefix.
		// Without Tools it may use all; an empty list means none.
		Tools   []string `json:"tools,omitzero"`
		Without []string `json:"without,omitempty"`
		// Only are rules that restrict calls of the tools they name to those
		// matching, and Deny are rules for calls that it may not make.
		Only []string `json:"only,omitempty"`
		Deny []string `json:"deny,omitempty"`
		// MaxTurns is how many model calls the task may make; 0 means unknown.
		MaxTurns int `json:"maxTurns,omitempty"`
	}
)
