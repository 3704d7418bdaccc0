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

// shownAfter is how long a command runs before people are told how it goes.
const shownAfter = time.Second

// Why a command was made to end; none of them is the end of the session.
var (
	errCancelled = errors.New("the turn was cancelled")
	errTimedOut  = errors.New("its time was over")
	errKilled    = errors.New("it was killed")
	errTaskEnded = errors.New("the task that it was started for has ended")
)

// operation begins what people are told of a command. A script of a skill is seen at
// once, because it has something to say; a command when it takes long.
func (t bashTool) operation(ctx context.Context, call agent.Call, command string) *process.Operation {
	start := process.Start{
		ToolCallID: call.ID, TargetType: session.ProcessCommand, Source: call.Name, Stage: "start", Message: firstWords(cmp.Or(t.title, command)), Quiet: shownAfter,
	}
	if t.skill != "" {
		start.TargetType, start.Source, start.Quiet = session.ProcessSkill, t.skill, 0
	}
	_, op := process.Begin(ctx, start)
	return op
}

func notStarted(op *process.Operation, err error) {
	op.Show()
	op.End(session.ProcessFailed, process.Event{Stage: "spawn", Message: "It could not be started: " + err.Error()})
}

// endOperation tells how a command ended, before anybody else hears of it.
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
	if t.isBackground(j) {
		e.TaskID = j.id
	}
	j.op.End(status, e)
}

func (t bashTool) ending(j *job) (status process.Status, stage, message string) {
	seconds := int(j.took.Round(time.Second).Seconds())
	switch {
	case j.stopped && errors.Is(context.Cause(j.ctx), errTimedOut):
		return session.ProcessFailed, "timeout", fmt.Sprintf("It did not end within %d s and was stopped.", seconds)
	case j.stopped:
		return session.ProcessCancelled, "cancelled", fmt.Sprintf("It was stopped after %d s.", seconds)
	case j.exit != 0:
		return session.ProcessFailed, "exit", fmt.Sprintf("It ended with exit code %d after %d s.", j.exit, seconds)
	case t.notText(j):
		return session.ProcessFailed, "output", "It wrote what is not text."
	}
	return session.ProcessCompleted, "exit", fmt.Sprintf("It ended after %d s.", seconds)
}

// notText tells whether a script that ended well wrote what nobody can read.
func (t bashTool) notText(j *job) bool { return t.skill != "" && j.binary && j.exit == 0 }

// outputs returns where a command writes. Events of a skill's script are taken out of
// its error output. done is called when the command has ended.
func (t bashTool) outputs(j *job) (out, errOut io.Writer, done func()) {
	if t.skill == "" {
		return j.out, j.out, func() {}
	}
	watched := &textWatch{Writer: j.out}
	events := process.NewSplitter(watched, func(e process.Event) {
		if e.Status == session.ProcessFailed && e.Level == session.ProcessInfo {
			e.Level = session.ProcessError // of a part: how the whole ends is not for the script to say
		}
		j.op.Report(e)
	})
	return watched, events, func() {
		_ = events.Close() // the end of an output is kept in memory
		j.binary = watched.binary.Load()
	}
}

// textWatch notices what is no text.
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
