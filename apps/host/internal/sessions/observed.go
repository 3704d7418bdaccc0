package sessions

import (
	"context"
	"maps"
	"math"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// traced remembers the trace that a prompt belongs to, until its turn begins.
func (h *scheduler) traced(request api.SendPromptRequest) {
	if h.deps.Observe == nil {
		return
	}
	maps.DeleteFunc(h.traces, func(key string, _ observe.Prompt) bool { return !h.prompts.waits(key) })
	if h.traces == nil {
		h.traces = map[string]observe.Prompt{}
	}
	waited := time.Duration(min(request.WaitedMS, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	h.traces[request.ClientKey] = h.deps.Observe.Prompt(request.Traceparent, waited)
}

// outcomeOf says in a word how a turn ended.
func outcomeOf(outcome agent.Outcome) (word string, failed bool) {
	if outcome.Suspended {
		return "suspended", false
	}
	return stopWord(outcome.StopReason)
}

// stopWord is a reason of session as one of few words: those of later versions are "other".
func stopWord(reason session.StopReason) (word string, failed bool) {
	switch reason {
	case session.StopEnd, session.StopLength, session.StopToolUse, session.StopAborted:
		return string(reason), false
	case session.StopError:
		return string(reason), true
	}
	return "other", false
}

// observed are the model and the tools of a turn, whose calls are counted and traced.
func observed(turn agent.Turn) agent.Turn {
	turn.Model = observedModel{turn.Model}
	tools := make([]agent.Tool, len(turn.Tools))
	for i, tool := range turn.Tools {
		tools[i] = observedTool{tool}
	}
	turn.Tools = tools
	return turn
}

type observedModel struct{ agent.Model }

// Stream implements agent.Model.
func (m observedModel) Stream(ctx context.Context, request agent.Request, emit func(agent.Delta)) session.Message {
	ctx, step := observe.Start(ctx, observe.ModelCall)
	message := m.Model.Stream(ctx, request, emit)
	if usage := message.Usage; usage != nil {
		step.Tokens(int64(usage.Input+usage.CacheRead+usage.CacheWrite), int64(usage.Output))
	}
	step.End(stopWord(message.StopReason))
	return message
}

type observedTool struct{ agent.Tool }

// Run implements agent.Tool.
func (t observedTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	ctx, step := observe.Start(ctx, observe.ToolCall)
	outcome, failed := "panic", true
	defer func() { step.End(outcome, failed) }()
	result := t.Tool.Run(ctx, call, progress)
	if outcome, failed = "ok", result.IsError; failed {
		outcome = "error"
	}
	return result
}

// answerWord says in a word how a call was decided that waited.
func answerWord(answer ruling, err error) string {
	switch {
	case err != nil:
		return "ended"
	case answer.decision == api.DecisionAllow:
		return "allowed"
	}
	return "denied"
}
