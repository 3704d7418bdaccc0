package session

import "encoding/json"

// CustomProcess is the custom type of a ProcessRecord: an operation that has ended.
// Models never see it.
const CustomProcess = "scorel.process" // data: ProcessRecord

// ProcessVersion is the version of ProcessEvent.
const ProcessVersion = 1

type (
	// ProcessEvent reports the progress of an operation to people: a long command,
	// a skill's script, a call of an MCP server, a subagent.
	ProcessEvent struct {
		Version     int    `json:"version"`     // 1
		OperationID string `json:"operationId"` // op_ and 16 hex digits
		// ParentOperationID is the operation of which this one is a part.
		ParentOperationID string        `json:"parentOperationId,omitempty"`
		TargetType        ProcessTarget `json:"targetType"` // "command", "skill", "mcp" or "agent"
		Source            string        `json:"source"`     // the tool, skill, server or agent
		// ToolName is the tool whose call the operation belongs to; absent from
		// older hosts.
		ToolName string `json:"toolName,omitempty"`
		// TaskID identifies a part of the operation, or what runs it: a background
		// job, a child session.
		TaskID string `json:"taskId,omitempty"`
		Stage  string `json:"stage,omitempty"` // a word for the phase
		// Status is "queued" or "running", or a final one: "completed", "failed", "cancelled".
		Status  ProcessStatus `json:"status"`
		Level   ProcessLevel  `json:"level"`            // "debug", "info", "warn" or "error"
		Message string        `json:"message"`          // one line
		Detail  string        `json:"detail,omitempty"` // may have several lines
		// Current of Total steps are done, in a unit of the operation's own.
		Current *float64 `json:"current,omitempty"`
		Total   *float64 `json:"total,omitempty"`   // how much there is to do, in a unit that the operation chooses
		Percent *float64 `json:"percent,omitempty"` // 0 to 100
		// Payload is additional data for programs: any JSON.
		Payload   json.RawMessage `json:"payload,omitempty"`
		Timestamp int64           `json:"timestamp"` // Unix milliseconds
		Sequence  uint64          `json:"sequence"`  // from 1 in each operation
	}
	// ProcessLine is a line of an operation's log: an event, or the last of several
	// with the same stage and message.
	ProcessLine struct {
		ProcessEvent
		Repeats int `json:"repeats,omitempty"` // number of merged events; absent for one
	}
	// ProcessRecord is the data of CustomProcess.
	ProcessRecord struct {
		OperationID       string        `json:"operationId"`
		ParentOperationID string        `json:"parentOperationId,omitempty"`
		ToolCallID        string        `json:"toolCallId,omitempty"`
		TargetType        ProcessTarget `json:"targetType"`
		Source            string        `json:"source"`
		ToolName          string        `json:"toolName,omitempty"`
		TaskID            string        `json:"taskId,omitempty"`
		Status            ProcessStatus `json:"status"`    // completed, failed or cancelled
		StartedAt         int64         `json:"startedAt"` // Unix milliseconds
		EndedAt           int64         `json:"endedAt"`   // Unix milliseconds
		// Lines are the first 10 and the last 40 of the log; Omitted counts those
		// between them.
		Lines   []ProcessLine `json:"lines"`
		Omitted int           `json:"omitted,omitempty"`
		// ProcessLogRef is the argument of get_process_log; it is not a path.
		ProcessLogRef string `json:"processLogRef"`
	}
)

// ProcessTarget is the kind of thing that an operation runs.
type ProcessTarget string

const (
	ProcessCommand ProcessTarget = "command"
	ProcessSkill   ProcessTarget = "skill"
	ProcessMCP     ProcessTarget = "mcp"
	ProcessAgent   ProcessTarget = "agent"
)

// ProcessStatus is the state of an operation. The last three are final.
type ProcessStatus string

const (
	ProcessQueued    ProcessStatus = "queued"
	ProcessRunning   ProcessStatus = "running"
	ProcessCompleted ProcessStatus = "completed"
	ProcessFailed    ProcessStatus = "failed"
	ProcessCancelled ProcessStatus = "cancelled"
)

// Ended reports whether the operation is over.
func (s ProcessStatus) Ended() bool {
	return s == ProcessCompleted || s == ProcessFailed || s == ProcessCancelled
}

// ProcessLevel is the importance of an event.
type ProcessLevel string

const (
	ProcessDebug ProcessLevel = "debug"
	ProcessInfo  ProcessLevel = "info"
	ProcessWarn  ProcessLevel = "warn"
	ProcessError ProcessLevel = "error"
)
