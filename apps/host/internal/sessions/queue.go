package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// EditQueue replaces the queue by those of its prompts that are named, in that
// order. A prompt whose text somebody changes is theirs from then on: it keeps its
// approvals only if they may give some, and runs in no mode above most, their highest.
func (s *Session) EditQueue(ctx context.Context, by queue.Editor, r api.EditQueueRequest) (response api.EditQueueResponse, err error) {
	doErr := s.do(ctx, func() { response.Queue, err = s.editQueue(by, r) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, refuse(err)
}

func (s *Session) editQueue(by queue.Editor, r api.EditQueueRequest) ([]session.QueuedPrompt, error) {
	if queue.Matches(s.live.Queue, r.Items) { // also a request that is sent again
		return s.live.Queue, nil
	}
	edited, removed, err := queue.Edit(s.live.Queue, by, r)
	if err != nil {
		return nil, err
	}
	if err := s.keepCustom(session.CustomQueue, session.Queue{Items: edited, Removed: removed}, by.ClientID); err != nil {
		return nil, err
	}
	for _, key := range removed {
		s.removed[key] = true
	}
	s.publish(api.QueueChanged{Queue: edited})
	return s.live.Queue, nil
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
