package host_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAnOpenListCountsAsAttendance: who has the list of sessions open sees that one waits, so a
// question is asked, and answered from there. A program that lists sessions does not count as attendance, and neither does
// a list that is out of sight.
func TestAnOpenListCountsAsAttendance(t *testing.T) {
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
	call(t, looksOn, api.ResyncEvents, api.ResyncEventsRequest{SessionID: sessionID, Unattended: true})
	list := dial(t, h, func(e api.EventEnvelope) {
		if updated, ok := e.Event.(api.SessionUpdated); ok {
			updates <- updated.Session
		}
	})
	call(t, list, api.ListSessions, api.ListSessionsRequest{})
	ask[api.ListSessionsResponse](program, "/v1/list_sessions", api.ListSessionsRequest{Watching: true})
	alone := ask[api.TurnAnswer](program, "/v1/send_prompt?wait=turn", prompt(sessionID, "alone", question))
	if alone.Turn.StopReason != session.StopEnd || alone.Turn.Text != "Which lamp?\n\n1. old\n2. new" {
		t.Fatalf("while no one is watching: %+v", alone)
	}

	call(t, list, api.ListSessions, api.ListSessionsRequest{Watching: true})
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
		t.Fatal("the list is closed, but the session counts as attended")
	}
	again := dial(t, h, nil)
	call(t, again, api.ListSessions, api.ListSessionsRequest{Watching: true})
	if <-attendance {
		t.Fatal("the list is open again, but the session does not count as attended")
	}
	for _, attended := range []bool{false, true} {
		call(t, again, api.SetAttendance, api.SetAttendanceRequest{Attended: attended})
		if unattended := <-attendance; unattended == attended {
			t.Fatalf("a list that no one sees, %t: the session counts as unattended, %t", !attended, unattended)
		}
	}
	opened := call(t, again, api.ResyncEvents, api.ResyncEventsRequest{SessionID: sessionID})
	answered := call(t, again, api.AnswerQuestion, api.AnswerQuestionRequest{
		SessionID: sessionID, QuestionID: opened.Live.Questions[0].ID, Answer: "new",
	})
	if got := <-answers; !answered.Won || got.Turn.StopReason != session.StopEnd {
		t.Fatalf("%+v, %+v", answered, got)
	}
}
