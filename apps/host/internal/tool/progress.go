package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// shownAfter is how long a command runs before its progress is shown.
const shownAfter = time.Second

// Reasons to stop a command, other than the end of the session.
var (
	errCancelled = errors.New("the turn was canceled")
	errTimedOut  = errors.New("it timed out")
	errKilled    = errors.New("it was killed")
	errTaskEnded = errors.New("the task that started it has ended")
)

// operation starts the operation that shows a command to people. A skill's script is shown
// immediately, because it may report progress; a command only if it takes long.
func (t bashTool) operation(ctx context.Context, call agent.Call, command string) *process.Operation {
	start := process.Start{
		ToolCallID: call.ID, TargetType: session.ProcessCommand, Source: call.Name, ToolName: call.Name, Stage: "start", Message: firstWords(cmp.Or(t.title, command)), Quiet: shownAfter,
	}
	if t.skill != "" {
		start.TargetType, start.Source, start.Quiet = session.ProcessSkill, t.skill, 0
	}
	_, op := process.Begin(ctx, start)
	return op
}

func notStarted(op *process.Operation, err error) {
	op.Show()
	op.End(session.ProcessFailed, process.Event{Stage: "spawn", Message: "Could not be started: " + err.Error()})
}

// endOperation reports how a command ended, before anything else does.
func (t bashTool) endOperation(j *job) {
	if j.err != nil {
		notStarted(j.op, j.err)
		return
	}
	status, stage, message := t.ending(j)
	if stage == "timeout" {
		j.op.Show()
	}
	e := process.Event{Stage: stage, Message: message}
	if t.jobs.isBackground(j) {
		e.TaskID = j.id
	}
	j.op.End(status, e)
}

func (t bashTool) ending(j *job) (status process.Status, stage, message string) {
	seconds := int(j.took.Round(time.Second).Seconds())
	switch {
	case j.stopped && errors.Is(context.Cause(j.ctx), errTimedOut):
		return session.ProcessFailed, "timeout", fmt.Sprintf("Stopped: it did not end within %d s.", seconds)
	case j.stopped:
		return session.ProcessCancelled, "cancelled", fmt.Sprintf("Stopped after %d s.", seconds)
	case j.exit != 0:
		return session.ProcessFailed, "exit", fmt.Sprintf("Ended with exit code %d after %d s.", j.exit, seconds)
	case t.notText(j):
		return session.ProcessFailed, "output", "The output is not text."
	}
	return session.ProcessCompleted, "exit", fmt.Sprintf("Ended after %d s.", seconds)
}

// notText reports whether a script succeeded but its output is not text.
func (t bashTool) notText(j *job) bool { return t.skill != "" && j.binary && j.exit == 0 }

// outputs returns the writers for a command's output. Events of a skill's script are
// filtered out of its error output. done must be called when the command has ended.
func (t bashTool) outputs(j *job) (out, errOut io.Writer, done func()) {
	if t.skill == "" {
		return j.out, j.out, func() {}
	}
	watched := &textWatch{Writer: j.out}
	events := process.NewSplitter(watched, func(e process.Event) {
		if e.Status == session.ProcessFailed && e.Level == session.ProcessInfo {
			e.Level = session.ProcessError // only an error of a part: the script does not decide how the whole ends
		}
		j.op.Report(e)
	})
	return watched, events, func() {
		_ = events.Close() // it keeps the end of the output in memory
		j.binary = watched.binary.Load()
	}
}

// textWatch detects output that is not text.
type textWatch struct {
	io.Writer
	binary atomic.Bool
}

func (w *textWatch) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, 0) >= 0 {
		w.binary.Store(true)
	}
	return w.Writer.Write(p)
}
