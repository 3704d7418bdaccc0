package sessions

import (
	"cmp"
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// scheduler decides what a session does next: the turn of a prompt, a command, a compaction, or
// a turn that a background job starts. At most one of them runs. The session's goroutine owns
// it.
type scheduler struct {
	*core
	turns     *turns
	judge     *judge
	setup     *setup
	images    *images
	prompts   *prompts
	summaries *summaries
	notes     *notes
	titles    *titles
	settings  *settings
	hooks     *hooks
	runner    *runner
	traces    map[string]observe.Prompt // of prompts that wait, by their clientKey; lost at a restart
}

// SendPrompt accepts a prompt. A prompt with the same ClientKey is accepted once, however
// often it is sent.
func (h *scheduler) SendPrompt(ctx context.Context, clientID string, request api.SendPromptRequest) (api.SendPromptResponse, error) {
	return h.SendPromptUpTo(ctx, clientID, "", request)
}

// SendPromptUpTo is SendPrompt with the highest mode that the prompt may run in, whatever that
// of the session is; "" is none.
func (h *scheduler) SendPromptUpTo(ctx context.Context, clientID string, most api.Mode, request api.SendPromptRequest) (api.SendPromptResponse, error) {
	if err := queue.CheckPrompt(request); err != nil {
		return api.SendPromptResponse{}, err
	}
	return h.send(ctx, clientID, most, request, h.setup.checkSlash(ctx, queue.Text(request)))
}

// Accepted returns what became of a prompt that was accepted before; false if there was none
// with that key.
func (h *scheduler) Accepted(ctx context.Context, clientKey string) (response api.SendPromptResponse, accepted bool, err error) {
	response, err = inside(ctx, &h.owner, func() (response api.SendPromptResponse, err error) {
		response, accepted = h.prompts.known(clientKey)
		return response, nil
	})
	return response, accepted, err
}

// send accepts a prompt that was checked. unknown is why it is refused unless it was accepted
// before, or nil.
func (h *scheduler) send(ctx context.Context, clientID string, most api.Mode, request api.SendPromptRequest, unknown error) (response api.SendPromptResponse, err error) {
	if err := h.judge.checkRules(request.AllowRules); err != nil {
		return response, err
	}
	content, err := h.images.attached(clientID, request)
	if err != nil {
		return response, err
	}
	return inside(ctx, &h.owner, func() (api.SendPromptResponse, error) { return h.accept(clientID, most, request, content, unknown) })
}

// accept accepts a prompt. content is that of one with images, else nil.
func (h *scheduler) accept(clientID string, most api.Mode, request api.SendPromptRequest, content session.Content, unknown error) (api.SendPromptResponse, error) {
	if response, known := h.prompts.known(request.ClientKey); known {
		return response, nil
	}
	if h.closing {
		return api.SendPromptResponse{}, ErrClosed
	}
	mode, err := queue.Mode(request.Mode)
	if err != nil {
		return api.SendPromptResponse{}, err
	}
	if content, err = h.images.check(content); err != nil {
		return api.SendPromptResponse{}, err
	}
	prompt := session.QueuedPrompt{
		ClientKey: request.ClientKey, ClientID: clientID, Text: queue.Text(request), Content: content.References(),
		AllowAll: request.AllowAll, QueuedAt: nowMillis(), Mode: mode, AllowRules: request.AllowRules, MaxMode: string(most),
	}
	if err := cmp.Or(unknown, h.checkCommand(prompt)); err != nil {
		return api.SendPromptResponse{}, err
	}
	h.traced(request)
	response, err := h.startOrQueue(prompt, content)
	if err == nil {
		h.images.dropUploads(clientID, content)
		h.settings.unarchive(clientID)
	}
	return response, err
}

// startOrQueue starts the turn of a prompt, or puts it into the queue.
func (h *scheduler) startOrQueue(prompt session.QueuedPrompt, content session.Content) (api.SendPromptResponse, error) {
	_, command := h.compactPrompt(prompt)
	if !command && !h.busy() && !h.resting() && len(h.live.Queue) == 0 && !h.summaries.startIfDue() {
		id, err := h.startTurn(prompt, content)
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, err
	}
	if err := h.prompts.add(prompt, content); err != nil {
		return api.SendPromptResponse{}, err
	}
	if h.turns.running == nil { // an earlier prompt could not be started, as on a full disk: try again
		h.next(context.Background())
	}
	return api.SendPromptResponse{State: api.PromptQueued}, nil
}

// busy reports whether a turn runs or a summary is being made.
func (h *scheduler) busy() bool { return h.turns.running != nil || h.summaries.running != nil }

// next starts what the first prompt of the queue asks for. Its message is in the log before
// the prompt leaves the queue; a crash between the two is repaired by its key.
func (h *scheduler) next(ctx context.Context) {
	if h.busy() || h.resting() || ctx.Err() != nil {
		return
	}
	if len(h.live.Queue) == 0 {
		h.startForJobs(ctx)
		return
	}
	prompt := h.live.Queue[0]
	if focus, command := h.compactPrompt(prompt); command {
		h.startCommand(prompt, focus)
		return
	}
	if h.summaries.startIfDue() {
		return // its end calls next again
	}
	rest := slices.Clone(h.live.Queue[1:])
	if _, err := h.startTurn(prompt, h.images.contentOf(prompt)); err != nil {
		h.logger.Error("starting a queued prompt", "session", h.id, "error", err)
		return
	}
	h.prompts.leave(rest)
}

// startTurn stores the prompt's message, after the notes that wait, and then starts its turn.
// content is that of the message; nil is the prompt's text.
func (h *scheduler) startTurn(prompt session.QueuedPrompt, content session.Content) (entryID string, err error) {
	turnID := newTurnID()
	if _, err := h.notes.writeAll(turnID); err != nil {
		return "", clientError(err)
	}
	mark := markOf(prompt, turnID)
	if content == nil {
		content = session.Content{session.Text(prompt.Text)}
	}
	entry, err := h.appendMessage(mark, session.Message{Role: session.RoleUser, Content: content, Timestamp: nowMillis()})
	if err != nil {
		return "", clientError(err)
	}
	h.prompts.taken[prompt.ClientKey] = entry.ID
	h.notes.started = 0
	h.begin(turnID, prompt, false)
	return entry.ID, nil
}

// markOf is what the message of a prompt carries. A mode that bounds nothing is left out.
func markOf(prompt session.QueuedPrompt, turnID string) store.Mark {
	mark := store.Mark{ClientID: prompt.ClientID, ClientKey: prompt.ClientKey, TurnID: turnID, MaxMode: prompt.MaxMode}
	if mark.MaxMode == string(api.ModeBypass) {
		mark.MaxMode = ""
	}
	return mark
}

// begin announces a turn and runs it.
func (h *scheduler) begin(turnID string, prompt session.QueuedPrompt, resumed bool) {
	ctx := h.turns.start(turnID, prompt, resumed)
	ctx, h.turns.running.step = h.deps.Observe.Begin(ctx, h.traces[prompt.ClientKey])
	delete(h.traces, prompt.ClientKey)
	h.runner.start(ctx, prompt, h.endTurn)
}

// endTurn publishes the one terminal event of a turn, and starts what comes next.
func (h *scheduler) endTurn(outcome agent.Outcome) {
	turn := h.turns.running
	turn.cancel()
	turn.step.End(outcomeOf(outcome))
	if outcome.Suspended {
		h.turns.running = nil
		return
	}
	if outcome.StopReason == session.StopError || outcome.StopReason == session.StopAborted {
		record := session.TurnRecord{TurnID: turn.id, StopReason: outcome.StopReason, Error: outcome.Error}
		record.HostEnded = outcome.StopReason == session.StopAborted && h.closing && !h.turns.canceling()
		if err := h.appendCustom(session.CustomTurn, record, ""); err != nil {
			h.logger.Error("recording how a turn ended", "session", h.id, "error", err)
		}
	}
	h.turns.running = nil
	h.titles.turnEnded(outcome)
	h.needsAfter(turn, outcome) // before anyone sees that it ended, and leaves
	h.publish(api.TurnEnded{
		TurnID: turn.id, ClientKey: turn.prompt.ClientKey, StopReason: outcome.StopReason, Error: outcome.Error,
	})
	h.hooks.turnEnded(turn.id, outcome)
	h.recordTurn(outcome)
	if !h.resting() {
		h.summaries.startIfDue()
	}
	h.next(context.Background())
	h.updateSummary()
}

// CancelTurn cancels the turn with the id; false if it does not run any more.
func (h *scheduler) CancelTurn(ctx context.Context, turnID string) (canceled bool, err error) {
	return inside(ctx, &h.owner, func() (bool, error) {
		switch {
		case h.summaries.shownAsTurn() && h.summaries.running.turnID == turnID:
			h.summaries.cancel()
		case h.turns.running != nil && h.turns.running.id == turnID:
			h.turns.cancel()
		default:
			return false, nil
		}
		return true, nil
	})
}

// SendTask gives a subagent its task. One that begins with a slash is text.
func (h *scheduler) SendTask(ctx context.Context, task Task) error {
	request := api.SendPromptRequest{
		ClientKey: task.Key, Text: task.Text, AllowAll: task.Rights.AllowAll, AllowRules: task.Rights.AllowRules,
	}
	if err := queue.CheckPrompt(request); err != nil {
		return err
	}
	_, err := h.send(ctx, hostID, task.Rights.MaxMode, request, nil)
	return err
}

// CancelTask cancels the turn of a task, or removes the task from the queue.
func (h *scheduler) CancelTask(ctx context.Context, key string) error {
	return h.change(ctx, func() error {
		if h.turns.running != nil && h.turns.running.prompt.ClientKey == key {
			h.turns.cancel()
			return nil
		}
		if !h.prompts.waits(key) {
			return nil
		}
		return h.prompts.rewrite(h.prompts.without(key), hostID)
	})
}
