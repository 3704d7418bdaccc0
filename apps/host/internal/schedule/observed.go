package schedule

import (
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// observed collects changes of sessions for the scheduler's goroutine, so that who reports
// them never waits for it. It holds as many as there are sessions of interest.
type observed struct {
	wake chan struct{}

	mu       sync.Mutex
	interest map[string]bool
	busy     map[string]bool
	dirty    map[string]bool // session -> a turn ended
}

func (o *observed) follow(interest map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.interest = interest
	for id := range o.busy {
		if !interest[id] {
			delete(o.busy, id)
		}
	}
}

func (o *observed) note(summary api.SessionSummary) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.interest[summary.ID] {
		return
	}
	o.dirty[summary.ID] = o.dirty[summary.ID] || o.busy[summary.ID] && !summary.Running
	o.busy[summary.ID] = summary.Running
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns what changed since the last call: each session with whether a turn of it ended.
func (o *observed) take() map[string]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	dirty := o.dirty
	o.dirty = map[string]bool{}
	return dirty
}
