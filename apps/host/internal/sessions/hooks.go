package sessions

import (
	"context"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hooks notifies hooks of what happens in the session, and keeps what they did in the log. The
// session's goroutine owns it.
type hooks struct {
	*core
	turns *turns
	notes *notes
	// running is how many goroutines run hooks that nothing waits for. ctx ends them.
	running int
	ctx     context.Context
	cancel  context.CancelFunc
	// noticed are the hooks whose fault the log says already, of the turn noticedIn.
	noticed   map[string]bool
	noticedIn string
}

func newHooks(c *core, turns *turns, notes *notes) *hooks {
	h := &hooks{core: c, turns: turns, notes: notes}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// input returns what every hook receives.
func (h *hooks) input(turnID string) hook.Input {
	return hook.Input{SessionID: h.id, TurnID: turnID, Cwd: h.project.Path, Mode: h.summary.Mode, Subagent: h.parent != ""}
}

// tell runs the hooks about an event in a goroutine of its own, which delivers the results to
// then in the session's goroutine. stop ends it early. Nothing runs while the session closes.
func (h *hooks) tell(event api.HookEvent, in hook.Input, then func([]hook.Result)) (stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(h.ctx)
	if h.deps.Hooks == nil || h.closing {
		return cancel
	}
	h.running++
	go func() {
		defer cancel()
		results := h.deps.Hooks.Load(in.Cwd).Run(ctx, event, in)
		canceled := ctx.Err() != nil
		h.deliver(func() {
			h.running--
			if canceled || len(results) == 0 || h.open(context.Background()) != nil {
				return
			}
			h.keepFaults(event, in, results)
			if then != nil {
				then(results)
			}
		})
	}()
	return cancel
}

// turnEnded notifies hooks of the end of a turn.
func (h *hooks) turnEnded(turnID string, outcome agent.Outcome) {
	in := h.input(turnID)
	in.Outcome, in.Error = string(outcome.StopReason), outcome.Error
	h.tell(api.HookTurnEnd, in, nil)
}

// compacts notifies hooks that a compaction begins.
func (h *hooks) compacts(requested bool) {
	in := h.input("")
	if in.Cause = hook.CauseAuto; requested {
		in.Cause = hook.CauseManual
	}
	h.tell(api.HookCompaction, in, nil)
}

// asks notifies hooks that a question waits for a person.
func (h *hooks) asks(question api.Question) {
	in := h.input(question.TurnID)
	in.Cause, in.Title = hook.CauseQuestion, question.Question
	h.tell(api.HookNotification, in, nil)
}

// keep writes into the log what a hook did.
func (h *hooks) keep(event api.HookEvent, in hook.Input, outcome string, r hook.Result) error {
	return h.appendCustom(session.CustomHook, session.HookRecord{
		Hook: r.Name, Source: r.Source, Event: string(event), Outcome: outcome, Text: r.Reason, ToolCallID: in.Call, TurnID: in.TurnID,
	}, "")
}

// keepFaults writes into the log which hooks failed, each once in a turn.
func (h *hooks) keepFaults(event api.HookEvent, in hook.Input, results []hook.Result) {
	if h.noticedIn != in.TurnID || h.noticed == nil {
		h.noticed, h.noticedIn = map[string]bool{}, in.TurnID
	}
	for _, r := range results {
		key := string(event) + "\x00" + r.Source + "\x00" + r.Name
		if r.Outcome != api.HookBroken || h.noticed[key] {
			continue
		}
		h.noticed[key] = true
		in.Call = "" // later calls have the same fault
		if err := h.keep(event, in, session.HookFailed, r); err != nil {
			h.logger.Error("recording that a hook failed", "session", h.id, "hook", r.Name, "error", err)
		}
	}
}

// addContext has the model read at its next step what hooks add.
func (h *hooks) addContext(event api.HookEvent, results []hook.Result) {
	for _, r := range results {
		if r.Context != "" {
			h.notes.waiting = append(h.notes.waiting, contextNote(event, r))
		}
	}
}

func contextNote(event api.HookEvent, r hook.Result) session.Note {
	return session.Note{Kind: session.NoteHook, Text: fmt.Sprintf("The hook %q (%s, %s) adds:\n%s", r.Name, event, r.Source, r.Context)}
}

// errBlocked is the error of a prompt that a hook blocked.
func errBlocked(r hook.Result) error {
	return fmt.Errorf("a hook blocked this prompt (%s, from %s): %s", r.Name, r.Source, r.Reason)
}
