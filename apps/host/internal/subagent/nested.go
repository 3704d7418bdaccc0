package subagent

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// nested repeats the operations of a subagent below the operation of its task, so that
// watchers of the parent session see its progress. The worker's goroutine owns it.
type nested struct {
	under   context.Context // context of the task's operation
	running map[string]part // by the operation's id in the subagent's session
	order   []string
	ended   map[string]bool
}

// part is a repeated operation.
type part struct {
	under context.Context
	op    *process.Operation
	seen  uint64 // number of the newest event repeated
}

func newNested(under context.Context) nested {
	return nested{under: under, running: map[string]part{}, ended: map[string]bool{}}
}

// take repeats the reports of running operations. The record of an operation says how it
// ended and contains events that came too fast to be reported individually.
func (n *nested) take(reports []api.Process, records []process.Record) {
	for _, report := range reports {
		// All operations begin before any ends, because a whole is recorded after its parts. One
		// that has ended in the meantime begins with its first event: the record has the others.
		if ended := slices.IndexFunc(records, func(r process.Record) bool { return r.OperationID == report.Last.OperationID }); ended >= 0 && len(records[ended].Lines) > 0 {
			report.Last = records[ended].Lines[0]
		}
		if !report.Last.Status.Ended() {
			n.repeat(report.Last.ProcessEvent)
		}
	}
	for _, record := range records {
		for _, line := range record.Lines {
			n.repeat(line.ProcessEvent)
		}
	}
}

func (n *nested) repeat(e process.Event) {
	known, ok := n.running[e.OperationID]
	switch {
	case n.ended[e.OperationID] || ok && e.Sequence <= known.seen:
		return
	case !ok:
		known = n.begin(e)
	case !e.Status.Ended():
		known.op.Report(e)
	}
	known.seen = e.Sequence
	n.running[e.OperationID] = known
	if e.Status.Ended() {
		known.op.End(e.Status, e)
		delete(n.running, e.OperationID)
		n.ended[e.OperationID] = true
	}
}

func (n *nested) begin(e process.Event) part {
	above, ok := n.running[e.ParentOperationID]
	if !ok {
		above.under = n.under
	}
	status, first := e.Status, e // a later event if the first came too fast
	if status.Ended() {
		status, first = session.ProcessRunning, process.Event{}
	}
	n.order = append(n.order, e.OperationID)
	under, op := process.Begin(above.under, process.Start{
		TargetType: e.TargetType, Source: e.Source, ToolName: e.ToolName, TaskID: e.TaskID, Stage: e.Stage, Message: e.Message, Status: status,
		First: first,
	})
	return part{under: under, op: op}
}

// close ends the operations that the subagent left running: they end with its task. A part
// ends before the operation it belongs to.
func (n *nested) close() {
	for _, id := range slices.Backward(n.order) {
		if left, ok := n.running[id]; ok {
			left.op.End(session.ProcessCancelled, process.Event{Stage: "closed", Message: "The task has ended."})
		}
	}
	n.running = nil
}

// changed adds an operation to the changed ones, replacing its older state.
func changed(reports []api.Process, report api.Process) []api.Process {
	same := func(r api.Process) bool {
		return r.Last.OperationID == report.Last.OperationID
	}
	if i := slices.IndexFunc(reports, same); i >= 0 {
		reports[i] = report
		return reports
	}
	return append(reports, report)
}

// operations returns the reports of running operations, and the records of those that
// ended, since the last call.
func (w *watch) operations() ([]api.Process, []process.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reports, records := w.reports, w.records
	w.reports, w.records = nil, nil
	return reports, records
}
