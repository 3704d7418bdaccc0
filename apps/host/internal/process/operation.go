package process

import (
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	// mergeWithin is how long events of the same kind are merged into one line.
	mergeWithin = 400 * time.Millisecond
	// tellEvery is the minimum interval between published states of an operation, except
	// for urgent ones.
	tellEvery = 100 * time.Millisecond
	// maxHurried is how many errors of an operation are published immediately, so that an
	// operation that only reports errors does not overload its listeners.
	maxHurried = 20
)

// Operation is a long-running activity. A nil Operation has no listeners, and its methods
// do nothing. The methods are safe for concurrent use.
type Operation struct {
	// Static after begin.
	sink  *Sink
	id    string
	call  string
	start Event // fields common to all events
	began time.Time

	// Guarded by the lock of the sink.
	shown, ended bool
	sequence     uint64
	last         Line // the newest event, including merged ones
	window       window
	dirty        bool // the session has not taken last yet
	toldAt       time.Time
	errors       int // published immediately
	timer        *time.Timer
	log          *logFile
	samples      samples
}

// ID returns the operation's id, or "" if it is nil.
func (o *Operation) ID() string {
	if o == nil {
		return ""
	}
	return o.id
}

// Report reports progress. It uses the event's stage, status (queued or running), level,
// message, detail, current, total, percent, payload and taskId.
func (o *Operation) Report(e Event) {
	if o == nil {
		return
	}
	if e.Status != session.ProcessQueued {
		e.Status = session.ProcessRunning
	}
	o.sink.mu.Lock()
	defer o.sink.mu.Unlock()
	if o.ended || o.sink.discarded {
		return
	}
	o.show()
	o.add(o.complete(e))
}

// Show makes a quiet operation visible.
func (o *Operation) Show() {
	if o == nil {
		return
	}
	o.sink.mu.Lock()
	defer o.sink.mu.Unlock()
	if !o.ended && !o.sink.discarded {
		o.show()
	}
}

// End ends the operation; only the first call has an effect. A status that is not final
// counts as session.ProcessFailed.
func (o *Operation) End(status Status, e Event) {
	if o == nil {
		return
	}
	o.sink.mu.Lock()
	defer o.sink.mu.Unlock()
	o.end(status, e)
}

func (o *Operation) end(status Status, e Event) {
	if o.ended {
		return
	}
	if !status.Ended() {
		status = session.ProcessFailed
	}
	o.ended = true
	o.timer.Stop()
	delete(o.sink.running, o.id)
	if !o.shown || o.sink.discarded {
		o.log.close()
		return
	}
	o.write()
	e.Status = status
	if status == session.ProcessFailed {
		e.Level = session.ProcessError
	}
	o.countLost()
	o.last = Line{ProcessEvent: o.complete(e)}
	o.keep(o.last)
	o.log.close()
	o.sink.close(o)
}

// complete fills in the operation's common fields and the next number.
func (o *Operation) complete(e Event) Event {
	e = clean(e)
	o.sequence++
	s := o.start
	s.Stage, s.Status, s.Level, s.Message, s.Detail = e.Stage, e.Status, e.Level, e.Message, e.Detail
	s.Current, s.Total, s.Percent, s.Payload = e.Current, e.Total, e.Percent, e.Payload
	if e.TaskID != "" {
		s.TaskID = e.TaskID
	}
	s.Timestamp, s.Sequence = time.Now().UnixMilli(), o.sequence
	return s
}

// show makes the operation visible, with its first event.
func (o *Operation) show() {
	if o.shown {
		return
	}
	o.shown = true
	o.log = o.sink.openLog(o)
	o.write() // so that its beginning is known even if it is killed a moment later
	o.tell()
	o.timer.Reset(mergeWithin)
}

// add processes one event. Events of the same kind are merged for a moment and then logged;
// an error is logged immediately.
func (o *Operation) add(e Event) {
	now := time.Now()
	if o.window.over(now) || len(o.window.lines) >= maxOpen {
		o.write()
		o.window.clear()
	}
	line, isNew := o.window.add(e, now)
	o.last, o.dirty = line.Line, true
	switch {
	case isNew && e.Level == session.ProcessError && o.errors < maxHurried:
		o.errors++
		o.write()
		o.tell()
	case isNew && now.Sub(o.toldAt) >= tellEvery:
		o.tell()
	}
	o.timer.Reset(max(0, mergeWithin-now.Sub(o.window.began)))
}

// tick handles the timer: the quiet time has passed, or the merge window of the last event.
func (o *Operation) tick() {
	o.sink.mu.Lock()
	defer o.sink.mu.Unlock()
	switch {
	case o.ended || o.sink.discarded:
	case !o.shown:
		o.show()
	default:
		o.write()
		o.window.clear()
		if o.dirty {
			o.tell()
		}
	}
}

// write writes pending lines to the log and the samples.
func (o *Operation) write() {
	for _, line := range o.window.take() {
		o.keep(line)
	}
}

// keep adds a line to the log and the samples.
func (o *Operation) keep(line Line) {
	o.samples.add(line)
	o.log.add(line)
}

// countLost reports how many events did not fit in the log.
func (o *Operation) countLost() {
	if o.log == nil || o.log.lost == 0 {
		return
	}
	line := Line{ProcessEvent: o.complete(Event{
		Stage: "log", Status: session.ProcessRunning, Level: session.ProcessWarn, Message: fmt.Sprintf("The log is full: %d events are missing.", o.log.lost),
	})}
	o.samples.add(line)
	o.log.line(line)
}

// tell publishes the operation's state to the session.
func (o *Operation) tell() {
	o.dirty, o.toldAt = false, time.Now()
	o.sink.change(o)
}

// state returns what entries are shown while the operation is running.
func (o *Operation) state() api.Process {
	return api.Process{
		ToolCallID: o.call, StartedAt: o.began.UnixMilli(), ProcessLogRef: Ref(o.sink.sessionID, o.id), Last: o.last,
	}
}

func (o *Operation) record() Record {
	lines, omitted := o.samples.lines()
	return Record{
		OperationID: o.id, ParentOperationID: o.start.ParentOperationID, ToolCallID: o.call,
		TargetType: o.start.TargetType, Source: o.start.Source, ToolName: o.start.ToolName, TaskID: o.last.TaskID, Status: o.last.Status,
		StartedAt: o.began.UnixMilli(), EndedAt: o.last.Timestamp, Lines: lines, Omitted: omitted,
		ProcessLogRef: Ref(o.sink.sessionID, o.id),
	}
}
