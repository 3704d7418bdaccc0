package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// blocking is a tool that reports, and then waits for its end.
func blocking(name string, risk agent.Risk) fake {
	return fake{name, risk, func(ctx context.Context, _ agent.Call, progress func(string)) agent.Result {
		progress("half ")
		<-ctx.Done()
		return agent.Cancelled(0, "half ")
	}}
}

func scripts() map[string][]modeltest.Step {
	return map[string][]modeltest.Step{
		"text": {modeltest.Say("just a longer text")},
		"thinking, text and calls": {
			{Content: session.Content{
				{Type: session.BlockThinking, Thinking: "let me see", ThinkingSignature: "sig"}, session.Text("I read"),
				modeltest.Call("a", "read", `{"x":"yz"}`), modeltest.Call("b", "read", `{}`), modeltest.Call("c", "write", `{}`),
			}},
			modeltest.Calls(modeltest.Call("d", "write", `{}`), modeltest.Call("e", "fly", `{}`), modeltest.Call("f", "read", `{"`)),
			modeltest.Say("done"),
		},
		"retries":   {{Content: session.Content{session.Text("again")}, FailFirst: 2}},
		"stall":     {{Content: session.Content{session.Text("and then")}, Stall: true}},
		"cut":       {{Content: session.Content{modeltest.Call("a", "read", `{}`)}, Stop: session.StopLength}, modeltest.Say("ok")},
		"hangs":     {modeltest.Calls(modeltest.Call("a", "hang", `{}`), modeltest.Call("b", "read", `{}`), modeltest.Call("c", "hangw", `{}`))},
		"fails":     {{Content: session.Content{session.Text("half"), modeltest.Call("a", "read", `{}`)}, Stop: session.StopError, Error: "HTTP 500"}},
		"overflow":  {modeltest.Calls(modeltest.Call("a", "read", `{}`)), {Overflow: true}, modeltest.Say("it fits")},
		"says none": {modeltest.Calls(modeltest.Call("a", "read", `{}`)), {}},
	}
}

// A cancel after every single event and every kept step, of every script: each
// call has exactly one result, a strict model takes the next prompt, and no
// model call follows the cancel.
func TestCancelAnywhere(t *testing.T) {
	for name, steps := range scripts() {
		t.Run(name, func(t *testing.T) {
			for k, reached := 1, true; reached; k++ {
				synctest.Test(t, func(t *testing.T) { reached = cancelAt(t, steps, k) })
				if k > 500 {
					t.Fatal("the turn does not end")
				}
			}
		})
	}
}

// cancelAt runs the script with a cancel after step k and tells whether the turn
// got that far. A turn that waits for ever before k is canceled there.
func cancelAt(t *testing.T, steps []modeltest.Step, k int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model := modeltest.New(steps...)
	asked := 0
	w := &world{}
	w.onStep = func(n int) {
		if n == k {
			cancel()
			asked = len(model.Requests())
		}
	}
	turn := turnOf(w, model, echo("read", agent.RiskRead), echo("write", agent.RiskWrite),
		blocking("hang", agent.RiskRead), blocking("hangw", agent.RiskWrite))
	turn.Compact = func(ctx context.Context, messages []session.Message) ([]session.Message, error) {
		w.step("compact")
		return messages, ctx.Err()
	}
	var outcome agent.Outcome
	done := make(chan struct{})
	go func() { defer close(done); outcome = agent.RunTurn(ctx, turn) }()
	synctest.Wait()
	reached := ctx.Err() != nil
	cancel()
	<-done
	if !reached {
		return false
	}
	if outcome.StopReason != session.StopAborted && outcome.Error == "" {
		t.Errorf("cancel at %d (%s): outcome %+v", k, w.trace[k-1], outcome)
	}
	// A cancel at message_started comes before the call that it announces.
	if started := asked + strings.Count(w.trace[k-1], "message_started"); len(model.Requests()) > started {
		t.Errorf("cancel at %d: %d model calls, want %d", k, len(model.Requests()), started)
	}
	results(t, w.messages)
	for _, m := range w.messages {
		if m.Role == session.RoleAssistant && m.StopReason == session.StopAborted && len(m.Content) == 0 {
			t.Errorf("cancel at %d: an empty message was kept", k)
		}
	}
	history := append(append(turn.Messages, w.messages...), user("next"))
	next := agent.RepairMessages(history)
	if err := modeltest.Check(agent.Request{Messages: next}); err != nil {
		t.Errorf("cancel at %d (%s): the next prompt is refused: %v", k, w.trace[k-1], err)
	}
	return true
}

func TestCancelKeepsPartialText(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &world{}
	w.onStep = func(n int) {
		if n == 3 { // message_started, block, one delta
			cancel()
		}
	}
	outcome := agent.RunTurn(ctx, turnOf(w, modeltest.New(modeltest.Say("some text"))))
	if outcome.StopReason != session.StopAborted || len(w.messages) != 1 {
		t.Fatalf("outcome %+v, %d messages", outcome, len(w.messages))
	}
	if m := w.messages[0]; m.StopReason != session.StopAborted || m.Content.Plain() != "some" {
		t.Errorf("kept %+v", m)
	}
}

func TestCancelTexts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &world{}
	w.onStep = func(int) {
		if strings.HasPrefix(w.trace[len(w.trace)-1], "output a") {
			cancel()
		}
	}
	model := modeltest.New(modeltest.Calls(modeltest.Call("a", "hang", `{}`), modeltest.Call("b", "write", `{}`)))
	agent.RunTurn(ctx, turnOf(w, model, blocking("hang", agent.RiskRead), echo("write", agent.RiskWrite)))
	got := results(t, w.messages)
	if want := "Cancelled by the user after 0 s. Side effects may have happened. Partial output:\nhalf "; got["a"] != want {
		t.Errorf("running call: %q, want %q", got["a"], want)
	}
	if got["b"] != agent.TextNotStarted {
		t.Errorf("waiting call: %q", got["b"])
	}
}

// An approval that waits when the turn is canceled ends as not executed, and an
// answer that comes at the same moment does not start the call.
func TestCancelWhileApprovalWaits(t *testing.T) {
	for _, decision := range []api.Decision{api.DecisionAllow, api.DecisionDeny, ""} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &world{decide: func(ctx context.Context, _ agent.Call) (api.Decision, error) {
			cancel()
			<-ctx.Done()
			return decision, nil
		}}
		model := modeltest.New(modeltest.Calls(modeltest.Call("a", "write", `{}`)))
		outcome := agent.RunTurn(ctx, turnOf(w, model, echo("write", agent.RiskWrite)))
		if got := results(t, w.messages)["a"]; got != agent.TextNotStarted || outcome.StopReason != session.StopAborted {
			t.Errorf("decision %q: result %q, outcome %+v", decision, got, outcome)
		}
	}
}

// TestToolsWaitUntilReady: the model is asked at once, and a tool, whatever its risk, runs only
// when the turn is ready, or not at all if it is canceled before.
func TestToolsWaitUntilReady(t *testing.T) {
	for _, risk := range []agent.Risk{agent.RiskRead, agent.RiskWrite} {
		for _, cancels := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := &world{}
				model := modeltest.New(modeltest.Calls(modeltest.Call("a", "work", `{}`)), modeltest.Say("done"))
				ready := make(chan struct{})
				turn := turnOf(w, model, echo("work", risk))
				turn.Ready = ready
				ended := make(chan agent.Outcome, 1)
				go func() { ended <- agent.RunTurn(ctx, turn) }()
				synctest.Wait()
				if len(w.messages) != 1 {
					t.Errorf("risk %v: %d messages before the turn is ready, want the one with the call", risk, len(w.messages))
				}
				want, reason := "work {}", session.StopEnd
				if cancels {
					want, reason = agent.TextNotStarted, session.StopAborted
					cancel()
				} else {
					close(ready)
				}
				outcome := <-ended
				if got := results(t, w.messages)["a"]; got != want || outcome.StopReason != reason {
					t.Errorf("risk %v, canceled %v: result %q, outcome %+v; want %q", risk, cancels, got, outcome, want)
				}
			})
		}
	}
}
