package session

// Custom types of agents that work for another one.
const (
	CustomCrew  = "scorel.crew"  // data: CrewRecord, who works for a tool call; written when they begin and when all have ended
	CustomChild = "scorel.child" // data: ChildRecord, what a session was made for
)

// ChildState says how far an agent got with its task.
type ChildState string

const (
	ChildQueued    ChildState = "queued" // waits until fewer work
	ChildRunning   ChildState = "running"
	ChildCompleted ChildState = "completed"
	ChildFailed    ChildState = "failed"
	ChildCancelled ChildState = "cancelled"
)

// Ended tells whether nothing follows.
func (s ChildState) Ended() bool {
	return s == ChildCompleted || s == ChildFailed || s == ChildCancelled
}

type (
	// CrewMember is one agent that works for a tool call, in a session of its own.
	CrewMember struct {
		SessionID string     `json:"sessionId,omitempty"` // "" where none could be made
		Agent     string     `json:"agent"`               // name of the preset
		Title     string     `json:"title"`               // one line
		State     ChildState `json:"state"`
		Error     string     `json:"error,omitempty"`     // for people, where it did not complete
		StartedAt int64      `json:"startedAt,omitempty"` // Unix milliseconds; 0 is not yet
		EndedAt   int64      `json:"endedAt,omitempty"`   // Unix milliseconds; 0 is not yet
	}
	// CrewRecord is the data of CustomCrew. The last one of a call counts.
	CrewRecord struct {
		EntryID    string       `json:"entryId"` // of the message that made the call
		ToolCallID string       `json:"toolCallId"`
		TurnID     string       `json:"turnId,omitempty"`
		Members    []CrewMember `json:"members"`
	}
	// ChildRecord is the data of CustomChild, the first entry of the child's session.
	ChildRecord struct {
		ParentSessionID string `json:"parentSessionId"`
		EntryID         string `json:"entryId"` // of the message in the parent that made the call
		ToolCallID      string `json:"toolCallId"`
		Agent           string `json:"agent"` // name of the preset
		Title           string `json:"title"`
		// Prompt follows the system prompt: the limits of the child, and what the preset says.
		Prompt string `json:"prompt"`
		// Tools are all that it may use, and Without is what it may not use in any case. A
		// name that ends in * stands for all that begin so. Without Tools it may use all.
		Tools   []string `json:"tools,omitempty"`
		Without []string `json:"without,omitempty"`
		// Only are rules that say for which calls it may use the tools that they are about,
		// and Deny rules about calls that it may not make.
		Only []string `json:"only,omitempty"`
		Deny []string `json:"deny,omitempty"`
	}
)
