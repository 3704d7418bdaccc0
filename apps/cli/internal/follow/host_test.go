package follow

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// pipe is one end of a connection in memory.
type pipe struct {
	out, in chan []byte
	closed  chan struct{} // shared by both ends
	once    *sync.Once
}

func newPipe() (a, b pipe) {
	up, down, closed, once := make(chan []byte), make(chan []byte), make(chan struct{}), new(sync.Once)
	return pipe{up, down, closed, once}, pipe{down, up, closed, once}
}

func (p pipe) Send(ctx context.Context, message []byte) error {
	select {
	case p.out <- message:
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p pipe) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-p.in:
		return message, nil
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// scriptedHost publishes a script over the protocol. It cuts the connection after each
// number of events in cuts, and pauses at an open approval until that is answered.
type scriptedHost struct {
	t      *testing.T
	script *script
	begin  int // events before the prompt
	cuts   []int
	down   int           // how many dials fail after each cut
	asked  time.Duration // how long to wait before the next dial
	wait   func(ctx context.Context, most time.Duration) error

	dials, published int
	failing          int
	prompts          []string
	answers          []api.AnswerApprovalRequest
	replies          []api.AnswerQuestionRequest
	late             bool // someone else was faster with a reply
	canceled         bool
	queue            bool           // answer queued to the prompt and publish nothing
	othersAnswer     bool           // an approval is resolved without our answer
	refuse           map[string]int // how often each request is refused as unavailable
	refused          int
	moving           bool // refusals say that the session is being moved
	onCut            func()
	breakPrompts     bool  // cut each connection at its prompt
	ends             error // what a cut connection says; nil is io.EOF
	follow           func(device string) (string, error)
	wg               sync.WaitGroup
}

var errDown = errors.New("no answer")

func (h *scriptedHost) dial(context.Context) (client.Transport, error) {
	h.dials++
	if h.failing > 0 {
		h.failing--
		return nil, errDown
	}
	ours, theirs := newPipe()
	h.wg.Go(func() { h.serve(ours) })
	if h.ends != nil {
		return ending{theirs, h.ends}, nil
	}
	return theirs, nil
}

// ending is a transport whose end has a reason.
type ending struct {
	pipe
	err error
}

func (e ending) Send(ctx context.Context, message []byte) error {
	err := e.pipe.Send(ctx, message)
	if errors.Is(err, io.ErrClosedPipe) {
		err = e.err
	}
	return err
}

func (e ending) Receive(ctx context.Context) ([]byte, error) {
	message, err := e.pipe.Receive(ctx)
	if errors.Is(err, io.EOF) {
		err = e.err
	}
	return message, err
}

func (h *scriptedHost) serve(p pipe) {
	defer p.Close()
	for {
		message, err := p.Receive(context.Background())
		if err != nil {
			return
		}
		var head api.RequestHead
		if err := json.Unmarshal(message, &head); err != nil {
			h.t.Error(err)
			return
		}
		if h.breakPrompts && head.Type == "send_prompt" {
			return
		}
		if h.refuse[head.Type] > 0 {
			h.refuse[head.Type]--
			h.refused++
			refusal := api.Errorf(api.KindUnavailable, "the disk is full")
			if h.moving {
				refusal.MovingTo = "dev_other"
			}
			answer, err := api.EncodeError(head.RequestID, refusal)
			if err != nil || p.Send(context.Background(), answer) != nil {
				return
			}
			continue
		}
		answer, err := api.EncodeResponse(head.RequestID, h.answer(head.Type, message))
		if err != nil {
			h.t.Error(err)
			return
		}
		if p.Send(context.Background(), answer) != nil || len(h.prompts) > 0 && !h.publish(p) {
			return
		}
	}
}

func (h *scriptedHost) answer(name string, message []byte) any {
	switch name {
	case "resync_events":
		request := decodeRequest[api.ResyncEventsRequest](h.t, message)
		h.published = max(h.published, h.begin)
		if request.Epoch == "" {
			return h.script.resyncAt(h.published, api.ResyncFull, request.Anchors)
		}
		return h.script.resyncAt(h.published, api.ResyncStream, request.Anchors)
	case "send_prompt":
		h.prompts = append(h.prompts, decodeRequest[api.SendPromptRequest](h.t, message).ClientKey)
		if h.queue {
			return api.SendPromptResponse{State: api.PromptQueued}
		}
		return api.SendPromptResponse{State: api.PromptTaken}
	case "answer_approval":
		h.answers = append(h.answers, decodeRequest[api.AnswerApprovalRequest](h.t, message))
		return api.AnswerApprovalResponse{Won: true}
	case "answer_question":
		h.replies = append(h.replies, decodeRequest[api.AnswerQuestionRequest](h.t, message))
		return api.AnswerQuestionResponse{Won: !h.late, Outcome: api.OutcomeAnswered, Answer: "b", AnsweredBy: "cli_other"}
	case "cancel_turn":
		h.canceled = true
		return api.CancelTurnResponse{Cancelled: true}
	}
	h.t.Errorf("unexpected request %s", name)
	return api.Empty{}
}

// publish sends events until the script pauses; false if it cut the connection.
func (h *scriptedHost) publish(p pipe) bool {
	for h.published < len(h.script.events) && !h.queue && !h.waits() {
		event, err := api.EncodeEvent(h.script.events[h.published])
		if err != nil || p.Send(context.Background(), event) != nil {
			return false
		}
		h.published++
		if len(h.cuts) > 0 && h.published == h.cuts[0] {
			h.cuts, h.failing = h.cuts[1:], h.down
			if h.onCut != nil {
				h.onCut()
			}
			return false
		}
	}
	return true
}

// waits reports whether an approval is open, or whether only a cancel continues the script.
func (h *scriptedHost) waits() bool {
	if h.published == 0 {
		return false
	}
	switch h.script.events[h.published-1].Event.(type) {
	case api.ApprovalRequested:
		return len(h.answers) == 0 && !h.othersAnswer
	case api.QuestionAsked:
		return len(h.replies) == 0 && !h.othersAnswer
	case api.MessageStarted:
		return !h.canceled
	}
	return false
}

func decodeRequest[T any](t *testing.T, message []byte) (request T) {
	t.Helper()
	if err := json.Unmarshal(message, &request); err != nil {
		t.Error(err)
	}
	return request
}

func (h *scriptedHost) run(ctx context.Context, view View) (Result, error) {
	defer h.wg.Wait()
	return Run(ctx, Config{
		Dial:    h.dial,
		Follow:  h.follow,
		Prepare: func(context.Context, *client.Client) (string, error) { return testSession, nil },
		Lost:    func(err error) bool { return errors.Is(err, client.ErrLost) || errors.Is(err, errDown) },
		After:   func(error) time.Duration { return h.asked },
		Wait:    h.wait,
		View:    view, ClientKey: testKey, Text: "do it",
	})
}

// askScript is a turn with an approval.
func askScript(t *testing.T) *script {
	s := &script{t: t}
	s.prompt(testTurn, testKey)
	s.add(api.BlockStarted{Index: 0, Block: session.BlockText})
	s.add(api.BlockDelta{Index: 0, Delta: "I will look."})
	s.message(testTurn, "", assistant(session.StopToolUse, "I will look.", "c1"))
	s.add(api.ApprovalRequested{Approval: api.Approval{ID: "a1", TurnID: testTurn}})
	s.add(api.ApprovalResolved{ApprovalID: "a1", Decision: api.DecisionAllow})
	s.message(testTurn, "", assistant(session.StopEnd, "Done."))
	s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey, StopReason: session.StopEnd})
	return s
}
