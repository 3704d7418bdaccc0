package feed

import (
	"errors"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Limits of what waits for the reader, in updates and in bytes of streamed text.
const (
	maxWaiting      = 20_000
	maxWaitingBytes = 8 << 20
)

// errBehind closes a connection whose events were not read: the next one catches up from the
// log.
var errBehind = errors.New("this terminal did not keep up and catches up from the log")

// queue holds what waits for the reader. Consecutive pieces of the same text are joined, so
// that a fast model costs the reader nothing.
type queue struct {
	waiting []Update
	bytes   int
	behind  bool // it was full, and everything was dropped
}

func (q *queue) put(update Update) {
	if q.behind {
		return
	}
	size := sizeOf(update)
	if q.bytes+size > maxWaitingBytes {
		if _, whole := update.(Loaded); !whole { // at most 2 MB, and all that is needed
			q.overflow()
			return
		}
	}
	q.bytes += size
	if n := len(q.waiting); n > 0 {
		if joined, ok := join(q.waiting[n-1], update); ok {
			q.waiting[n-1] = joined
			return
		}
	}
	if len(q.waiting) >= maxWaiting {
		q.overflow()
		return
	}
	q.waiting = append(q.waiting, update)
}

func (q *queue) overflow() { q.waiting, q.bytes, q.behind = nil, 0, true }

func (q *queue) take() []Update {
	taken := q.waiting
	q.waiting, q.bytes = nil, 0
	return taken
}

// forgetSession drops what is about a session that is no longer followed.
func (q *queue) forgetSession() {
	q.waiting = slices.DeleteFunc(q.waiting, func(update Update) bool {
		switch u := update.(type) {
		case Loaded:
			return true
		case Happened:
			return u.Event.SessionID != ""
		}
		return false
	})
}

func sizeOf(update Update) int {
	happened, ok := update.(Happened)
	if !ok {
		return 0
	}
	switch e := happened.Event.Event.(type) {
	case api.BlockDelta:
		return len(e.Delta)
	case api.ToolOutput:
		return len(e.Delta)
	case api.EntryAppended:
		return len(e.Entry.Raw)
	}
	return 64
}

// join returns one update for two that extend the same text.
func join(last, next Update) (Update, bool) {
	a, ok := last.(Happened)
	if !ok {
		return nil, false
	}
	b, ok := next.(Happened)
	if !ok || a.Event.SessionID != b.Event.SessionID {
		return nil, false
	}
	switch e := b.Event.Event.(type) {
	case api.BlockDelta:
		if before, ok := a.Event.Event.(api.BlockDelta); ok && before.Index == e.Index && len(before.Delta) < maxJoined {
			e.Delta = before.Delta + e.Delta
			return Happened{api.EventEnvelope{SessionID: b.Event.SessionID, Seq: b.Event.Seq, Event: e}}, true
		}
	case api.ToolOutput:
		if before, ok := a.Event.Event.(api.ToolOutput); ok && before.ToolCallID == e.ToolCallID && len(before.Delta) < maxJoined {
			e.Delta = before.Delta + e.Delta
			return Happened{api.EventEnvelope{SessionID: b.Event.SessionID, Seq: b.Event.Seq, Event: e}}, true
		}
	}
	return nil, false
}

// maxJoined is when a joined text is long enough, in bytes: joining copies it.
const maxJoined = 4 << 10
