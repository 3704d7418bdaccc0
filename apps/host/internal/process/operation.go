package process

import (
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	// mergeWithin is how long events with the same stage and message are one line.
	mergeWithin = 400 * time.Millisecond
	// tellEvery is how often an operation's state goes out, except for what cannot wait.
	tellEvery = 100 * time.Millisecond
	// maxHurried is how many errors of an operation go out at once: who reports nothing
	// else does not keep everybody busy.
	maxHurried = 20
)

// Operation is something that takes a while. A nil Operation is one that nobody
// listens to. The methods are safe for concurrent use.
type Operation struct {
	// Static after begin.
	sink  *Sink
	id    string
	call  string
	start Event // what all of its events have in common
	began time.Time

	// Under the lock of the sink.
	shown, ended bool
	sequence     uint64
	last         Line      // the newest event, with those merged into it
	first        time.Time // when the events of last began
	open         bool      // last is not in the log yet
	dirty        bool      // the session has not taken last
	toldAt       time.Time
	errors       int // that went out at once
	timer        *time.Timer
	log          *logFile
	samples      samples
}

// ID returns the operation's id, "" where nobody listens.
func (o *Operation) ID() string {
	if o == nil {
		return ""
	}
	return o.id
}

// Report tells of progress. Of the event count stage, status (queued or running),
// level, message, detail, current, total, percent, payload and taskId.
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

// Show makes a quiet operation seen.
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

// End ends the operation; after the first End nothing changes. A status that does
// not end is session.ProcessFailed.
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
	e = o.complete(e)
	o.last, o.open = Line{ProcessEvent: e}, true
	o.write()
	o.log.close()
	o.sink.close(o)
}

// complete makes an event whole: what the operation knows, and the next number.
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

// show makes the operation seen, with its first event.
func (o *Operation) show() {
	if o.shown {
		return
	}
	o.shown = true
	o.log = o.sink.openLog(o)
	o.write() // also what was killed a moment later is known to have begun
	o.tell()
	o.timer.Reset(mergeWithin)
}

// add takes one event in. The same once more within a moment is merged; what is
// new goes into the log when the moment is over, and an error at once.
func (o *Operation) add(e Event) {
	now := time.Now()
	same := o.last.Stage == e.Stage && o.last.Message == e.Message && o.last.TaskID == e.TaskID && o.last.Level == e.Level && o.last.Status == e.Status
	switch {
	case same && now.Sub(o.first) < mergeWithin && o.open:
		o.last = Line{ProcessEvent: e, Repeats: max(o.last.Repeats, 1) + 1}
		o.dirty = true
	case same && now.Sub(o.first) < mergeWithin: // the first of them was an error, and is in the log
		o.last, o.open, o.dirty = Line{ProcessEvent: e}, true, true
	default:
		o.write()
		o.last, o.first, o.open, o.dirty = Line{ProcessEvent: e}, now, true, true
		if e.Level == session.ProcessError && o.errors < maxHurried {
			o.errors++
			o.write()
			o.tell()
		} else if now.Sub(o.toldAt) >= tellEvery {
			o.tell()
		}
	}
	o.timer.Reset(max(0, mergeWithin-now.Sub(o.first)))
}

// tick is the timer: the quiet time is over, or the moment of the last event.
func (o *Operation) tick() {
	o.sink.mu.Lock()
	defer o.sink.mu.Unlock()
	switch {
	case o.ended || o.sink.discarded:
	case !o.shown:
		o.show()
	default:
		o.write()
		if o.dirty {
			o.tell()
		}
	}
}

// write puts the last line into the log and the samples.
func (o *Operation) write() {
	if !o.open {
		return
	}
	o.open = false
	o.samples.add(o.last)
	o.log.add(o.last)
}

// tell lets the session take the operation's state.
func (o *Operation) tell() {
	o.dirty, o.toldAt = false, time.Now()
	o.sink.change(o)
}

// state is what entries are shown while the operation runs.
func (o *Operation) state() api.Process {
	return api.Process{
		ToolCallID: o.call, StartedAt: o.began.UnixMilli(), ProcessLogRef: Ref(o.sink.sessionID, o.id), Last: o.last,
	}
}

func (o *Operation) record() Record {
	lines, omitted := o.samples.lines()
	return Record{
		OperationID: o.id, ParentOperationID: o.start.ParentOperationID, ToolCallID: o.call,
		TargetType: o.start.TargetType, Source: o.start.Source, TaskID: o.last.TaskID, Status: o.last.Status,
		StartedAt: o.began.UnixMilli(), EndedAt: o.last.Timestamp, Lines: lines, Omitted: omitted,
		ProcessLogRef: Ref(o.sink.sessionID, o.id),
	}
}
