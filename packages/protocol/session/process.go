package session

import "encoding/json"

// CustomProcess has ProcessRecord as its data: an operation that has ended. A model
// sees nothing of it.
const CustomProcess = "scorel.process"

// ProcessVersion is the version of ProcessEvent.
const ProcessVersion = 1

type (
	// ProcessEvent tells people how far an operation is: a long command, a script of a
	// skill, a call of an MCP server, a subagent.
	ProcessEvent struct {
		Version     int    `json:"version"`
		OperationID string `json:"operationId"` // op_ and 16 hex digits
		// ParentOperationID is the operation that this one is a part of.
		ParentOperationID string        `json:"parentOperationId,omitempty"`
		TargetType        ProcessTarget `json:"targetType"`
		Source            string        `json:"source"` // the tool, skill, server or agent
		// TaskID names a part of the operation, or what runs it: a background job, a child session.
		TaskID  string        `json:"taskId,omitempty"`
		Stage   string        `json:"stage,omitempty"`
		Status  ProcessStatus `json:"status"`
		Level   ProcessLevel  `json:"level"`
		Message string        `json:"message"`          // one line
		Detail  string        `json:"detail,omitempty"` // may have several lines
		// Current of Total are done, in a unit of the operation's own.
		Current *float64 `json:"current,omitempty"`
		Total   *float64 `json:"total,omitempty"`
		Percent *float64 `json:"percent,omitempty"` // 0 to 100
		// Payload is what programs may want to know: any JSON.
		Payload   json.RawMessage `json:"payload,omitempty"`
		Timestamp int64           `json:"timestamp"` // Unix milliseconds
		Sequence  uint64          `json:"sequence"`  // from 1 in each operation
	}
	// ProcessLine is a line of an operation's log: an event, or several with the same
	// stage and message, of which it is the last.
	ProcessLine struct {
		ProcessEvent
		Repeats int `json:"repeats,omitempty"` // how many events this is; absent for one
	}
	// ProcessRecord is the data of CustomProcess.
	ProcessRecord struct {
		OperationID       string        `json:"operationId"`
		ParentOperationID string        `json:"parentOperationId,omitempty"`
		ToolCallID        string        `json:"toolCallId,omitempty"`
		TargetType        ProcessTarget `json:"targetType"`
		Source            string        `json:"source"`
		TaskID            string        `json:"taskId,omitempty"`
		Status            ProcessStatus `json:"status"`    // completed, failed or cancelled
		StartedAt         int64         `json:"startedAt"` // Unix milliseconds
		EndedAt           int64         `json:"endedAt"`   // Unix milliseconds
		// Lines are the first 10 and the last 40 of the log; Omitted lie between them.
		Lines   []ProcessLine `json:"lines"`
		Omitted int           `json:"omitted,omitempty"`
		// ProcessLogRef is what get_process_log takes; it is no path.
		ProcessLogRef string `json:"processLogRef"`
	}
)

// ProcessTarget says what kind of thing an operation runs.
type ProcessTarget string

const (
	ProcessCommand ProcessTarget = "command"
	ProcessSkill   ProcessTarget = "skill"
	ProcessMCP     ProcessTarget = "mcp"
	ProcessAgent   ProcessTarget = "agent"
)

// ProcessStatus says how an operation stands. The last three end it.
type ProcessStatus string

const (
	ProcessQueued    ProcessStatus = "queued"
	ProcessRunning   ProcessStatus = "running"
	ProcessCompleted ProcessStatus = "completed"
	ProcessFailed    ProcessStatus = "failed"
	ProcessCancelled ProcessStatus = "cancelled"
)

// Ended tells whether the operation is over.
func (s ProcessStatus) Ended() bool {
	return s == ProcessCompleted || s == ProcessFailed || s == ProcessCancelled
}

// ProcessLevel says how much an event matters.
type ProcessLevel string

const (
	ProcessDebug ProcessLevel = "debug"
	ProcessInfo  ProcessLevel = "info"
	ProcessWarn  ProcessLevel = "warn"
	ProcessError ProcessLevel = "error"
)
