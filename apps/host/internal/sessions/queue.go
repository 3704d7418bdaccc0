package sessions

import (
	"cmp"
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Editor is who edits a queue.
type Editor struct {
	ClientID   string
	MayApprove bool
	Most       api.Mode // the highest mode that prompts of theirs run in
}

// EditQueue replaces the queue by those of its prompts that are named, in that
// order. A prompt whose text somebody changes is theirs from then on: it keeps its
// approvals only if they may give some, and runs in no mode above most, their highest.
func (s *Session) EditQueue(ctx context.Context, by Editor, r api.EditQueueRequest) (response api.EditQueueResponse, err error) {
	doErr := s.do(ctx, func() { response.Queue, err = s.editQueue(by, r) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, refuse(err)
}

func (s *Session) editQueue(by Editor, r api.EditQueueRequest) ([]session.QueuedPrompt, error) {
	if matchesQueue(s.live.Queue, r.Items) { // also a request that is sent again
		return s.live.Queue, nil
	}
	if !slices.Equal(queueKeys(s.live.Queue), r.Expected) {
		return nil, api.Errorf(api.KindConflict, "the queue changed meanwhile: look at it again, then repeat this")
	}
	queue := make([]session.QueuedPrompt, 0, len(r.Items))
	for _, item := range r.Items {
		prompt, err := s.edited(item, by)
		if err != nil {
			return nil, err
		}
		if slices.Contains(queueKeys(queue), item.ClientKey) {
			return nil, api.Errorf(api.KindBadRequest, "the prompt %.64q is named twice", item.ClientKey)
		}
		queue = append(queue, prompt)
	}
	if size := encodedSize(queue); size > api.MaxQueueBytes {
		return nil, api.Errorf(api.KindTooLarge, "the prompts that wait would have %d bytes, the limit is %d: put the text into a file and name the file", size, api.MaxQueueBytes)
	}
	kept := queueKeys(queue)
	removed := slices.DeleteFunc(queueKeys(s.live.Queue), func(key string) bool { return slices.Contains(kept, key) })
	if err := s.keepCustom(session.CustomQueue, session.Queue{Items: queue, Removed: removed}, by.ClientID); err != nil {
		return nil, err
	}
	for _, key := range removed {
		s.removed[key] = true
	}
	s.publish(api.QueueChanged{Queue: queue})
	return s.live.Queue, nil
}

// edited returns a waiting prompt as an item changes it.
func (s *Session) edited(item api.QueueItem, by Editor) (session.QueuedPrompt, error) {
	i := slices.IndexFunc(s.live.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == item.ClientKey })
	if i < 0 {
		return session.QueuedPrompt{}, api.Errorf(api.KindNotFound, "no prompt %.64q waits in this session", item.ClientKey)
	}
	prompt := s.live.Queue[i]
	if item.Text != "" && item.Text != prompt.Text {
		if err := checkPrompt(api.SendPromptRequest{ClientKey: item.ClientKey, Text: item.Text}); err != nil {
			return prompt, err
		}
		prompt.Text = item.Text
		prompt.MaxMode = string(gate.Lower(by.Most, cmp.Or(api.Mode(prompt.MaxMode), api.ModeBypass)))
		if !by.MayApprove {
			prompt.AllowAll, prompt.AllowRules = false, nil
		}
	}
	mode, err := queueMode(item.Mode)
	if item.Mode != "" {
		prompt.Mode = mode
	}
	return prompt, err
}

// queueMode is a mode as the queue holds it.
func queueMode(mode session.PromptMode) (session.PromptMode, error) {
	switch mode {
	case "", session.ModeFollowUp:
		return "", nil
	case session.ModeSteer:
		return mode, nil
	}
	return "", api.Errorf(api.KindBadRequest, "the mode must be %q or %q", session.ModeFollowUp, session.ModeSteer)
}

func queueKeys(queue []session.QueuedPrompt) []string {
	keys := make([]string, 0, len(queue))
	for _, q := range queue {
		keys = append(keys, q.ClientKey)
	}
	return keys
}

func matchesQueue(queue []session.QueuedPrompt, items []api.QueueItem) bool {
	return slices.EqualFunc(queue, items, func(q session.QueuedPrompt, item api.QueueItem) bool {
		mode, err := queueMode(item.Mode)
		return err == nil && q.ClientKey == item.ClientKey && (item.Text == "" || item.Text == q.Text) && (item.Mode == "" || mode == q.Mode)
	})
}

// enqueue puts a prompt at its place: a steer goes before what waits for the end of
// the turn.
func enqueue(queue []session.QueuedPrompt, prompt session.QueuedPrompt) []session.QueuedPrompt {
	at := len(queue)
	if prompt.Mode == session.ModeSteer {
		if first := slices.IndexFunc(queue, func(q session.QueuedPrompt) bool { return q.Mode != session.ModeSteer }); first >= 0 {
			at = first
		}
	}
	return slices.Insert(slices.Clone(queue), at, prompt)
}

// Steer gives the running turn the prompts that are to steer it. Each is a message
// in the log before it leaves the queue; a crash between the two is healed by its key.
func (j journal) Steer(ctx context.Context) (messages []session.Message, err error) {
	doErr := j.s.do(ctx, func() {
		var said []session.Message
		if messages, err = j.s.tellWaiting(j.turnID); err == nil {
			said, err = j.s.steer(j.turnID)
			messages = append(messages, said...)
		}
	})
	if doErr != nil {
		return nil, refuse(doErr)
	}
	if err != nil {
		return messages, refuse(err)
	}
	return j.activateSteered(ctx, messages)
}

func (s *Session) steer(turnID string) ([]session.Message, error) {
	var messages []session.Message
	rest := make([]session.QueuedPrompt, 0, len(s.live.Queue))
	for _, q := range s.live.Queue {
		if _, command := compactCommand(q.Text); q.Mode != session.ModeSteer || s.closing || command {
			rest = append(rest, q)
			continue
		}
		message := session.Message{Role: session.RoleUser, Content: session.Content{session.Text(q.Text)}, Timestamp: nowMillis()}
		mark := store.Mark{ClientID: q.ClientID, ClientKey: q.ClientKey, TurnID: turnID, Steer: true}
		entry, err := s.keepMessage(mark, message)
		if err != nil {
			return messages, err
		}
		s.keys[q.ClientKey] = entry.ID
		s.joinTurn(q)
		message.Steer = true
		messages = append(messages, message)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	s.touch()
	if err := s.rewriteQueue(rest, ""); err != nil {
		s.deps.Logger.Error("rewriting the queue", "session", s.id, "error", err)
		s.publish(api.QueueChanged{Queue: rest})
	}
	return messages, nil
}
