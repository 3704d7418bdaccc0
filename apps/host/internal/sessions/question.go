package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// people is the agent's way to those who watch. It implements agent.People.
type people struct{ s *Session }

// pendingQuestion waits for an answer. The answer channel holds one, and only the
// goroutine that takes the question out of the map sends it.
type pendingQuestion struct {
	question api.Question
	answer   chan agent.Reply
}

// Question implements agent.People.
func (p people) Question(ctx context.Context, call agent.Call, question agent.Question) (agent.Reply, error) {
	pending := &pendingQuestion{answer: make(chan agent.Reply, 1)}
	var asked bool
	var err error
	doErr := p.s.do(ctx, func() { asked, err = p.s.askPeople(pending, call, question) })
	if err = errors.Join(doErr, err); err != nil || !asked {
		return agent.Reply{}, err
	}
	var late <-chan time.Time
	if deadline := pending.question.Deadline; deadline > 0 {
		timer := time.NewTimer(time.Until(time.UnixMilli(deadline)))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case reply := <-pending.answer:
		return reply, nil
	case <-late:
		return p.settle(ctx, pending, api.OutcomeTimedOut)
	case <-ctx.Done():
		return p.settle(ctx, pending, api.OutcomeCancelled)
	}
}

// settle ends a question that nobody answered; an answer that was faster counts. A
// host that ends leaves it for its next start.
func (p people) settle(ctx context.Context, pending *pendingQuestion, outcome api.QuestionOutcome) (agent.Reply, error) {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	s, id, suspended := p.s, pending.question.ID, false
	err := s.ask(detached, func() {
		if _, waits := s.questions[id]; !waits {
			return
		}
		if suspended = outcome == api.OutcomeCancelled && s.closing && !s.cancelling(); suspended {
			delete(s.questions, id)
			return
		}
		if err := s.endQuestion(pending, agent.Reply{Outcome: outcome, By: "host"}); err != nil {
			s.deps.Logger.Error("keeping how a question ended", "session", s.id, "error", err)
			s.dropQuestion(pending, agent.Reply{Outcome: outcome, By: "host"})
		}
	})
	switch {
	case suspended:
		return agent.Reply{}, agent.ErrSuspended
	case err != nil:
		return agent.Reply{}, err
	}
	return <-pending.answer, nil
}

// askPeople puts a question on disk and tells everybody; false when nobody is there
// who may answer. One from before a restart was asked then: it waits on, or has its
// answer.
func (s *Session) askPeople(pending *pendingQuestion, call agent.Call, question agent.Question) (asked bool, err error) {
	q := api.Question{
		ID: "qst_" + randomHex(8), ToolCallID: call.ID, Question: question.Text, Choices: append([]string{}, question.Choices...), CreatedAt: nowMillis(),
	}
	if s.deps.QuestionTimeout > 0 {
		q.Deadline = time.Now().Add(s.deps.QuestionTimeout).UnixMilli()
	}
	known := false
	if s.turn != nil {
		q.TurnID = s.turn.id
		if s.turn.resumed { // all of the log is looked at for it
			if _, reply, ok := read.AnsweredCall(s.log.Tree(), call.ID); ok {
				pending.answer <- reply
				return true, nil
			}
			if kept, ok := read.OpenQuestions(s.log.Tree())[call.ID]; ok {
				q.ID, q.CreatedAt, known = kept.ID, kept.CreatedAt, true
			}
		}
	}
	if !known && !s.attended(api.GrantPrompt) {
		return false, nil
	}
	if !known {
		if err := s.keepQuestion(q); err != nil {
			return false, err
		}
	}
	pending.question = q
	s.questions[q.ID] = pending
	s.publish(api.QuestionAsked{Question: q})
	s.touch()
	s.attend()
	return true, nil
}

// keepQuestion puts on disk that a question waits, before anybody hears of it.
func (s *Session) keepQuestion(q api.Question) error {
	shown, err := session.Encode(q)
	if err != nil {
		return fmt.Errorf("encoding a question: %w", err)
	}
	record := session.QuestionRecord{QuestionID: q.ID, ToolCallID: q.ToolCallID, Request: shown}
	if s.turn != nil {
		prompt := s.turn.prompt
		prompt.Text = ""
		record.Prompt = &prompt
	}
	return s.keepCustom(session.CustomQuestion, record, "")
}

// AnswerQuestion answers a question that waits. The first answer wins; a later one
// learns what was answered and by whom.
func (s *Session) AnswerQuestion(ctx context.Context, clientID string, r api.AnswerQuestionRequest) (response api.AnswerQuestionResponse, err error) {
	answer := strings.TrimSpace(r.Answer)
	switch {
	case r.Skip && answer != "":
		return response, api.Errorf(api.KindBadRequest, "skip leaves the question to the agent, so there can be no answer beside it")
	case !r.Skip && answer == "":
		return response, api.Errorf(api.KindBadRequest, "the answer is empty: write something, or leave the question to the agent with skip")
	case len(answer) > api.MaxAnswer:
		return response, api.Errorf(api.KindTooLarge, "the answer has %d bytes, the limit is %d: put the text into a file and name the file", len(answer), api.MaxAnswer)
	case !utf8.ValidString(answer):
		return response, api.Errorf(api.KindBadRequest, "the answer is not UTF-8")
	}
	given := agent.Reply{Outcome: api.OutcomeAnswered, Answer: answer, By: clientID}
	if r.Skip {
		given.Outcome = api.OutcomeSkipped
	}
	doErr := s.do(ctx, func() { response, err = s.answerQuestion(r.QuestionID, given) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, refuse(err)
}

// answerQuestion takes an answer. One that the same client gave already, and that it
// sends again because the reply was lost, has won.
func (s *Session) answerQuestion(id string, given agent.Reply) (api.AnswerQuestionResponse, error) {
	counts := given
	if pending, waits := s.questions[id]; waits {
		if err := s.endQuestion(pending, given); err != nil {
			return api.AnswerQuestionResponse{}, err
		}
	} else {
		record, err := read.AnsweredQuestion(s.log.Tree(), id)
		if err != nil {
			return api.AnswerQuestionResponse{}, err
		}
		counts = agent.Reply{Outcome: api.QuestionOutcome(record.Outcome), Answer: record.Answer, By: record.AnsweredBy}
	}
	return api.AnswerQuestionResponse{Outcome: counts.Outcome, Answer: counts.Answer, AnsweredBy: counts.By, Won: counts == given}, nil
}

// endQuestion puts the answer on disk, tells everybody, and only then lets the agent
// go on. Where the disk refuses, the question still waits.
func (s *Session) endQuestion(pending *pendingQuestion, reply agent.Reply) error {
	record := session.QuestionRecord{
		QuestionID: pending.question.ID, ToolCallID: pending.question.ToolCallID,
		Outcome: string(reply.Outcome), Answer: reply.Answer, AnsweredBy: reply.By,
	}
	by := reply.By
	if by == "host" && reply.Outcome != api.OutcomeAnswered && reply.Outcome != api.OutcomeSkipped {
		by = "" // nobody did it
	}
	if err := s.keepCustom(session.CustomQuestion, record, by); err != nil {
		return err
	}
	s.dropQuestion(pending, reply)
	return nil
}

// dropQuestion tells everybody how a question ended.
func (s *Session) dropQuestion(pending *pendingQuestion, reply agent.Reply) {
	id := pending.question.ID
	delete(s.questions, id)
	s.publish(api.QuestionAnswered{QuestionID: id, Outcome: reply.Outcome, Answer: reply.Answer, AnsweredBy: reply.By})
	pending.answer <- reply
	s.touch()
	s.attend()
}

// dropQuestions notes that questions of turns that do not go on are void.
func (s *Session) dropQuestions() {
	for callID, w := range read.OpenQuestions(s.log.Tree()) {
		record := session.QuestionRecord{QuestionID: w.ID, ToolCallID: callID, Outcome: string(api.OutcomeCancelled), AnsweredBy: "host"}
		if err := s.keepCustom(session.CustomQuestion, record, ""); err != nil {
			s.deps.Logger.Error("closing a question", "session", s.id, "error", err)
		}
	}
}
