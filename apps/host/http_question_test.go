package host_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestQuestionsOverHTTP: if no one is there, the question is the text of the turn; a
// reader of the stream counts as watching, and answers by POST.
func TestQuestionsOverHTTP(t *testing.T) {
	h := start(t, host.Config{Home: t.TempDir(), Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	const question = `use clarify {"question":"Which lamp?","choices":["old","new"]}`
	alone := ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "alone", question))
	if alone.Turn.StopReason != session.StopEnd || alone.Turn.Text != "Which lamp?\n\n1. old\n2. new" {
		t.Fatalf("while no one is watching: %+v", alone)
	}
	stream := follow(t, e, sessionID, "")
	answers := waitFor(e, prompt(sessionID, "watched", question))
	p := projection{}
	for len(p.live.Questions) == 0 {
		p.apply(t, stream.next(t))
	}
	answered := ask[api.AnswerQuestionResponse](e, "/v1/answer_question", api.AnswerQuestionRequest{
		SessionID: sessionID, QuestionID: p.live.Questions[0].ID, Answer: "new",
	})
	if !answered.Won || answered.AnsweredBy != "host" {
		t.Fatalf("%+v", answered)
	}
	if got := <-answers; !strings.Contains(got.Turn.Text, "new") || got.Turn.StopReason != session.StopEnd {
		t.Fatalf("watched: %+v", got)
	}
}
