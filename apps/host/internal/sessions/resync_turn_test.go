package sessions_test

import (
	"fmt"
	"os"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// seen counts what happened in histories.
type seen struct{ queued, steered, edited, answered, canceled, queuedAtEnd, askingAtEnd, wonderingAtEnd, killed int }

func (s *seen) add(o seen) {
	s.queued += o.queued
	s.steered += o.steered
	s.edited += o.edited
	s.answered += o.answered
	s.canceled += o.canceled
	s.queuedAtEnd += o.queuedAtEnd
	s.askingAtEnd += o.askingAtEnd
	s.wonderingAtEnd += o.wonderingAtEnd
	s.killed += o.killed
}

// standstill is why nothing moves.
type standstill int

const (
	idle    standstill = iota
	speaks             // the model stands before a delta
	asks               // a call waits for an answer
	wonders            // the agent waits for an answer to a question
)

// settle waits until nothing moves.
func (h *history) settle() standstill {
	for {
		now := read(h.recorder, func() standstill {
			switch live := h.recorder.live; {
			case len(live.Approvals) > 0:
				return asks
			case len(live.Questions) > 0:
				return wonders
			case live.Turn == nil && live.Work == nil && len(live.Queue) == 0:
				return idle
			}
			return speaks
		})
		if now != speaks || h.standing {
			return now
		}
		select {
		case <-h.model.at:
			h.standing = true
		case <-h.moved:
		}
	}
}

// turn sends a prompt and continues with it.
func (h *history) turn(key string, stops int) {
	send(h.t, h.s, key, "go")
	h.goOn(stops)
}

// goOn lets the session work, and cuts entries off whenever nothing moves, up to the
// given number of times; -1 is to the end of all work.
func (h *history) goOn(stops int) {
	for stop := 0; stop != stops; stop++ {
		why := h.settle()
		if why == idle {
			return
		}
		if !h.long || stop%10 == 0 {
			h.cutSome(2)
		}
		if h.random.IntN(5) == 0 && h.disturb() {
			continue // it may move now
		}
		switch why {
		case asks:
			h.answer()
			continue
		case wonders:
			id := read(h.recorder, func() string { return h.recorder.live.Questions[0].ID })
			reply(h.t, h.s, "cli_x", api.AnswerQuestionRequest{QuestionID: id, Answer: "a"})
			continue
		}
		h.standing = false
		h.model.goOn <- struct{}{}
	}
}

// answer decides about the call that waits.
func (h *history) answer() {
	id := read(h.recorder, func() string { return h.recorder.live.Approvals[0].ID })
	request := api.AnswerApprovalRequest{ApprovalID: id, Decision: api.DecisionAllow}
	switch h.random.IntN(8) {
	case 0:
		request.Decision = api.DecisionStop
	case 1:
		request.Decision = api.DecisionDeny
	case 2:
		request.Decision, request.Feedback = api.DecisionDeny, "not so"
	}
	if r := answerWith(h.t, h.s, request); !r.Won {
		h.t.Fatalf("%+v", r)
	}
	h.seen.answered++
}

// mostPrompts bounds the prompts that a history sends beside those of its turns.
const mostPrompts = 10

// disturb does what people do while a turn runs. True where the turn may move on.
func (h *history) disturb() bool {
	live := read(h.recorder, func() api.Live { return h.recorder.live.Clone() })
	what := h.random.IntN(12)
	switch {
	case what == 0 && live.Turn != nil:
		if _, err := h.s.CancelTurn(h.t.Context(), live.Turn.TurnID); err != nil {
			h.t.Fatal(err)
		}
		h.standing = false // the model gives up
		h.recorder.wait(func() bool { return h.recorder.live.Turn == nil || h.recorder.live.Turn.TurnID != live.Turn.TurnID })
		h.seen.canceled++
		return true
	case what < 7 && h.sent < mostPrompts:
		h.prompt()
	case len(live.Queue) > 0:
		h.edit(live.Queue)
	}
	return false
}

// prompt sends one that waits, or steers.
func (h *history) prompt() {
	h.sent++
	request := api.SendPromptRequest{ClientKey: fmt.Sprint("p", h.sent), Text: "and this"}
	if h.random.IntN(2) == 0 {
		request.Mode = session.ModeSteer
		h.seen.steered++
	}
	r, err := h.s.SendPrompt(h.t.Context(), "cli_x", request)
	if err != nil || r.State != api.PromptQueued {
		h.t.Fatalf("%+v %v", r, err)
	}
	h.seen.queued++
}

// edit changes, removes and reorders prompts that wait.
func (h *history) edit(waiting []session.QueuedPrompt) {
	var request api.EditQueueRequest
	for _, q := range waiting {
		request.Expected = append(request.Expected, q.ClientKey)
	}
	for _, i := range h.random.Perm(len(waiting)) {
		item := api.QueueItem{ClientKey: waiting[i].ClientKey}
		switch h.random.IntN(4) {
		case 0:
			continue
		case 1:
			item.Text = fmt.Sprint("edited ", h.random.IntN(100))
		case 2:
			item.Mode = session.ModeSteer
		}
		request.Items = append(request.Items, item)
	}
	_, err := h.s.EditQueue(h.t.Context(), queue.Editor{ClientID: "cli_x", MayApprove: true, Most: api.ModeBypass}, request)
	if err != nil {
		h.t.Fatal(err)
	}
	h.seen.edited++
}

// restart ends the host where it stands, in order, or as kill -9 does, which leaves
// what is on disk and nothing else; and starts another.
func (h *history) restart(f *fixture, m *sessions.Manager) *sessions.Manager {
	t := h.t
	for toCall := h.random.IntN(4) > 0; toCall && h.settle() == speaks; { // up to a call that waits, if one comes
		h.standing = false
		h.model.goOn <- struct{}{}
	}
	if h.settle() != idle {
		h.prompt()
	}
	live := read(h.recorder, func() api.Live { return h.recorder.live.Clone() })
	h.seen.queuedAtEnd += min(len(live.Queue), 1)
	h.seen.askingAtEnd += len(live.Approvals)
	h.seen.wonderingAtEnd += len(live.Questions)
	if h.random.IntN(2) == 0 {
		h.seen.killed++
		h.s.Unsubscribe(t.Context(), h.recorder) // what the old one still does reaches no subscriber
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
			t.Fatal(err)
		}
		f.dir = dir
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return h.open(f)
}
