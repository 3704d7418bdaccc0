// Package pending holds the requests of a turn that wait for an answer from a person, such
// as approvals and questions. It knows nothing of what is asked, of logs or of events: its
// caller stores and announces an answer, and then hands it over.
package pending

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// ErrDeadline is the error of Wait after the deadline of a request.
var ErrDeadline = errors.New("pending: no answer before the deadline")

// Request is one thing that is asked. Its owner fills in Value before another goroutine
// calls Wait.
type Request[T, Answer any] struct {
	Value  T
	answer chan Answer // holds one: the first answer
}

// New returns a request without an answer.
func New[T, Answer any]() *Request[T, Answer] {
	return &Request[T, Answer]{answer: make(chan Answer, 1)}
}

// Answer hands over an answer. It never blocks; only the first answer counts.
func (r *Request[T, Answer]) Answer(answer Answer) {
	select {
	case r.answer <- answer:
	default:
	}
}

// Wait blocks until the request is answered, and returns the answer. The error is ErrDeadline
// after the deadline, unless that is zero, and context.Cause(ctx) after the end of ctx. The
// request may be answered after an error, so a caller may wait again. Each answer is
// returned once.
func (r *Request[T, Answer]) Wait(ctx context.Context, deadline time.Time) (answer Answer, err error) {
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case answer = <-r.answer:
		return answer, nil
	case <-late:
		return answer, ErrDeadline
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// Set holds the requests that wait, by id. The zero value is empty. One goroutine owns it.
type Set[T, Answer any] struct {
	requests map[string]*Request[T, Answer]
}

// Add adds a request to the set.
func (s *Set[T, Answer]) Add(id string, request *Request[T, Answer]) {
	if s.requests == nil {
		s.requests = map[string]*Request[T, Answer]{}
	}
	s.requests[id] = request
}

// Get returns a request of the set; false if it does not wait or no longer waits.
func (s *Set[T, Answer]) Get(id string) (*Request[T, Answer], bool) {
	request, ok := s.requests[id]
	return request, ok
}

// Len returns how many requests wait.
func (s *Set[T, Answer]) Len() int { return len(s.requests) }

// All returns the requests that wait, in no particular order. The set may change while the
// caller goes through them.
func (s *Set[T, Answer]) All() []*Request[T, Answer] {
	return slices.Collect(maps.Values(s.requests))
}

// Take removes a request and returns it; false if it does not wait.
func (s *Set[T, Answer]) Take(id string) (*Request[T, Answer], bool) {
	request, ok := s.requests[id]
	delete(s.requests, id)
	return request, ok
}
