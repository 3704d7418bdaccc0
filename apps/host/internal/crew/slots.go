package crew

import (
	"slices"
	"sync"
)

// slots bound how many agents work at once for a session. Who waits longest and may
// go goes first.
type slots struct {
	limits Limits

	mu      sync.Mutex
	all     int            // how many work
	each    map[string]int // how many of a preset
	waiting []*ticket
}

// ticket is a place in the queue.
type ticket struct {
	agent   string
	granted chan struct{} // closed when it may go
}

func newSlots(limits Limits) *slots { return &slots{limits: limits, each: map[string]int{}} }

// queue takes a place. Every ticket is given back with leave, granted or not.
func (s *slots) queue(agent string) *ticket {
	t := &ticket{agent: agent, granted: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, t)
	s.grant()
	return t
}

// leave gives a place back.
func (s *slots) leave(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, t); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return
	}
	s.all--
	s.each[t.agent]--
	s.grant()
}

func (s *slots) grant() {
	s.waiting = slices.DeleteFunc(s.waiting, func(t *ticket) bool {
		own, limited := s.limits.Agents[t.agent]
		if s.all >= s.limits.MaxConcurrent || limited && s.each[t.agent] >= own.MaxConcurrent {
			return false
		}
		s.all++
		s.each[t.agent]++
		close(t.granted)
		return true
	})
}
