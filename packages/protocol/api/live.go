package api

import (
	"slices"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// ModelRetry is the next attempt of a call to the model that failed.
type ModelRetry struct {
	Reason   string `json:"reason"`   // why the previous attempt failed, one sentence for people
	Attempt  int    `json:"attempt"`  // the number of the attempt; the first call is 1
	Attempts int    `json:"attempts"` // how many are made at most
	DelayMS  int64  `json:"delayMs"`  // the pause before it in milliseconds, counted from the event
}

// NewLive returns the state of an idle session; its lists are empty, not nil.
func NewLive() Live {
	return Live{
		Partial:   []PartialBlock{},
		Tools:     []RunningTool{},
		Approvals: []Approval{},
		Questions: []Question{},
		Queue:     []session.QueuedPrompt{},
		Subagents: []SubagentBatch{},
		Processes: []Process{},
	}
}

// Clone returns a copy that shares nothing that Apply modifies.
func (l Live) Clone() Live {
	l.Partial = append([]PartialBlock{}, l.Partial...)
	l.Tools = append([]RunningTool{}, l.Tools...)
	l.Approvals = append([]Approval{}, l.Approvals...)
	l.Questions = append([]Question{}, l.Questions...)
	l.Queue = append([]session.QueuedPrompt{}, l.Queue...)
	l.Subagents = append([]SubagentBatch{}, l.Subagents...)
	l.Processes = append([]Process{}, l.Processes...)
	if l.Turn != nil {
		turn := *l.Turn
		l.Turn = &turn
	}
	if l.Retry != nil {
		retry := *l.Retry
		l.Retry = &retry
	}
	if l.Work != nil {
		work := *l.Work
		l.Work = &work
	}
	return l
}

// Apply applies one event of the session. Host and entries use the same rules, so a
// state built from events equals a fresh load. Events that do not concern Live are
// ignored.
func (l *Live) Apply(event Event) {
	switch e := event.(type) {
	case EntryAppended:
		l.applyEntry(e.Entry)
	case MessageStarted:
		l.Partial, l.Retry = []PartialBlock{}, nil
	case MessageReset:
		l.Partial, l.Retry = []PartialBlock{}, e.Retry
	case BlockStarted:
		l.Retry = nil
		if e.Index == len(l.Partial) {
			l.Partial = append(l.Partial, PartialBlock{Type: e.Block, ID: e.ID, Name: e.Name})
		}
	case BlockDelta:
		if e.Index >= 0 && e.Index < len(l.Partial) {
			l.Partial[e.Index].Text += e.Delta
		}
	case ToolStarted:
		l.Tools = append(l.Tools, RunningTool{ToolCallID: e.ToolCallID, ToolName: e.ToolName})
	case ToolOutput:
		l.growTool(e)
	case ProcessChanged:
		l.applyProcess(e.Process)
	case ApprovalRequested:
		l.Approvals = append(slices.DeleteFunc(l.Approvals, func(a Approval) bool { return a.ID == e.Approval.ID }), e.Approval)
	case ApprovalResolved:
		l.Approvals = slices.DeleteFunc(l.Approvals, func(a Approval) bool { return a.ID == e.ApprovalID })
	case QuestionAsked:
		l.Questions = append(slices.DeleteFunc(l.Questions, func(q Question) bool { return q.ID == e.Question.ID }), e.Question)
	case QuestionAnswered:
		l.Questions = slices.DeleteFunc(l.Questions, func(q Question) bool { return q.ID == e.QuestionID })
	case AttendanceChanged:
		l.Unattended = e.Unattended
	case QueueChanged:
		l.Queue = append([]session.QueuedPrompt{}, e.Queue...)
	case SubagentStarted:
		l.Subagents = append(l.withoutBatch(e.Batch.ToolCallID), e.Batch)
	case SubagentUpdated:
		l.updateSubagents(e)
	case SubagentEnded:
		l.Subagents = l.withoutBatch(e.ToolCallID)
	case WorkStarted:
		work := e.Work
		l.Work = &work
	case WorkEnded:
		l.Work = nil
	case TurnStarted:
		turn := e.Turn
		l.Turn = &turn
	case TurnCancelling:
		if l.Turn != nil && l.Turn.TurnID == e.TurnID {
			l.Turn.Cancelling = true
		}
	case TurnEnded:
		l.Turn, l.Partial, l.Tools, l.Approvals = nil, []PartialBlock{}, []RunningTool{}, []Approval{}
		l.Retry = nil
		l.Questions, l.Unattended, l.Subagents = []Question{}, false, []SubagentBatch{}
	}
}

func (l *Live) applyProcess(p Process) {
	i := slices.IndexFunc(l.Processes, func(known Process) bool { return known.Last.OperationID == p.Last.OperationID })
	if i < 0 {
		l.Processes = append(l.Processes, p)
		return
	}
	l.Processes[i] = p
}

// applyEntry decodes only tool results: an answer may be large, and every entry
// runs this for every message.
func (l *Live) applyEntry(entry session.Entry) {
	if record, ok := entry.AsProcess(); ok {
		l.Processes = slices.DeleteFunc(l.Processes, func(p Process) bool { return p.Last.OperationID == record.OperationID })
		return
	}
	switch entry.Role() {
	case session.RoleAssistant:
		l.Partial, l.Retry = []PartialBlock{}, nil
	case session.RoleToolResult:
		callID := entry.ToolCallID()
		l.Tools = slices.DeleteFunc(l.Tools, func(t RunningTool) bool { return t.ToolCallID == callID })
	}
}

func (l *Live) growTool(e ToolOutput) {
	for i := range l.Tools {
		if l.Tools[i].ToolCallID == e.ToolCallID {
			l.Tools[i].Output = tail(l.Tools[i].Output+e.Delta, MaxToolTail)
		}
	}
}

// tail returns the last most bytes of s, shortened to begin at a rune boundary.
func tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[len(s)-most:]
	for i := range min(utf8.UTFMax, len(s)) {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}
