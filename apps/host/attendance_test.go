package host_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAnOpenListIsSomebody: who has the list of sessions open sees that one waits, so a
// question is asked, and answered from there. A program that lists sessions is nobody.
func TestAnOpenListIsSomebody(t *testing.T) {
	h := start(t, host.Config{Home: t.TempDir(), Projects: []string{t.TempDir()}})
	program := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, program)
	const question = `use clarify {"question":"Which lamp?","choices":["old","new"]}`

	updates, attendance := make(chan api.SessionSummary, 1000), make(chan bool, 100)
	looksOn := dial(t, h, func(e api.EventEnvelope) {
		if changed, ok := e.Event.(api.AttendanceChanged); ok {
			attendance <- changed.Unattended
		}
	})
	call[api.ResyncEventsResponse](t, looksOn, "resync_events", api.ResyncEventsRequest{SessionID: sessionID, Unattended: true})
	list := dial(t, h, func(e api.EventEnvelope) {
		if updated, ok := e.Event.(api.SessionUpdated); ok {
			updates <- updated.Session
		}
	})
	call[api.ListSessionsResponse](t, list, "list_sessions", api.ListSessionsRequest{})
	ask[api.ListSessionsResponse](program, "/v1/list_sessions", api.ListSessionsRequest{Watching: true})
	alone := ask[api.TurnAnswer](program, "/v1/send_prompt?wait=turn", prompt(sessionID, "alone", question))
	if alone.Turn.StopReason != session.StopEnd || alone.Turn.Text != "Which lamp?\n\n1. old\n2. new" {
		t.Fatalf("with nobody there: %+v", alone)
	}

	call[api.ListSessionsResponse](t, list, "list_sessions", api.ListSessionsRequest{Watching: true})
	answers := waitFor(program, prompt(sessionID, "listed", question))
	for summary := range updates {
		if summary.WaitingAnswer {
			break
		}
	}
	if err := list.Close(); err != nil {
		t.Fatal(err)
	}
	if !<-attendance {
		t.Fatal("the list is closed, and somebody is said to be there")
	}
	again := dial(t, h, nil)
	call[api.ListSessionsResponse](t, again, "list_sessions", api.ListSessionsRequest{Watching: true})
	if <-attendance {
		t.Fatal("the list is open again, and nobody is said to be there")
	}
	opened := call[api.ResyncEventsResponse](t, again, "resync_events", api.ResyncEventsRequest{SessionID: sessionID})
	answered := call[api.AnswerQuestionResponse](t, again, "answer_question", api.AnswerQuestionRequest{
		SessionID: sessionID, QuestionID: opened.Live.Questions[0].ID, Answer: "new",
	})
	if got := <-answers; !answered.Won || got.Turn.StopReason != session.StopEnd {
		t.Fatalf("%+v, %+v", answered, got)
	}
}
