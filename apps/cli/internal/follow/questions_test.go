package follow

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// questionScript is a turn with a question of the agent.
func questionScript(t *testing.T) *script {
	s := &script{t: t}
	s.prompt(testTurn, testKey)
	s.message(testTurn, "", assistant(session.StopToolUse, "", "c1"))
	s.add(api.QuestionAsked{Question: api.Question{ID: "q1", TurnID: testTurn, Question: "which?", Choices: []string{"a", "b"}}})
	s.add(api.QuestionAnswered{QuestionID: "q1", Outcome: api.OutcomeAnswered, Answer: "b", AnsweredBy: "cli_other"})
	s.message(testTurn, "", assistant(session.StopEnd, "Done."))
	s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey, StopReason: session.StopEnd})
	return s
}

// TestAnswersToAQuestion: whatever the answer, the turn is followed to its end, and a
// person is asked once however often the connection is cut.
func TestAnswersToAQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		reply  Reply
		cuts   []int
		others bool // another entry answers
		late   bool
		want   []api.AnswerQuestionRequest
		notice string
	}{
		"answered":       {reply: Reply{Answer: "a"}, want: []api.AnswerQuestionRequest{{SessionID: testSession, QuestionID: "q1", Answer: "a"}}},
		"over cuts":      {reply: Reply{Answer: "a"}, cuts: []int{2, 4}, want: []api.AnswerQuestionRequest{{SessionID: testSession, QuestionID: "q1", Answer: "a"}}},
		"skipped":        {reply: Reply{Skip: true}, want: []api.AnswerQuestionRequest{{SessionID: testSession, QuestionID: "q1", Skip: true}}},
		"left to others": {others: true},
		"too late": {reply: Reply{Answer: "a"}, late: true, want: []api.AnswerQuestionRequest{{SessionID: testSession, QuestionID: "q1", Answer: "a"}},
			notice: "too late: cli_other answered the agent: b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scriptedHost{t: t, script: questionScript(t), cuts: c.cuts, othersAnswer: c.others, late: c.late}
				view, asked := newRecorder(), 0
				view.answer = func(context.Context, api.Question) (Reply, error) { asked++; return c.reply, nil }
				result, err := h.run(t.Context(), view)
				if err != nil || result.Text != "Done." || !slices.Equal(h.replies, c.want) || asked > 1 || asked == 0 && !c.others {
					t.Fatalf("%+v, %v, asked %d times, sent %+v", result, err, asked, h.replies)
				}
				if c.notice != "" && !slices.Contains(view.notices, c.notice) {
					t.Errorf("notices: %s", strings.Join(view.notices, "; "))
				}
			})
		})
	}
}

// TestQuestionAnsweredElsewhere: the person being asked learns who was faster.
func TestQuestionAnsweredElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: questionScript(t), othersAnswer: true}
		view := newRecorder()
		view.answer = func(ctx context.Context, _ api.Question) (Reply, error) {
			<-ctx.Done()
			return Reply{}, ctx.Err()
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result.StopReason != session.StopEnd || len(h.replies) != 0 {
			t.Fatalf("%+v, %v, sent %+v", result, err, h.replies)
		}
	})
}
