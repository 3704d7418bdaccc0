package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// crowd replies to every question; one without an outcome is never answered.
type crowd struct {
	w     *world
	reply *agent.Reply
	err   error
}

func (c crowd) Question(ctx context.Context, call agent.Call, q agent.Question) (agent.Reply, error) {
	c.w.step("question " + call.ID + " " + q.Text)
	if c.reply == nil && c.err == nil {
		<-ctx.Done()
		return agent.Reply{Outcome: api.OutcomeCancelled}, nil
	}
	if c.err != nil {
		return agent.Reply{}, c.err
	}
	return *c.reply, nil
}

// asks is a tool that asks what it is given.
func asks() fake {
	return fake{"ask", agent.RiskAlone, func(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
		reply, err := call.Ask(ctx, agent.Question{Text: "which?"})
		switch {
		case err != nil:
			return agent.Failure("%v", err)
		case reply.Outcome == "":
			result := agent.Success("nobody")
			result.Closing = "which " + call.ID + "?"
			return result
		case reply.Outcome == api.OutcomeCancelled:
			return agent.Failure("%s", agent.TextNotAnswered)
		}
		return agent.Success(reply.Answer)
	}}
}

func questionSteps() []modeltest.Step {
	return []modeltest.Step{modeltest.Calls(
		modeltest.Call("a", "read", `{}`), modeltest.Call("b", "ask", `{}`), modeltest.Call("c", "ask", `{"n":2}`), modeltest.Call("d", "read", `{}`),
	), modeltest.Say("done")}
}

func TestQuestionsRunAlone(t *testing.T) {
	w := &world{}
	turn := turnOf(w, modeltest.New(questionSteps()...), echo("read", agent.RiskRead), asks())
	turn.People = crowd{w: w, reply: &agent.Reply{Outcome: api.OutcomeAnswered, Answer: "this"}}
	if outcome := agent.RunTurn(t.Context(), turn); outcome.StopReason != session.StopEnd {
		t.Fatalf("%+v", outcome)
	}
	at := func(step string) int { return slices.Index(w.trace, step) }
	order := []string{"append toolResult a", "question b which?", "append toolResult b", "question c which?", "append toolResult c", "start d"}
	for i, step := range order {
		if at(step) < 0 || i > 0 && at(step) < at(order[i-1]) {
			t.Fatalf("%q is out of order in %q", step, w.trace)
		}
	}
	if slices.ContainsFunc(w.trace, func(s string) bool { return strings.HasPrefix(s, "ask ") }) {
		t.Error("a question needed leave")
	}
}

// TestClosingEndsTheTurn: every call has its result first, and the model is not called
// again.
func TestClosingEndsTheTurn(t *testing.T) {
	w, model := &world{}, modeltest.New(questionSteps()...)
	turn := turnOf(w, model, echo("read", agent.RiskRead), asks())
	turn.People = crowd{w: w, reply: &agent.Reply{}}
	outcome := agent.RunTurn(t.Context(), turn)
	last := w.messages[len(w.messages)-1]
	if outcome.StopReason != session.StopEnd || len(model.Requests()) != 1 || last.Role != session.RoleAssistant ||
		last.Content.Plain() != "which b?\n\nwhich c?" || last.StopReason != session.StopEnd {
		t.Fatalf("%+v after %d model calls, last %+v", outcome, len(model.Requests()), last)
	}
	results(t, w.messages)
	next := agent.RepairMessages(append(append(turn.Messages, w.messages...), user("the first")))
	if err := modeltest.Check(agent.Request{Messages: next}); err != nil {
		t.Error(err)
	}
}

func TestSuspendedQuestion(t *testing.T) {
	w, model := &world{}, modeltest.New(questionSteps()...)
	turn := turnOf(w, model, echo("read", agent.RiskRead), asks())
	turn.People = crowd{w: w, err: agent.ErrSuspended}
	if outcome := agent.RunTurn(t.Context(), turn); !outcome.Suspended || len(w.messages) != 2 {
		t.Fatalf("%+v with %d messages", outcome, len(w.messages))
	}
}

// TestCancelWhileAQuestionWaits: one result with a stable text, and none for the rest
// but that it did not start.
func TestCancelWhileAQuestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w, model := &world{}, modeltest.New(questionSteps()...)
		turn := turnOf(w, model, echo("read", agent.RiskRead), asks())
		turn.People = crowd{w: w}
		done := make(chan agent.Outcome, 1)
		go func() { done <- agent.RunTurn(ctx, turn) }()
		synctest.Wait()
		cancel()
		if outcome := <-done; outcome.StopReason != session.StopAborted || len(model.Requests()) != 1 {
			t.Fatalf("%+v after %d model calls", outcome, len(model.Requests()))
		}
		want := map[string]string{"a": "read {}", "b": agent.TextNotAnswered, "c": agent.TextNotStarted, "d": agent.TextNotStarted}
		for _, m := range w.messages {
			if text, ok := want[m.ToolCallID]; ok && m.Content.Plain() != text {
				t.Errorf("%s: %s", m.ToolCallID, m.Content.Plain())
			}
		}
		results(t, w.messages)
	})
}
