package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// SendPrompt takes a prompt of an entry. The same ClientKey is taken once,
// however often it is sent.
func (s *Session) SendPrompt(ctx context.Context, clientID string, request api.SendPromptRequest) (api.SendPromptResponse, error) {
	return s.SendPromptUpTo(ctx, clientID, "", request)
}

// SendPromptUpTo is SendPrompt with the highest mode that the prompt may run in,
// whatever that of the session is; "" is none.
func (s *Session) SendPromptUpTo(ctx context.Context, clientID string, most api.Mode, request api.SendPromptRequest) (response api.SendPromptResponse, err error) {
	if err := queue.CheckPrompt(request); err != nil {
		return response, err
	}
	if err := s.checkRules(request.AllowRules); err != nil {
		return response, err
	}
	doErr := s.do(ctx, func() { response, err = s.takePrompt(clientID, most, request) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, err
}

func (s *Session) takePrompt(clientID string, most api.Mode, request api.SendPromptRequest) (api.SendPromptResponse, error) {
	if id, ok := s.keys[request.ClientKey]; ok {
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, nil
	}
	if slices.ContainsFunc(s.live.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == request.ClientKey }) {
		return api.SendPromptResponse{State: api.PromptQueued}, nil
	}
	if id, ok := s.done[request.ClientKey]; ok {
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, nil
	}
	if s.removed[request.ClientKey] {
		return api.SendPromptResponse{State: api.PromptRemoved}, nil
	}
	if s.closing {
		return api.SendPromptResponse{}, refuse(ErrClosed)
	}
	mode, err := queue.Mode(request.Mode)
	if err != nil {
		return api.SendPromptResponse{}, err
	}
	if err := s.checkCommand(request.Text); err != nil {
		return api.SendPromptResponse{}, err
	}
	_, command := compactCommand(request.Text)
	prompt := session.QueuedPrompt{
		ClientKey: request.ClientKey, ClientID: clientID, Text: request.Text, AllowAll: request.AllowAll, QueuedAt: nowMillis(), Mode: mode,
		AllowRules: request.AllowRules, MaxMode: string(most),
	}
	if !command && s.turn == nil && s.work == nil && len(s.live.Queue) == 0 && !s.compactIfDue() {
		id, err := s.startTurn(prompt)
		return api.SendPromptResponse{State: api.PromptTaken, EntryID: id}, err
	}
	if len(s.live.Queue) >= api.MaxQueue {
		return api.SendPromptResponse{}, api.Errorf(api.KindQueueFull, "%d prompts wait already: let the agent take some, or cancel its turn", api.MaxQueue)
	}
	waiting := queue.Add(s.live.Queue, prompt)
	if size := queue.Size(waiting); size > api.MaxQueueBytes {
		return api.SendPromptResponse{}, api.Errorf(api.KindQueueFull,
			"the prompts that wait would have %d bytes, the limit is %d: let the agent take some, or put the text into a file and name the file", size, api.MaxQueueBytes)
	}
	if err := s.rewriteQueue(waiting, clientID); err != nil {
		return api.SendPromptResponse{}, refuse(err)
	}
	if s.turn == nil { // those before it could not be started, as on a full disk: now it may go
		s.startNext(context.Background())
	}
	return api.SendPromptResponse{State: api.PromptQueued}, nil
}

// rewriteQueue puts the whole queue on disk, then tells.
func (s *Session) rewriteQueue(waiting []session.QueuedPrompt, clientID string) error {
	if waiting == nil {
		waiting = []session.QueuedPrompt{}
	}
	if err := s.keepCustom(session.CustomQueue, session.Queue{Items: waiting}, clientID); err != nil {
		return err
	}
	s.publish(api.QueueChanged{Queue: waiting})
	return nil
}

// startNext starts the turn of the first waiting prompt. Its message goes on disk
// before it leaves the queue; a crash between the two is healed by its key.
func (s *Session) startNext(ctx context.Context) {
	if s.turn != nil || s.work != nil || s.closing || ctx.Err() != nil {
		return
	}
	if len(s.live.Queue) == 0 {
		s.heed(ctx)
		return
	}
	if focus, command := compactCommand(s.live.Queue[0].Text); command {
		s.startCommand(s.live.Queue[0], focus)
		return
	}
	if s.compactIfDue() {
		return // its end comes back here
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
	_, err := s.keep(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendModelChange(ctx, mark, model.Provider, model.ID)
	})
	s.touch()
	return err
}

// CheckThinking refuses a level that no model knows; "" is none.
func CheckThinking(level string) error {
	switch agent.ThinkingLevel(level) {
	case "", agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium, agent.ThinkingHigh:
		return nil
	}
	return api.Errorf(api.KindBadRequest, "thinking %.32q is no level: give off, minimal, low, medium, high or configured", level)
}

// SetThinking says how much the model thinks in the next turns; "" goes back to what
// the configuration says.
func (s *Session) SetThinking(ctx context.Context, clientID, level string) (err error) {
	if err := CheckThinking(level); err != nil {
		return err
	}
	doErr := s.do(ctx, func() {
		_, err = s.keep(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return s.log.AppendThinkingLevelChange(ctx, mark, level)
		})
		s.touch()
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

// Rename names the session; "" gives it back the name made from its first prompt.
func (s *Session) Rename(ctx context.Context, clientID, name string) (err error) {
	name = strings.Join(strings.Fields(name), " ")
	if len(name) > api.MaxName {
		return api.Errorf(api.KindTooLarge, "the name has %d bytes, the limit is %d", len(name), api.MaxName)
	}
	doErr := s.do(ctx, func() {
		_, err = s.keep(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return s.log.AppendSessionInfo(ctx, mark, name)
		})
		s.touch()
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}
