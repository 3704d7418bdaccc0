package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/pending"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// questions puts questions of the agent before people, and holds those that wait. The
// session's goroutine owns it.
type questions struct {
	*core
	turns   *turns
	hooks   *hooks
	waiting pending.Set[api.Question, agent.Reply]
}

// pendingQuestion is a question in its set.
type pendingQuestion = pending.Request[api.Question, agent.Reply]

// people is the side of questions that the goroutine of the turn calls. It implements
// agent.People.
type people struct{ *questions }

// Question implements agent.People.
func (p people) Question(ctx context.Context, call agent.Call, question agent.Question) (agent.Reply, error) {
	request := pending.New[api.Question, agent.Reply]()
	var asked bool
	var err error
	doErr := p.do(ctx, func() { asked, err = p.askFor(request, call, question) })
	if err = errors.Join(doErr, err); err != nil || !asked {
		return agent.Reply{}, err
	}
	var deadline time.Time
	if at := request.Value.Deadline; at > 0 {
		deadline = time.UnixMilli(at)
	}
	reply, err := request.Wait(ctx, deadline)
	switch {
	case errors.Is(err, pending.ErrDeadline):
		return p.settle(ctx, request, api.OutcomeTimedOut)
	case err != nil:
		return p.settle(ctx, request, api.OutcomeCancelled)
	}
	return reply, nil
}

// settle ends an unanswered question. An earlier answer counts. A host that
// ends leaves the question for its next start.
func (p people) settle(ctx context.Context, request *pendingQuestion, outcome api.QuestionOutcome) (agent.Reply, error) {
	suspended := false
	err := p.ask(context.WithoutCancel(ctx), func() {
		if _, waits := p.waiting.Get(request.Value.ID); !waits {
			return
		}
		// The call of an MCP server has begun and cannot be made again.
		mayResume := request.Value.Server == "" && p.resting() && !p.turns.canceling()
		if suspended = outcome == api.OutcomeCancelled && mayResume; suspended {
			p.waiting.Take(request.Value.ID)
			return
		}
		reply := agent.Reply{Outcome: outcome, By: hostID}
		if err := p.end(request.Value, reply); err != nil {
			p.logger.Error("storing how a question ended", "session", p.id, "error", err)
			p.drop(request.Value.ID, reply)
		}
	})
	switch {
	case suspended:
		return agent.Reply{}, agent.ErrSuspended
	case err != nil:
		return agent.Reply{}, err
	}
	return request.Wait(context.WithoutCancel(ctx), time.Time{})
}

// askFor stores a question and publishes it; false if no one who may answer is there. A
// question from before a restart waits on, or has its answer.
func (q *questions) askFor(request *pendingQuestion, call agent.Call, question agent.Question) (asked bool, err error) {
	value := api.Question{
		ID: "qst_" + randomHex(8), ToolCallID: call.ID, Question: question.Text, Choices: append([]string{}, question.Choices...), CreatedAt: nowMillis(),
		Server: question.Server, URL: question.URL,
	}
	if q.deps.QuestionTimeout > 0 {
		value.Deadline = time.Now().Add(q.deps.QuestionTimeout).UnixMilli()
	}
	known := false
	if turn := q.turns.running; turn != nil {
		value.TurnID = turn.id
		if turn.resumed && value.Server == "" { // this reads the whole log
			if _, reply, ok := read.AnsweredCall(q.log.Tree(), call.ID); ok {
				request.Answer(reply)
				return true, nil
			}
			if kept, ok := read.OpenQuestions(q.log.Tree())[call.ID]; ok {
				value.ID, value.CreatedAt, known = kept.ID, kept.CreatedAt, true
			}
		}
	}
	if !known && !q.attended(api.GrantPrompt) {
		return false, nil
	}
	if !known {
		if err := q.store(value); err != nil {
			return false, err
		}
		q.hooks.asks(value)
	}
	request.Value = value
	q.waiting.Add(value.ID, request)
	q.publish(api.QuestionAsked{Question: value})
	text := value.Question
	if value.Server != "" { // nothing that a server writes looks like words of the agent
		text = "The MCP server " + value.Server + " asks: " + text
	}
	q.needs(Notice{Kind: NoticeQuestion, ID: value.ID, Text: text, Choices: value.Choices})
	q.updateSummary()
	q.updateAttendance()
	return true, nil
}

// fromServer reports whether an MCP server waits for an answer.
func (q *questions) fromServer() bool {
	return slices.ContainsFunc(q.waiting.All(), func(request *pendingQuestion) bool { return request.Value.Server != "" })
}

// store writes to the log that a question waits, before the question is published.
func (q *questions) store(value api.Question) error {
	shown, err := session.Encode(value)
	if err != nil {
		return fmt.Errorf("encoding a question: %w", err)
	}
	return q.appendCustom(session.CustomQuestion, session.QuestionRecord{
		QuestionID: value.ID, ToolCallID: value.ToolCallID, Request: shown, Prompt: q.turns.promptOfTurn(),
	}, "")
}

// AnswerQuestion answers a question that waits. The first answer wins; a later one gets the
// answer and who gave it.
func (q *questions) AnswerQuestion(ctx context.Context, clientID string, r api.AnswerQuestionRequest) (response api.AnswerQuestionResponse, err error) {
	answer := strings.TrimSpace(r.Answer)
	switch {
	case r.Skip && answer != "":
		return response, api.Errorf(api.KindBadRequest, "skip lets the agent decide, so it cannot have an answer")
	case !r.Skip && answer == "":
		return response, api.Errorf(api.KindBadRequest, "the answer is empty: write something, or let the agent decide with skip")
	case len(answer) > api.MaxAnswer:
		return response, api.Errorf(api.KindTooLarge, "the answer has %d bytes, the limit is %d: put the text into a file and name the file", len(answer), api.MaxAnswer)
	case !utf8.ValidString(answer):
		return response, api.Errorf(api.KindBadRequest, "the answer is not UTF-8")
	}
	given := agent.Reply{Outcome: api.OutcomeAnswered, Answer: answer, By: clientID}
	if r.Skip {
		given.Outcome = api.OutcomeSkipped
	}
	return inside(ctx, &q.owner, func() (api.AnswerQuestionResponse, error) { return q.answer(r.QuestionID, given) })
}

// answer ends a question with an answer. One that the same client gave already, and sends
// again because the reply was lost, has won.
func (q *questions) answer(id string, given agent.Reply) (api.AnswerQuestionResponse, error) {
	counts := given
	if request, waits := q.waiting.Get(id); waits {
		if err := q.end(request.Value, given); err != nil {
			return api.AnswerQuestionResponse{}, err
		}
	} else {
		if q.asksAgain(id) {
			return api.AnswerQuestionResponse{}, api.Errorf(api.KindUnavailable, "the session is being resumed: try again in a moment")
		}
		record, err := read.AnsweredQuestion(q.log.Tree(), id)
		if err != nil && q.held.on {
			err = errHeld()
		}
		if err != nil {
			return api.AnswerQuestionResponse{}, err
		}
		counts = agent.Reply{Outcome: api.QuestionOutcome(record.Outcome), Answer: record.Answer, By: record.AnsweredBy}
	}
	return api.AnswerQuestionResponse{Outcome: counts.Outcome, Answer: counts.Answer, AnsweredBy: counts.By, Won: counts == given}, nil
}

// asksAgain reports whether a turn that continues after a restart will ask a question again.
func (q *questions) asksAgain(id string) bool {
	turn := q.turns.running
	if turn == nil || !turn.resumed {
		return false
	}
	for _, open := range read.OpenQuestions(q.log.Tree()) {
		if open.ID == id && open.Server == "" {
			return true
		}
	}
	return false
}

// end stores the answer to a question, publishes it, and only then lets the agent continue. If
// it cannot be stored, the question still waits.
func (q *questions) end(question api.Question, reply agent.Reply) error {
	record := session.QuestionRecord{
		QuestionID: question.ID, ToolCallID: question.ToolCallID,
		Outcome: string(reply.Outcome), Answer: reply.Answer, AnsweredBy: reply.By,
	}
	by := reply.By
	if by == hostID && reply.Outcome != api.OutcomeAnswered && reply.Outcome != api.OutcomeSkipped {
		by = "" // no client did it
	}
	if err := q.appendCustom(session.CustomQuestion, record, by); err != nil {
		return err
	}
	q.drop(question.ID, reply)
	return nil
}

// drop publishes how a question ended, and lets the agent continue.
func (q *questions) drop(id string, reply agent.Reply) {
	request, _ := q.waiting.Take(id)
	q.settled(id)
	q.publish(api.QuestionAnswered{QuestionID: id, Outcome: reply.Outcome, Answer: reply.Answer, AnsweredBy: reply.By})
	request.Answer(reply)
	q.updateSummary()
	q.updateAttendance()
}

// voidAll records that the questions in the log belong to turns that do not continue.
func (q *questions) voidAll() {
	for callID, w := range read.OpenQuestions(q.log.Tree()) {
		q.settled(w.ID)
		record := session.QuestionRecord{QuestionID: w.ID, ToolCallID: callID, Outcome: string(api.OutcomeCancelled), AnsweredBy: hostID}
		if err := q.appendCustom(session.CustomQuestion, record, ""); err != nil {
			q.logger.Error("closing a question", "session", q.id, "error", err)
		}
	}
}
