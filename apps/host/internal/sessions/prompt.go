package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// SendPrompt takes a prompt of an entry. The same ClientKey is taken once,
// however often it is sent.
func (s *Session) SendPrompt(ctx context.Context, clientID string, request api.SendPromptRequest) (response api.SendPromptResponse, err error) {
	if err := checkPrompt(request); err != nil {
		return response, err
	}
	doErr := s.do(ctx, func() { response, err = s.takePrompt(clientID, request) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, err
}

func checkPrompt(request api.SendPromptRequest) error {
	switch {
	case request.ClientKey == "" || len(request.ClientKey) > api.MaxClientKey:
		return api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	case strings.TrimSpace(request.Text) == "":
		return api.Errorf(api.KindBadRequest, "the prompt is empty: write something")
	case len(request.Text) > api.MaxPrompt:
		return api.Errorf(api.KindTooLarge, "the prompt has %d bytes, the limit is %d: put it into a file and name the file", len(request.Text), api.MaxPrompt)
	case !utf8.ValidString(request.Text):
		return api.Errorf(api.KindBadRequest, "the prompt is not UTF-8")
	}
	return nil
}

func (s *Session) takePrompt(clientID string, request api.SendPromptRequest) (api.SendPromptResponse, error) {
	if id, ok := s.keys[request.ClientKey]; ok {
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, nil
	}
	if slices.ContainsFunc(s.live.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == request.ClientKey }) {
		return api.SendPromptResponse{State: api.PromptQueued}, nil
	}
	if s.closing {
		return api.SendPromptResponse{}, refuse(ErrClosed)
	}
	prompt := session.QueuedPrompt{
		ClientKey: request.ClientKey, ClientID: clientID, Text: request.Text, AllowAll: request.AllowAll, QueuedAt: nowMillis(),
	}
	if s.turn == nil && len(s.live.Queue) == 0 {
		id, err := s.startTurn(prompt)
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, err
	}
	if len(s.live.Queue) >= api.MaxQueue {
		return api.SendPromptResponse{}, api.Errorf(api.KindQueueFull, "%d prompts wait already: let the agent take some, or cancel its turn", api.MaxQueue)
	}
	err := s.rewriteQueue(append(slices.Clone(s.live.Queue), prompt), clientID)
	return api.SendPromptResponse{State: api.PromptQueued}, refuse(err)
}

// rewriteQueue puts the whole queue on disk, then tells.
func (s *Session) rewriteQueue(queue []session.QueuedPrompt, clientID string) error {
	if queue == nil {
		queue = []session.QueuedPrompt{}
	}
	if err := s.appendCustom(session.CustomQueue, session.Queue{Items: queue}, clientID); err != nil {
		return err
	}
	s.publish(api.QueueChanged{Queue: queue})
	return nil
}

// startNext starts the turn of the first waiting prompt. Its message goes on disk
// before it leaves the queue; a crash between the two is healed by its key.
func (s *Session) startNext(ctx context.Context) {
	if s.turn != nil || s.closing || len(s.live.Queue) == 0 || ctx.Err() != nil {
		return
	}
	prompt, rest := s.live.Queue[0], slices.Clone(s.live.Queue[1:])
	if _, err := s.startTurn(prompt); err != nil {
		s.deps.Logger.Error("starting a waiting prompt", "session", s.id, "error", err)
		return
	}
	if err := s.rewriteQueue(rest, ""); err != nil {
		s.deps.Logger.Error("rewriting the queue", "session", s.id, "error", err)
		s.publish(api.QueueChanged{Queue: rest})
	}
}

// SetModel chooses the model of the next turns.
func (s *Session) SetModel(ctx context.Context, clientID, name string) (err error) {
	_, model, err := s.deps.Models.Model(name)
	if err != nil {
		return err
	}
	doErr := s.do(ctx, func() { err = s.changeModel(clientID, model) })
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

func (s *Session) changeModel(clientID string, model api.Model) error {
	_, err := s.append(func(h entryHead) any {
		return session.ModelChangeEntry{
			Type: session.TypeModelChange, ID: h.id, ParentID: h.parent, Timestamp: h.timestamp,
			Provider: model.Provider, ModelID: model.ID, Seq: h.seq, ClientID: clientID,
		}
	})
	s.touch()
	return err
}

// Rename names the session; "" gives it back the name made from its first prompt.
func (s *Session) Rename(ctx context.Context, clientID, name string) (err error) {
	name = strings.Join(strings.Fields(name), " ")
	if len(name) > api.MaxName {
		return api.Errorf(api.KindTooLarge, "the name has %d bytes, the limit is %d", len(name), api.MaxName)
	}
	doErr := s.do(ctx, func() {
		_, err = s.append(func(h entryHead) any {
			return session.SessionInfoEntry{
				Type: session.TypeSessionInfo, ID: h.id, ParentID: h.parent, Timestamp: h.timestamp,
				Name: name, Seq: h.seq, ClientID: clientID,
			}
		})
		s.touch()
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

// Resync subscribes and hands reply what brings the entry up to date, before any
// later event is delivered.
func (s *Session) Resync(ctx context.Context, anchors api.Anchors, subscriber Subscriber, reply func(api.ResyncEventsResponse)) error {
	err := s.do(ctx, func() {
		reply(s.resync(anchors))
		s.subscribers[subscriber] = struct{}{}
	})
	return refuse(err)
}

// Unsubscribe ends a subscription.
func (s *Session) Unsubscribe(ctx context.Context, subscriber Subscriber) {
	_ = s.do(ctx, func() { delete(s.subscribers, subscriber) }) // a closed session has none
}

func (s *Session) resync(from api.Anchors) api.ResyncEventsResponse {
	response := api.ResyncEventsResponse{
		Mode:    api.ResyncFull,
		Session: s.summary,
		Entries: []session.Entry{},
		Events:  []api.EventEnvelope{},
		Live:    s.live.Clone(),
		Anchors: api.Anchors{Epoch: s.epoch, PersistentLastSeq: s.log.lastSeq, StreamLastSeq: s.seq},
	}
	if from.Epoch == s.epoch {
		if events, complete := s.ring.after(from.StreamLastSeq, s.seq+1); complete {
			response.Mode, response.Events = api.ResyncStream, events
			return response
		}
	}
	entries := s.log.tree.Entries()
	if from.Epoch != "" && from.PersistentLastSeq <= s.log.lastSeq {
		response.Mode = api.ResyncPersistent
		i, _ := slices.BinarySearchFunc(entries, from.PersistentLastSeq+1, func(e session.Entry, seq uint64) int {
			return int(int64(e.Seq) - int64(seq))
		})
		entries = entries[i:]
	}
	response.Entries = append(response.Entries, entries...)
	return response
}

// Summary returns the session's line for a list.
func (s *Session) Summary(ctx context.Context) (summary api.SessionSummary, err error) {
	err = s.do(ctx, func() { summary = s.summary })
	if err != nil {
		return summary, fmt.Errorf("reading a summary: %w", err)
	}
	return summary, nil
}
