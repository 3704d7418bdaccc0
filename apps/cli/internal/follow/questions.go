package follow

import (
	"context"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// request is what the host asks a person: an approval of a tool call, or an answer to a
// question of the agent. Exactly one of the two is set.
type request struct {
	sessionID string // where the call waits: our session, or that of a subagent
	approval  *api.Approval
	question  *api.Question
}

func (r request) id() string {
	if r.approval != nil {
		return r.approval.ID
	}
	return r.question.ID
}

func (r request) shown() string {
	if r.approval != nil {
		return r.approval.Shown
	}
	return ""
}

// questions asks a person, one question at a time, and keeps each answer until the host has
// it. It survives lost connections, so no one is asked twice.
//
// The runner's goroutine owns it; the goroutine that asks only sends on decided.
type questions struct {
	ctx     context.Context
	view    Asker
	decided chan struct{} // holds one token if an answer can be collected

	waiting []request
	asking  *question
	done    []answer
	left    []string // ids of questions left to other entries
}

type question struct {
	sessionID string
	id        string
	shown     string // what was shown, if it is an approval
	withdraw  context.CancelFunc
	withdrawn bool
	result    chan answer // holds one answer
}

// answer is a person's answer to a request.
type answer struct {
	request
	verdict Verdict // to an approval
	reply   Reply   // to a question
	err     error
}

func newQuestions(ctx context.Context, view Asker) *questions {
	return &questions{ctx: ctx, view: view, decided: make(chan struct{}, 1)}
}

// add adds a question, unless it was added before.
func (q *questions) add(r request) {
	if q.knows(r.id()) {
		return
	}
	q.waiting = append(q.waiting, r)
	q.next()
}

func (q *questions) knows(id string) bool {
	return q.isAsking(id) || slices.Contains(q.left, id) ||
		slices.ContainsFunc(q.waiting, func(r request) bool { return r.id() == id }) ||
		slices.ContainsFunc(q.done, func(a answer) bool { return a.id() == id })
}

func (q *questions) isAsking(id string) bool {
	return q.asking != nil && q.asking.id == id && !q.asking.withdrawn
}

// next asks the first pending question, if none is being asked.
func (q *questions) next() {
	if q.asking != nil || len(q.waiting) == 0 {
		return
	}
	r := q.waiting[0]
	q.waiting = q.waiting[1:]
	ctx, withdraw := context.WithCancel(q.ctx)
	asking := &question{sessionID: r.sessionID, id: r.id(), shown: r.shown(), withdraw: withdraw, result: make(chan answer, 1)}
	q.asking = asking
	go func() {
		asking.result <- q.put(ctx, r)
		select {
		case q.decided <- struct{}{}:
		default:
		}
	}()
}

func (q *questions) put(ctx context.Context, r request) answer {
	a := answer{request: r}
	if r.approval != nil {
		a.verdict, a.err = q.view.Decide(ctx, *r.approval)
	} else {
		a.reply, a.err = q.view.Answer(ctx, *r.question)
	}
	return a
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
	switch {
	case withdrawn:
	case result.question != nil && result.err == nil && result.reply == Reply{}:
		q.left = append(q.left, result.id())
	default:
		q.done = append(q.done, result)
	}
	q.next()
}

// resolved withdraws a question that was decided elsewhere.
func (q *questions) resolved(id string) {
	q.waiting = slices.DeleteFunc(q.waiting, func(r request) bool { return r.id() == id })
	q.forget(id)
	if q.isAsking(id) {
		q.asking.withdrawn = true
		q.asking.withdraw()
	}
}

// keep withdraws every question of a session that is not in open.
func (q *questions) keep(sessionID string, open []string) {
	var gone []string
	for _, r := range q.waiting {
		if r.sessionID == sessionID {
			gone = append(gone, r.id())
		}
	}
	for _, a := range q.done {
		if a.sessionID == sessionID {
			gone = append(gone, a.id())
		}
	}
	if q.asking != nil && q.asking.sessionID == sessionID {
		gone = append(gone, q.asking.id)
	}
	for _, id := range gone {
		if !slices.Contains(open, id) {
			q.resolved(id)
		}
	}
}

// renew withdraws an approval that is shown differently now, because its session was moved to
// another folder: it has to be asked again, and an answer to what was shown before is void.
func (q *questions) renew(now api.Approval) {
	other := func(r request) bool { return r.id() == now.ID && r.shown() != now.Shown }
	if q.isAsking(now.ID) && q.asking.shown != now.Shown || slices.ContainsFunc(q.waiting, other) ||
		slices.ContainsFunc(q.done, func(a answer) bool { return other(a.request) }) {
		q.resolved(now.ID)
	}
}

// sessions returns the sessions with questions.
func (q *questions) sessions() []string {
	var ids []string
	for _, r := range q.waiting {
		ids = append(ids, r.sessionID)
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
	q.done = slices.DeleteFunc(q.done, func(a answer) bool { return a.id() == id })
}

// wait waits for the goroutine that asks, after its context has ended.
func (q *questions) wait() {
	if q.asking != nil {
		<-q.asking.result
		q.asking.withdraw()
	}
}
