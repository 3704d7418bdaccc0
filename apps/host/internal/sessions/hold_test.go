package sessions_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// slowTool runs until it is released.
type slowTool struct {
	echoTool
	started, release chan struct{}
}

func newSlowTool() slowTool {
	return slowTool{echoTool{agent.RiskRead}, make(chan struct{}, 9), make(chan struct{})}
}

func (t slowTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	t.started <- struct{}{}
	select {
	case <-t.release:
	case <-ctx.Done():
	}
	return t.echoTool.Run(ctx, call, progress)
}

// TestAHeldHostEndsWhatRunsAndBeginsNothing: a turn that runs ends, what is sent meanwhile waits,
// and the next host does it.
func TestAHeldHostEndsWhatRunsAndBeginsNothing(t *testing.T) {
	slow := newSlowTool()
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("first"), modeltest.Say("second"), modeltest.Say("third")), slow)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	<-slow.started
	other, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: "another"})
	check(t, err)
	held := make(chan error, 1)
	go func() { held <- m.Holder.HoldAll(t.Context()) }()
	for !sessions.Held(t.Context(), open(t, m, other.ID)) {
		runtime.Gosched()
	}
	if m.Holder.HoldAll(t.Context()) == nil {
		t.Error("the host is held twice at once")
	}
	if r := send(t, open(t, m, other.ID), "k3", "third"); r.State != api.PromptQueued {
		t.Errorf("a prompt to a session that rests is %q", r.State)
	}
	if r := send(t, s, "k2", "second"); r.State != api.PromptQueued {
		t.Errorf("a prompt to the session that works is %q", r.State)
	}
	select {
	case err := <-held:
		t.Fatalf("the host did not wait for its turn: %v", err)
	default:
	}
	if n := m.Holder.Working(t.Context()); n != 1 {
		t.Errorf("%d sessions work", n)
	}
	close(slow.release)
	check(t, <-held)
	if read(w, func() int { return w.ended }) != 1 || read(w, func() int { return len(w.live.Queue) }) != 1 {
		t.Error("the queue began, or the turn did not end")
	}
	check(t, m.Close())
	m = f.manager(t)
	for _, id := range []string{s.ID(), other.ID} {
		w := newWatcher()
		subscribe(t, open(t, m, id), w)
		w.wait(func() bool { return len(w.live.Queue) == 0 && w.live.Turn == nil })
	}
}

// TestAHeldHostKeepsWhatWaitsForAPerson: an approval and a question are suspended, and asked again
// under the same ids when the host is released.
func TestAHeldHostKeepsWhatWaitsForAPerson(t *testing.T) {
	tool := &counted{echoTool: echoTool{agent.RiskWrite}}
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("done")), tool)
	m := f.manager(t)
	s, w, before := waiting(t, f, m)
	check(t, m.Holder.HoldAll(t.Context()))
	check(t, m.Holder.HoldAll(t.Context())) // again
	answer := api.AnswerApprovalRequest{ApprovalID: before.ID, Decision: api.DecisionAllow}
	var refused *api.Error
	if _, err := s.AnswerApproval(t.Context(), "cli_x", answer); !errors.As(err, &refused) || refused.Kind != api.KindUnavailable {
		t.Errorf("an answer while the host is held: %v", err)
	}
	m.Holder.ReleaseAll()
	for answered := false; !answered; { // it is asked for again in a moment
		_, err := s.AnswerApproval(t.Context(), "cli_x", answer)
		if answered = err == nil; !answered && !(errors.As(err, &refused) && refused.Kind == api.KindUnavailable) {
			t.Fatal(err)
		}
	}
	w.wait(func() bool { return w.ended == 1 })
	if tool.count() != 1 {
		t.Errorf("the call ran %d times", tool.count())
	}
}

func TestAHeldHostKeepsAQuestion(t *testing.T) {
	f := asking(t)
	m := f.manager(t)
	s, _, before := asked(t, f, m)
	check(t, m.Holder.HoldAll(t.Context()))
	answer := api.AnswerQuestionRequest{QuestionID: before.ID, Answer: "a"}
	var refused *api.Error
	if _, err := s.AnswerQuestion(t.Context(), "cli_x", answer); !errors.As(err, &refused) || refused.Kind != api.KindUnavailable {
		t.Errorf("an answer while the host is held: %v", err)
	}
	check(t, m.Close())
	m = f.manager(t)
	w := attendant()
	s = open(t, m, s.ID())
	subscribe(t, s, w)
	if after := question(w); after.ID != before.ID {
		t.Errorf("the question is %s, and was %s", after.ID, before.ID)
	}
	if _, err := s.AnswerQuestion(t.Context(), "cli_x", answer); err != nil {
		t.Fatal(err)
	}
	w.wait(func() bool { return w.ended == 1 })
}

// TestAHostIsReleasedWhenItsTurnsTakeTooLong: nothing is stuck after the wait was given up.
func TestAHostIsReleasedWhenItsTurnsTakeTooLong(t *testing.T) {
	slow := newSlowTool()
	f := newFixture(t, modeltest.New(modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("first"), modeltest.Say("second")), slow)
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "go")
	<-slow.started
	late := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	if err := m.Holder.HoldAll(ctx); !errors.Is(err, late) {
		t.Fatalf("the wait ended with %v", err)
	}
	send(t, s, "k2", "second")
	close(slow.release)
	w.wait(func() bool { return w.ended == 2 })
	for _, entry := range read(w, func() []session.Entry { return w.entries }) {
		if custom, ok := entry.AsCustom(); ok && custom.CustomType == session.CustomTurn {
			t.Errorf("the turn was taken for one that was cut off: %s", custom.Data)
		}
	}
}

// TestAHostThatIsReplacedIsNotReleased: only what is held can be kept so, and then nothing begins
// before the end.
func TestAHostThatIsReplacedIsNotReleased(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("first")))
	m := f.manager(t)
	if m.Holder.KeepHeld() {
		t.Error("a host that was never held is kept so")
	}
	check(t, m.Holder.HoldAll(t.Context()))
	m.Holder.ReleaseAll()
	if m.Holder.KeepHeld() {
		t.Error("a host that was released is kept held")
	}
	check(t, m.Holder.HoldAll(t.Context()))
	if !m.Holder.KeepHeld() {
		t.Error("a held host is not kept so")
	}
	m.Holder.ReleaseAll()
	if r := send(t, f.create(t, m), "k1", "go"); r.State != api.PromptQueued {
		t.Errorf("a prompt to a host that is about to end is %q", r.State)
	}
}
