package follow

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func queuedTracker(t *testing.T) (*tracker, *script) {
	t.Helper()
	view := newRecorder()
	tr := newTracker(testKey, view, newQuestions(t.Context(), view))
	tr.resync(testSession, api.ResyncEventsResponse{Mode: api.ResyncFull, Live: api.NewLive()})
	s := &script{t: t}
	s.add(api.TurnStarted{Turn: api.Turn{TurnID: "other", ClientKey: "their key"}})
	s.add(api.QueueChanged{Queue: []session.QueuedPrompt{{ClientKey: testKey}, {ClientKey: "their next"}}})
	return tr, s
}

// TestRemovedPrompt: a prompt that someone removes from the queue has ended, and reports
// that.
func TestRemovedPrompt(t *testing.T) {
	tr, s := queuedTracker(t)
	s.add(api.QueueChanged{Queue: []session.QueuedPrompt{{ClientKey: "their next"}}})
	tr.events(s.events)
	if tr.end == nil || tr.end.StopReason != session.StopError || tr.end.Error != removedText {
		t.Errorf("the end is %+v", tr.end)
	}
}

// TestSteerEndsWithItsTurn: a steer is part of the turn that it was delivered to, and ends
// with it.
func TestSteerEndsWithItsTurn(t *testing.T) {
	tr, s := queuedTracker(t)
	s.entry(func(id string, seq uint64) any {
		return session.MessageEntry{
			Type: session.TypeMessage, ID: id, Seq: seq, ClientKey: testKey, TurnID: "other", Steer: true,
			Message: session.Message{Role: session.RoleUser, Content: session.Content{session.Text("left")}, Timestamp: 1},
		}
	})
	s.add(api.QueueChanged{Queue: []session.QueuedPrompt{{ClientKey: "their next"}}})
	tr.events(s.events)
	if tr.end != nil || tr.turnID != "other" {
		t.Fatalf("the turn is %q, the end %+v", tr.turnID, tr.end)
	}
	live := api.NewLive()
	live.Turn = &api.Turn{TurnID: "other", ClientKey: "their key"}
	tr.replaceLive(live)
	if tr.end != nil || !tr.ours() {
		t.Fatalf("after a resync the end is %+v", tr.end)
	}
	s.events = nil
	tr.event(api.EventEnvelope{SessionID: testSession, Seq: 99, Event: api.TurnEnded{TurnID: "other", ClientKey: "their key", StopReason: session.StopEnd}})
	if tr.end == nil || tr.end.StopReason != session.StopEnd {
		t.Errorf("the end is %+v", tr.end)
	}
}
