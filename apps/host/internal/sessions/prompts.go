package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// prompts holds the prompt queue, which is part of the live state, and knows what became of
// the prompts that left it. The session's goroutine owns it.
type prompts struct {
	*core
	turns  *turns
	images *images
	setup  *setup

	// Derived from the log each time it is opened.
	taken   map[string]string // clientKey of a prompt -> id of its entry
	removed map[string]bool   // clientKeys of prompts that were removed from the queue
}

// restore reads from the log which prompts wait, and what became of the others.
func (p *prompts) restore() {
	tree := p.log.Tree()
	p.taken, p.removed = read.TakenPrompts(tree), read.RemovedPrompts(tree)
	p.live.Queue = read.WaitingPrompts(tree, p.taken, p.done)
}

// discard drops what can be read from the log again.
func (p *prompts) discard() { p.taken, p.removed = nil, nil }

// waits reports whether a prompt is in the queue.
func (p *prompts) waits(clientKey string) bool {
	return slices.ContainsFunc(p.live.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == clientKey })
}

// known returns what became of a prompt that was accepted before; false if there was none
// with that key.
func (p *prompts) known(clientKey string) (api.SendPromptResponse, bool) {
	if id, ok := p.taken[clientKey]; ok {
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, true
	}
	if p.waits(clientKey) {
		return api.SendPromptResponse{State: api.PromptQueued}, true
	}
	if id, ok := p.done[clientKey]; ok {
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, true
	}
	return api.SendPromptResponse{State: api.PromptRemoved}, p.removed[clientKey]
}

// add puts a prompt into the queue. content is that of a prompt with images, else nil. The
// error is an *api.Error.
func (p *prompts) add(prompt session.QueuedPrompt, content session.Content) error {
	if len(p.live.Queue) >= api.MaxQueue {
		return api.Errorf(api.KindQueueFull, "%d prompts are already waiting: let the agent read some, or cancel its turn", api.MaxQueue)
	}
	waiting := queue.Add(p.live.Queue, prompt)
	if size := queue.Size(waiting); size > api.MaxQueueBytes {
		return api.Errorf(api.KindQueueFull,
			"the queued prompts would have %d bytes, the limit is %d: let the agent read some, or put the text into a file and name the file", size, api.MaxQueueBytes)
	}
	if size := queue.ImageBytes(waiting); size > api.MaxQueueImages {
		return api.Errorf(api.KindQueueFull,
			"the images of the queued prompts would have %d bytes, the limit is %d: let the agent read some", size, api.MaxQueueImages)
	}
	if err := p.images.keep(content, prompt.ClientID); err != nil {
		return clientError(err)
	}
	return clientError(p.rewrite(waiting, prompt.ClientID))
}

// rewrite stores the whole queue and publishes it.
func (p *prompts) rewrite(waiting []session.QueuedPrompt, clientID string) error {
	if waiting == nil {
		waiting = []session.QueuedPrompt{}
	}
	if err := p.appendCustom(session.CustomQueue, session.Queue{Items: waiting}, clientID); err != nil {
		return err
	}
	p.publish(api.QueueChanged{Queue: waiting})
	return nil
}

// leave takes prompts out of the queue whose messages are in the log. If the queue cannot be
// stored, they leave it all the same: a restart finds their keys in the log.
func (p *prompts) leave(rest []session.QueuedPrompt) {
	if err := p.rewrite(rest, ""); err != nil {
		p.logger.Error("rewriting the queue", "session", p.id, "error", err)
		p.publish(api.QueueChanged{Queue: rest})
	}
}

// leaveOne is leave for the prompt with the key, if it waits.
func (p *prompts) leaveOne(clientKey string) {
	rest := p.without(clientKey)
	if len(rest) < len(p.live.Queue) {
		p.leave(rest)
	}
}

// leaveUndone takes a prompt out of the queue whose command failed or was canceled. Its key is
// remembered, so that sending it again after a lost answer does not run the command again.
func (p *prompts) leaveUndone(clientKey string) {
	if !p.waits(clientKey) { // a person removed it meanwhile
		return
	}
	rest := p.without(clientKey)
	p.removed[clientKey] = true
	if err := p.appendCustom(session.CustomQueue, session.Queue{Items: rest, Removed: []string{clientKey}}, ""); err != nil {
		p.logger.Error("rewriting the queue", "session", p.id, "error", err)
	}
	p.publish(api.QueueChanged{Queue: rest})
}

// without returns the queue without one prompt.
func (p *prompts) without(clientKey string) []session.QueuedPrompt {
	return slices.DeleteFunc(slices.Clone(p.live.Queue), func(q session.QueuedPrompt) bool { return q.ClientKey == clientKey })
}

// EditQueue replaces the queue by those of its prompts that are named, in that order. A prompt
// whose text is changed belongs to by from then on: it keeps its approvals only if by may
// approve, and runs in no higher mode than by may use.
func (p *prompts) EditQueue(ctx context.Context, by queue.Editor, r api.EditQueueRequest) (response api.EditQueueResponse, err error) {
	unknown := map[string]error{}
	for _, item := range r.Items {
		if err := p.setup.checkSlash(ctx, item.Text); err != nil {
			unknown[item.ClientKey] = err
		}
	}
	return inside(ctx, &p.owner, func() (response api.EditQueueResponse, err error) {
		response.Queue, err = p.edit(by, r, unknown)
		return response, err
	})
}

// edit edits the queue. unknown holds, by the key of a prompt, why its text is refused
// if it is new.
func (p *prompts) edit(by queue.Editor, r api.EditQueueRequest, unknown map[string]error) ([]session.QueuedPrompt, error) {
	if queue.Matches(p.live.Queue, r.Items) { // also a request that is sent again
		return p.live.Queue, nil
	}
	edited, removed, err := queue.Edit(p.live.Queue, by, r)
	if err != nil {
		return nil, err
	}
	for _, q := range edited {
		err := unknown[q.ClientKey]
		same := func(before session.QueuedPrompt) bool {
			return before.ClientKey == q.ClientKey && before.Text == q.Text
		}
		if err != nil && !slices.ContainsFunc(p.live.Queue, same) {
			return nil, err
		}
	}
	if err := p.appendCustom(session.CustomQueue, session.Queue{Items: edited, Removed: removed}, by.ClientID); err != nil {
		return nil, err
	}
	for _, key := range removed {
		p.removed[key] = true
	}
	p.publish(api.QueueChanged{Queue: edited})
	return p.live.Queue, nil
}

// takeSteering moves the steering prompts from the queue into a running turn and returns their
// messages. Each is a message in the log before it leaves the queue; a crash between the two
// is repaired by its key.
func (p *prompts) takeSteering(turnID string) ([]session.Message, error) {
	var messages []session.Message
	rest := make([]session.QueuedPrompt, 0, len(p.live.Queue))
	for _, q := range p.live.Queue {
		if _, command := p.compactPrompt(q); q.Mode != session.ModeSteer || p.closing || command {
			rest = append(rest, q)
			continue
		}
		message := session.Message{Role: session.RoleUser, Content: p.images.contentOf(q), Timestamp: nowMillis()}
		mark := markOf(q, turnID)
		mark.Steer = true
		entry, err := p.appendMessage(mark, message)
		if err != nil {
			return messages, err
		}
		p.taken[q.ClientKey] = entry.ID
		p.turns.join(q)
		message.Steer = true
		messages = append(messages, message)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	p.updateSummary()
	p.leave(rest)
	return messages, nil
}
