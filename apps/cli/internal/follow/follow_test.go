package follow

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

func TestRunSurvivesLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := askScript(t)
		h := &scriptedHost{t: t, script: s, cuts: []int{1, 4, 6, 8}, down: 3}
		view := newRecorder()
		asked := 0
		view.decide = func(context.Context, api.Approval) (Verdict, error) {
			asked++
			time.Sleep(time.Second) // the person thinks; the bubble's clock moves at once
			return Verdict{Decision: api.DecisionAllow}, nil
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result != (Result{SessionID: testSession, StopReason: session.StopEnd, Text: "Done."}) {
			t.Fatalf("got %+v, %v", result, err)
		}
		if want := []string{"I will look.", "Done."}; !slices.Equal(view.messages, want) {
			t.Errorf("messages %q, want %q", view.messages, want)
		}
		if asked != 1 || len(h.answers) != 1 || h.answers[0].Decision != api.DecisionAllow {
			t.Errorf("asked %d times, answers %+v", asked, h.answers)
		}
		if slices.ContainsFunc(h.prompts, func(key string) bool { return key != testKey }) {
			t.Errorf("the prompt was sent with the keys %q", h.prompts)
		}
		if h.dials != 1+4*4 {
			t.Errorf("dialed %d times", h.dials)
		}
	})
}

// TestABetterPathFollowsAtOnce: a connection that moves is nobody's concern, and one that fails
// while another path is known costs no time.
func TestABetterPathFollowsAtOnce(t *testing.T) {
	for _, tt := range []struct {
		ends  error
		lost  bool   // people are told
		where string // as they are told
	}{
		{client.ErrMoved, false, ""},
		{client.ErrPathLost, true, "its path failed"},
	} {
		t.Run(tt.ends.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &scriptedHost{t: t, script: askScript(t), cuts: []int{1, 4, 6}, ends: tt.ends}
				view, start := newRecorder(), time.Now()
				result, err := h.run(t.Context(), view)
				if err != nil || result.Text != "Done." || time.Since(start) != 0 {
					t.Fatalf("got %+v, %v, after %s", result, err, time.Since(start))
				}
				// The cut may come before the answer to a request or after it: the notice then
				// names the request or not. A connection that is cut before it has caught up
				// gives no second notice.
				told := len(view.notices) >= 2 && strings.HasPrefix(view.notices[0], "connection lost, trying again (") &&
					strings.HasSuffix(view.notices[0], tt.where+")") && view.notices[1] == "connected again"
				if h.dials != 4 || told != tt.lost || !tt.lost && len(view.notices) > 0 {
					t.Errorf("%d dials, notices %q", h.dials, view.notices)
				}
			})
		})
	}
}

func TestRunWaitsAsLongAsItWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{4}, asked: 20 * time.Second}
		start := time.Now()
		if _, err := h.run(t.Context(), newRecorder()); err != nil || time.Since(start) < h.asked {
			t.Fatalf("ended after %s: %v", time.Since(start), err)
		}
	})
}

func TestRunGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), cuts: []int{2}, down: 1_000_000}
		start := time.Now()
		_, err := h.run(t.Context(), newRecorder())
		if !errors.Is(err, errDown) {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(start); waited < defaultPatience || waited > defaultPatience+2*longestPause {
			t.Errorf("gave up after %s", waited)
		}
	})
}

// TestARefusedRequestEnds uses a host that cannot write: a short problem is waited out, and
// a long one ends the command with the request that failed.
func TestARefusedRequestEnds(t *testing.T) {
	for _, name := range []string{"send_prompt", "answer_approval", "resync_events"} {
		t.Run(name+" for a moment", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, view := refusing(t, name, 3)
				result, err := h.run(t.Context(), view)
				if err != nil || result.StopReason != session.StopEnd || h.refused != 3 {
					t.Fatalf("got %+v, %v, %d refusals", result, err, h.refused)
				}
			})
		})
		t.Run(name+" for good", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, view := refusing(t, name, 1_000_000)
				start := time.Now()
				_, err := h.run(t.Context(), view)
				var refused *api.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "the disk is full") {
					t.Fatalf("got %v", err)
				}
				if waited := time.Since(start); waited > refusalPatience+longestPause || h.refused > 20 || h.dials > 2 {
					t.Errorf("it ended after %s, %d refusals and %d dials", waited, h.refused, h.dials)
				}
			})
		})
	}
}

// TestAMoveIsWaitedFor: a prompt to a session that is being moved is sent when that has ended,
// however long it takes.
func TestAMoveIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, view := refusing(t, "send_prompt", 500)
		h.moving = true
		start := time.Now()
		result, err := h.run(t.Context(), view)
		if err != nil || result.StopReason != session.StopEnd || h.refused != 500 {
			t.Fatalf("got %+v, %v, %d refusals", result, err, h.refused)
		}
		if waited := time.Since(start); waited < 10*refusalPatience {
			t.Errorf("it waited for %s only", waited)
		}
	})
}

// refusing is a host that refuses one request; a refused resync is the one after the first
// connection.
func refusing(t *testing.T, name string, times int) (*scriptedHost, *recorder) {
	h, view := &scriptedHost{t: t, script: askScript(t), refuse: map[string]int{name: times}}, newRecorder()
	view.decide = func(context.Context, api.Approval) (Verdict, error) { return Verdict{Decision: api.DecisionAllow}, nil }
	if name == "resync_events" {
		h.refuse, h.cuts, h.onCut = map[string]int{}, []int{4}, func() { h.refuse[name] = times }
	}
	return h, view
}

// TestConnectionsThatBreakAtOnceEnd: each connection is established, and lost before it
// brings anything.
func TestConnectionsThatBreakAtOnceEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), breakPrompts: true}
		start := time.Now()
		_, err := h.run(t.Context(), newRecorder())
		if !errors.Is(err, client.ErrLost) || !strings.Contains(err.Error(), "may not have received the prompt") {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(start); waited > defaultPatience+2*longestPause || h.dials > 40 {
			t.Errorf("it ended after %s and %d dials", waited, h.dials)
		}
	})
}

func TestRunFailsAtOnceWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), failing: 1}
		if _, err := h.run(t.Context(), newRecorder()); !errors.Is(err, errDown) || h.dials != 1 {
			t.Fatalf("got %v after %d dials", err, h.dials)
		}
	})
}

func TestInterruptCancelsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t}
		s.prompt(testTurn, testKey)
		s.add(api.MessageStarted{}) // the host pauses here until the turn is canceled
		s.message(testTurn, "", assistant(session.StopAborted, "I was about"))
		s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey, StopReason: session.StopAborted})
		h := &scriptedHost{t: t, script: s}
		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		result, err := h.run(ctx, newRecorder())
		if err != nil || result.StopReason != session.StopAborted || result.Text != "I was about" || !h.canceled {
			t.Fatalf("got %+v, %v, canceled %t", result, err, h.canceled)
		}
	})
}

func TestInterruptWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), queue: true}
		view := newRecorder()
		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		if _, err := h.run(ctx, view); !errors.Is(err, ErrQueued) || len(view.notices) != 1 {
			t.Fatalf("got %v, notices %q", err, view.notices)
		}
	})
}

// TestQuestionIsWithdrawn lets another entry be faster: nothing waits for the person here.
func TestQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &scriptedHost{t: t, script: askScript(t), othersAnswer: true}
		view := newRecorder()
		withdrawn := make(chan error, 1)
		view.decide = func(ctx context.Context, _ api.Approval) (Verdict, error) {
			<-ctx.Done()
			withdrawn <- ctx.Err()
			return Verdict{Decision: api.DecisionDeny}, ctx.Err()
		}
		result, err := h.run(t.Context(), view)
		if err != nil || result.StopReason != session.StopEnd {
			t.Fatalf("got %+v, %v", result, err)
		}
		if err := <-withdrawn; !errors.Is(err, context.Canceled) || len(h.answers) != 0 {
			t.Errorf("the question ended with %v, answers %+v", err, h.answers)
		}
	})
}
