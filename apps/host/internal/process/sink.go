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

// maxRunning bounds the concurrent operations of one session; further ones are ignored.
const maxRunning = 128

// Sink collects the reports of one session's operations. The session owns it.
type Sink struct {
	// Static after NewSink.
	logs      *Logs
	sessionID string
	logger    *slog.Logger
	ready     chan struct{}

	mu        sync.Mutex
	running   map[string]*Operation
	changed   []*Operation // the session has not taken their state yet
	discarded bool
	logged    int // number of files created
}

// NewSink returns a Sink. With nil logs nothing is stored in files.
func NewSink(logs *Logs, sessionID string, logger *slog.Logger) *Sink {
	return &Sink{
		logs: logs, sessionID: sessionID, logger: logger, ready: make(chan struct{}, 1), running: map[string]*Operation{},
	}
}

// Ready receives a value when Take may return something.
func (s *Sink) Ready() <-chan struct{} { return s.ready }

// Change is a change of an operation.
type Change struct {
	Process api.Process
	// Record is nil while the operation is running.
	Record *Record
}

// Take returns the changes since the last call, one per operation, in the order in which
// they happened.
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

// Ended reports whether Take would return a record.
func (s *Sink) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.changed, func(o *Operation) bool { return o.ended })
}

// Running returns the state of all visible running operations, oldest first, including
// changes that have not been taken yet.
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

// Close ends all running operations as canceled. It is called when the tools are closed.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.running {
		o.end(session.ProcessCancelled, Event{Stage: "closed", Message: "The session was closed."})
	}
}

// Discard deletes all logs of the session and ignores all further reports.
func (s *Sink) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discarded, s.changed = true, nil
	for _, o := range s.running {
		o.log.close()
	}
	return s.logs.Remove(s.sessionID)
}

// begin starts an operation. It returns nil if there are too many.
func (s *Sink) begin(parent *Operation, start Start) *Operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discarded || len(s.running) >= maxRunning {
		return nil
	}
	now := time.Now()
	o := &Operation{sink: s, id: newID(), call: start.ToolCallID, began: now}
	o.start = clean(Event{TaskID: start.TaskID, Source: start.Source})
	o.start.ToolName = oneLine(start.ToolName, maxName)
	o.start.Version, o.start.OperationID, o.start.TargetType = session.ProcessVersion, o.id, start.TargetType
	if parent != nil && parent.sink == s {
		o.start.ParentOperationID, o.call = parent.id, cmp.Or(o.call, parent.call)
		o.start.ToolName = cmp.Or(o.start.ToolName, parent.start.ToolName)
	}
	first := start.First
	first.TaskID, first.Stage, first.Message, first.Status = "", start.Stage, start.Message, cmp.Or(start.Status, session.ProcessRunning)
	line, _ := o.window.add(o.complete(first), now)
	o.last = line.Line
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

// close marks an operation as ended. It is called last, so that a part is published before
// its parent.
func (s *Sink) close(o *Operation) {
	s.changed = slices.DeleteFunc(s.changed, func(other *Operation) bool { return other == o })
	s.changed = append(s.changed, o)
	s.signal()
}

func (s *Sink) signal() {
	select {
	case s.ready <- struct{}{}:
	default: // a value is already pending
	}
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return "op_" + hex.EncodeToString(b)
}
