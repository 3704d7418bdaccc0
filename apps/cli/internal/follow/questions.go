package follow

import (
	"context"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// questions asks a person about tool calls, one at a time, and keeps each answer
// until the host has it. It outlives a lost connection: nobody is asked twice.
//
// The runner's goroutine owns it; the goroutine that asks only sends on decided.
type questions struct {
	ctx     context.Context
	ask     func(context.Context, api.Approval) (api.Decision, error)
	decided chan struct{} // holds one token when an answer is there to collect

	waiting []waiting
	asking  *question
	done    []answer
}

// waiting is a question that was not asked yet.
type waiting struct {
	sessionID string // where the call waits: our session, or that of an agent that works for it
	api.Approval
}

type question struct {
	sessionID  string
	approvalID string
	withdraw   context.CancelFunc
	withdrawn  bool
	result     chan answer // holds one
}

type answer struct {
	sessionID  string
	approvalID string
	decision   api.Decision
	err        error
}

func newQuestions(ctx context.Context, ask func(context.Context, api.Approval) (api.Decision, error)) *questions {
	return &questions{ctx: ctx, ask: ask, decided: make(chan struct{}, 1)}
}

// add puts a question of a session, unless it was put before.
func (q *questions) add(sessionID string, approval api.Approval) {
	if q.knows(approval.ID) {
		return
	}
	q.waiting = append(q.waiting, waiting{sessionID, approval})
	q.next()
}

func (q *questions) knows(id string) bool {
	return q.asking != nil && q.asking.approvalID == id ||
		slices.ContainsFunc(q.waiting, func(w waiting) bool { return w.ID == id }) ||
		slices.ContainsFunc(q.done, func(a answer) bool { return a.approvalID == id })
}

// next asks the first question that waits, when none is being asked.
func (q *questions) next() {
	if q.asking != nil || len(q.waiting) == 0 {
		return
	}
	first := q.waiting[0]
	q.waiting = q.waiting[1:]
	ctx, withdraw := context.WithCancel(q.ctx)
	asking := &question{sessionID: first.sessionID, approvalID: first.ID, withdraw: withdraw, result: make(chan answer, 1)}
	q.asking = asking
	go func() {
		decision, err := q.ask(ctx, first.Approval)
		asking.result <- answer{first.sessionID, first.ID, decision, err}
		select {
		case q.decided <- struct{}{}:
		default:
		}
	}()
}

// collect takes the answer that decided announced.
func (q *questions) collect() {
	if q.asking == nil {
		return
	}
	select {
	case result := <-q.asking.result:
		q.finish(result)
	default:
	}
}

func (q *questions) finish(result answer) {
	withdrawn := q.asking.withdrawn
	q.asking.withdraw()
	q.asking = nil
	if !withdrawn {
		q.done = append(q.done, result)
	}
	q.next()
}

// resolved takes back a question that was decided elsewhere.
func (q *questions) resolved(id string) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiting) bool { return w.ID == id })
	q.forget(id)
	if q.asking != nil && q.asking.approvalID == id {
		q.asking.withdrawn = true
		q.asking.withdraw()
	}
}

// keep takes back every question of a session that is not among open.
func (q *questions) keep(sessionID string, open []api.Approval) {
	var gone []string
	for _, w := range q.waiting {
		if w.sessionID == sessionID {
			gone = append(gone, w.ID)
		}
	}
	for _, a := range q.done {
		if a.sessionID == sessionID {
			gone = append(gone, a.approvalID)
		}
	}
	if q.asking != nil && q.asking.sessionID == sessionID {
		gone = append(gone, q.asking.approvalID)
	}
	for _, id := range gone {
		if !slices.ContainsFunc(open, func(a api.Approval) bool { return a.ID == id }) {
			q.resolved(id)
		}
	}
}

// sessions are those that questions belong to.
func (q *questions) sessions() []string {
	var ids []string
	for _, w := range q.waiting {
		ids = append(ids, w.sessionID)
	}
	for _, a := range q.done {
		ids = append(ids, a.sessionID)
	}
	if q.asking != nil {
		ids = append(ids, q.asking.sessionID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// answers returns the answers that the host does not have yet.
func (q *questions) answers() []answer { return slices.Clone(q.done) }

// forget drops an answer that the host has.
func (q *questions) forget(id string) {
	q.done = slices.DeleteFunc(q.done, func(a answer) bool { return a.approvalID == id })
}

// wait waits for the goroutine that asks, after its context has ended.
func (q *questions) wait() {
	if q.asking != nil {
		<-q.asking.result
		q.asking.withdraw()
	}
}
