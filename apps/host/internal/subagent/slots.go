package subagent

import (
	"slices"
	"sync"
)

// slots limit how many subagents of a session run at once. Among those that may start, the
// one that has waited longest starts first.
type slots struct {
	mu      sync.Mutex
	limits  Limits
	all     int            // number running
	each    map[string]int // number running per agent definition
	waiting []*ticket
}

// ticket is a place in the queue.
type ticket struct {
	agent   string
	most    int           // limit for this agent definition; 0 means the host's limit
	granted chan struct{} // closed when it may start
}

func newSlots(limits Limits) *slots { return &slots{limits: limits, each: map[string]int{}} }

// limit sets new limits. Subagents that are already running continue.
func (s *slots) limit(limits Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = limits
	s.grant()
}

// queue takes a place. Every ticket must be returned with leave, granted or not.
func (s *slots) queue(agent string, most int) *ticket {
	t := &ticket{agent: agent, most: most, granted: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, t)
	s.grant()
	return t
}

// leave returns a ticket.
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
		if s.all >= s.limits.MaxConcurrent || limited && s.each[t.agent] >= own.MaxConcurrent || t.most > 0 && s.each[t.agent] >= t.most {
			return false
		}
		s.all++
		s.each[t.agent]++
		close(t.granted)
		return true
	})
}
