package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// turnHooks runs the hooks of one turn, which are those of its beginning. The goroutine of the
// turn loads them before the agent runs; then any goroutine of the turn may use it.
type turnHooks struct {
	*hooks
	judge  *judge
	turnID string
	person bool // a person sent the prompt
	set    hook.Set
}

// load reads the hooks of the folder that the turn works in.
func (t *turnHooks) load(cwd string) { t.set = t.deps.Hooks.Load(cwd) }

// about returns what a hook about a call receives.
func (t *turnHooks) about(call agent.Call, what agent.Description) hook.Input {
	return hook.Input{Tool: call.Name, Call: call.ID, Args: call.Arguments, Paths: what.Paths, Title: what.Title}
}

// complete adds what the session knows. It is called in the session's goroutine.
func (t *turnHooks) complete(in hook.Input) hook.Input {
	base := t.input(t.turnID)
	in.SessionID, in.TurnID, in.Cwd, in.Mode, in.Subagent = base.SessionID, base.TurnID, base.Cwd, t.judge.policy().Mode, base.Subagent
	return in
}

// begin runs the hooks of a session that starts and of the prompt. What they add is in the log
// before the model is asked. The error says that a hook blocked the prompt.
func (t *turnHooks) begin(ctx context.Context, turn *agent.Turn, text string) error {
	for _, event := range []api.HookEvent{api.HookSessionStart, api.HookPrompt} {
		in := hook.Input{Prompt: text}
		if event == api.HookSessionStart {
			in = hook.Input{Cause: hook.CauseStartup}
		}
		if !t.set.Has(event, in) {
			continue
		}
		due := true
		if err := t.change(context.WithoutCancel(ctx), func() (err error) {
			in = t.complete(in)
			if event == api.HookSessionStart {
				due, err = t.claimStart(in)
			}
			return err
		}); err != nil {
			return err
		}
		if !due {
			continue
		}
		results := t.set.Run(ctx, event, in)
		if err := t.finishPrompt(ctx, event, in, results); err != nil {
			return err
		}
		for _, r := range results {
			if r.Context == "" {
				continue
			}
			message, err := turn.Tell(context.WithoutCancel(ctx), contextNote(event, r))
			if err != nil {
				return err
			}
			turn.Messages = append(turn.Messages, message)
		}
	}
	return nil
}

// claimStart reports whether the hooks of a session that starts are to run, and records that
// they are: they run once, whatever becomes of the host.
func (t *turnHooks) claimStart(in hook.Input) (bool, error) {
	if t.parent != "" || read.Started(t.log.Tree()) {
		return false, nil
	}
	return true, t.keep(api.HookSessionStart, in, session.HookStarted, hook.Result{})
}

// finishPrompt keeps the faults of hooks, and returns why the prompt is blocked, or nil.
func (t *turnHooks) finishPrompt(ctx context.Context, event api.HookEvent, in hook.Input, results []hook.Result) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var blocked error
	err := t.change(context.WithoutCancel(ctx), func() error {
		t.keepFaults(event, in, results)
		i := slices.IndexFunc(results, func(r hook.Result) bool { return r.Outcome == api.HookRefused })
		if i < 0 {
			return nil
		}
		blocked = errBlocked(results[i])
		return t.keep(event, in, session.HookBlocked, results[i])
	})
	return cmp.Or(err, blocked)
}

// steered runs the hooks of a prompt that was sent to the running turn.
func (t *turnHooks) steered(ctx context.Context, text string) (notes []session.Note, err error) {
	in := hook.Input{Prompt: text}
	if !t.set.Has(api.HookPrompt, in) {
		return nil, nil
	}
	if err := t.do(context.WithoutCancel(ctx), func() { in = t.complete(in) }); err != nil {
		return nil, err
	}
	results := t.set.Run(ctx, api.HookPrompt, in)
	for _, r := range results {
		if r.Context != "" {
			notes = append(notes, contextNote(api.HookPrompt, r))
		}
	}
	return notes, t.finishPrompt(ctx, api.HookPrompt, in, results)
}

// concerned reports whether a hook is about calls of a tool before they run.
func (t *turnHooks) concerned(tool string) bool {
	return t.set.Has(api.HookBeforeTool, hook.Input{Tool: tool})
}

// before runs the hooks of a call that no rule denies. The refusal is why it is denied, or
// nil; ask is why a person must decide about it, or "". A call that waited for a person when
// the host ended is not given to hooks again.
func (t *turnHooks) before(ctx context.Context, call agent.Call, what agent.Description) (refusal *agent.Refusal, ask string, err error) {
	in := t.about(call, what)
	due := true
	if err = t.do(ctx, func() { due, ask = t.due(call, what); in = t.complete(in) }); err != nil {
		return nil, "", err
	}
	if !due || !t.set.Has(api.HookBeforeTool, in) {
		return nil, ask, nil
	}
	results := t.set.Run(ctx, api.HookBeforeTool, in)
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	err = t.change(ctx, func() error { refusal, ask, err = t.judged(in, results); return err })
	return refusal, ask, err
}

// due reports whether the hooks of a call are to run. If they ran before a restart, ask is
// what they said then.
func (t *turnHooks) due(call agent.Call, what agent.Description) (due bool, ask string) {
	if turn := t.turns.running; turn != nil && turn.resumed {
		if _, waited := turn.kept[call.ID]; waited {
			return false, read.HookAsked(t.log.Tree(), call.ID)
		}
	}
	verdict := t.judge.policy().Judge(t.judge.request(call, what))
	return verdict.Action != permission.Deny, ""
}

// judged keeps what hooks said about a call.
func (t *turnHooks) judged(in hook.Input, results []hook.Result) (refusal *agent.Refusal, ask string, err error) {
	t.keepFaults(api.HookBeforeTool, in, results)
	t.addContext(api.HookBeforeTool, results)
	var why []string
	for _, r := range results {
		switch r.Outcome {
		case api.HookRefused:
			if err := t.keep(api.HookBeforeTool, in, session.HookDenied, r); err != nil {
				return nil, "", err
			}
			return &agent.Refusal{Text: fmt.Sprintf("Denied: the hook %q denied this call: %s", r.Name, r.Reason)}, "", nil
		case api.HookAsked:
			why = append(why, strings.TrimSuffix(fmt.Sprintf("the hook %q asks: %s", r.Name, r.Reason), ": "))
		case api.HookBroken:
			why = append(why, fmt.Sprintf("the hook %q failed: %s", r.Name, r.Reason))
		}
	}
	if ask = strings.Join(why, "; "); ask == "" {
		return nil, "", nil
	}
	// One record for all hooks: it is what counts after a restart.
	return nil, ask, t.keep(api.HookBeforeTool, in, session.HookAsked, hook.Result{Reason: ask})
}

// after runs the hooks of a call that ran.
func (t *turnHooks) after(ctx context.Context, call agent.Call, result agent.Result) {
	in := t.about(call, agent.Description{})
	in.Output, in.Failed = result.Content.Plain(), result.IsError
	if ctx.Err() != nil || !t.set.Has(api.HookAfterTool, in) || t.do(ctx, func() { in = t.complete(in) }) != nil {
		return
	}
	results := t.set.Run(ctx, api.HookAfterTool, in)
	if ctx.Err() != nil {
		return
	}
	_ = t.do(ctx, func() { // a turn that ends has no next step
		t.keepFaults(api.HookAfterTool, in, results)
		t.addContext(api.HookAfterTool, results)
	})
}

// waiting notifies hooks that a call waits for a person. A hook can deny it, and the first
// answer counts. It is called in the session's goroutine; stop ends the hooks.
func (t *turnHooks) waiting(in hook.Input, deny func(reason string) error) (stop func()) {
	in = t.complete(in)
	input := in
	input.Cause = hook.CauseApproval
	stopNotice := t.tell(api.HookNotification, input, nil)
	stopApproval := t.tell(api.HookApproval, in, func(results []hook.Result) {
		for _, r := range results {
			if r.Outcome != api.HookRefused {
				continue
			}
			err := t.keep(api.HookApproval, in, session.HookDenied, r)
			if err == nil {
				err = deny(fmt.Sprintf("the hook %q denied it: %s", r.Name, r.Reason))
			}
			if err != nil {
				t.logger.Error("denying a call because of a hook", "session", t.id, "hook", r.Name, "error", err)
			}
			return
		}
	})
	return func() { stopNotice(); stopApproval() }
}

// hookedTool is a tool that reads and is judged because a hook is about it.
type hookedTool struct{ agent.Tool }

// Risk implements agent.Tool.
func (hookedTool) Risk() agent.Risk { return agent.RiskWrite }

// hookedTools are the tools of a turn: those that hooks are about run alone and are judged.
func (t *turnHooks) hookedTools(tools []agent.Tool) []agent.Tool {
	tools = slices.Clone(tools)
	for i, tool := range tools {
		if !tool.Risk().Changes() && t.concerned(tool.Spec().Name) {
			tools[i] = hookedTool{tool}
		}
	}
	return tools
}
