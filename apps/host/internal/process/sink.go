package process

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxRunning bounds the operations of one session that run at once; more are not
// listened to.
const maxRunning = 128

// Sink gathers what the operations of one session report. The session owns it.
type Sink struct {
	// Static after NewSink.
	logs      *Logs
	sessionID string
	logger    *slog.Logger
	ready     chan struct{}

	mu        sync.Mutex
	running   map[string]*Operation
	changed   []*Operation // the session has not taken their state
	discarded bool
	logged    int // files that were made
}

// NewSink returns a sink. With nil logs nothing is kept in files.
func NewSink(logs *Logs, sessionID string, logger *slog.Logger) *Sink {
	return &Sink{
		logs: logs, sessionID: sessionID, logger: logger, ready: make(chan struct{}, 1), running: map[string]*Operation{},
	}
}

// Ready has a value when there may be something to take.
func (s *Sink) Ready() <-chan struct{} { return s.ready }

// Change is what became of an operation.
type Change struct {
	Process api.Process
	// Record is nil while the operation runs.
	Record *Record
}

// Take returns what has changed since it was last called, each operation once, in
// the order of their changes.
func (s *Sink) Take() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changes []Change
	for _, o := range s.changed {
		change := Change{Process: o.state()}
		if o.ended {
			record := o.record()
			change.Record = &record
		}
		changes = append(changes, change)
	}
	s.changed = nil
	return changes
}

// Ended tells whether Take would give a record.
func (s *Sink) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.changed, func(o *Operation) bool { return o.ended })
}

// Running returns the state of all operations that are seen and run, oldest first,
// also of those whose last change was not taken yet.
func (s *Sink) Running() []api.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]api.Process, 0, len(s.running))
	for _, o := range s.running {
		if o.shown {
			all = append(all, o.state())
		}
	}
	slices.SortFunc(all, func(a, b api.Process) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.Last.OperationID, b.Last.OperationID))
	})
	return all
}

// Close ends what still runs, as cancelled. It is called when the tools are closed.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.running {
		o.end(session.ProcessCancelled, Event{Stage: "closed", Message: "The session was closed."})
	}
}

// Discard takes all logs of the session away, and hears of nothing more.
func (s *Sink) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discarded, s.changed = true, nil
	for _, o := range s.running {
		o.log.close()
	}
	return s.logs.Remove(s.sessionID)
}

// begin starts an operation; nil when there are too many.
func (s *Sink) begin(parent *Operation, start Start) *Operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discarded || len(s.running) >= maxRunning {
		return nil
	}
	now := time.Now()
	o := &Operation{sink: s, id: newID(), call: start.ToolCallID, began: now}
	o.start = clean(Event{TaskID: start.TaskID, Source: start.Source})
	o.start.Version, o.start.OperationID, o.start.TargetType = session.ProcessVersion, o.id, start.TargetType
	if parent != nil && parent.sink == s {
		o.start.ParentOperationID, o.call = parent.id, cmp.Or(o.call, parent.call)
	}
	first := o.complete(Event{Stage: start.Stage, Message: start.Message, Status: cmp.Or(start.Status, session.ProcessRunning)})
	o.last, o.first, o.open = Line{ProcessEvent: first}, now, true
	s.running[o.id] = o
	o.timer = time.AfterFunc(max(start.Quiet, mergeWithin), o.tick)
	if start.Quiet <= 0 {
		o.show()
	}
	return o
}

// change marks an operation for the session.
func (s *Sink) change(o *Operation) {
	if !slices.Contains(s.changed, o) {
		s.changed = append(s.changed, o)
	}
	s.signal()
}

// close marks an operation that has ended; it comes last, so that a part is told of
// before the whole.
func (s *Sink) close(o *Operation) {
	s.changed = slices.DeleteFunc(s.changed, func(other *Operation) bool { return other == o })
	s.changed = append(s.changed, o)
	s.signal()
}

func (s *Sink) signal() {
	select {
	case s.ready <- struct{}{}:
	default: // it is known already
	}
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return "op_" + hex.EncodeToString(b)
}
