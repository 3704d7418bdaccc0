package sessionapi

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
)

// SendPrompt gives a prompt to a session.
func (s *Sessions) SendPrompt(ctx context.Context, c *dispatch.Conn, r api.SendPromptRequest) (api.SendPromptResponse, error) {
	if (r.AllowAll || len(r.AllowRules) > 0) && !c.May(api.GrantApprove) {
		return api.SendPromptResponse{}, c.Lacks(api.GrantApprove, "allowing calls with a prompt")
	}
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.SendPromptResponse{}, err
	}
	return s.send(ctx, c, opened, r)
}

// send gives a prompt to a session, with its files stored. A repeated prompt stores none: the
// agent may have changed or moved them since.
func (s *Sessions) send(ctx context.Context, c *dispatch.Conn, opened *sessions.Session, r api.SendPromptRequest) (response api.SendPromptResponse, err error) {
	files, accepted := filesOf(r), false
	if len(files) > 0 {
		response, accepted, err = opened.Accepted(ctx, r.ClientKey)
	}
	if err == nil && !accepted {
		if r, err = s.attach(c.ClientID(), r); err == nil {
			response, err = opened.SendPromptUpTo(ctx, c.ClientID(), s.MaxMode(c), r)
		}
	}
	if err == nil && len(files) > 0 {
		_ = s.blobs.Drop(c.ClientID(), files...) // what stays is removed after a day
	}
	return response, err
}

func (s *Sessions) cancelTurn(ctx context.Context, _ *dispatch.Conn, r api.CancelTurnRequest) (api.CancelTurnResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.CancelTurnResponse{}, err
	}
	canceled, err := opened.CancelTurn(ctx, r.TurnID)
	return api.CancelTurnResponse{Cancelled: canceled}, err
}

func (s *Sessions) answerApproval(ctx context.Context, c *dispatch.Conn, r api.AnswerApprovalRequest) (api.AnswerApprovalResponse, error) {
	if r.Decision == api.DecisionAlways && !c.May(api.GrantManage) {
		return api.AnswerApprovalResponse{}, api.Errorf(api.KindNotAllowed, "%q needs the grant %q, which this connection does not have: allow it once", r.Decision, api.GrantManage)
	}
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.AnswerApprovalResponse{}, err
	}
	return opened.AnswerApproval(ctx, c.ClientID(), r)
}

func (s *Sessions) answerQuestion(ctx context.Context, c *dispatch.Conn, r api.AnswerQuestionRequest) (api.AnswerQuestionResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.AnswerQuestionResponse{}, err
	}
	return opened.AnswerQuestion(ctx, c.ClientID(), r)
}

func (s *Sessions) setModel(ctx context.Context, c *dispatch.Conn, r api.SetModelRequest) (api.Empty, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	// What is wrong with either is said before anything changes.
	level := r.Thinking
	if level == api.ThinkingConfigured {
		level = ""
	}
	if err := sessions.CheckThinking(level); err != nil {
		return none, err
	}
	if r.Model != "" || r.Thinking == "" {
		if err := opened.SetModel(ctx, c.ClientID(), r.Model); err != nil {
			return none, err
		}
	}
	if r.Thinking == "" {
		return none, nil
	}
	return none, opened.SetThinking(ctx, c.ClientID(), level)
}

func (s *Sessions) setMode(ctx context.Context, c *dispatch.Conn, r api.SetModeRequest) (api.Empty, error) {
	if err := s.checkMode(c, r.Mode); err != nil {
		return none, err
	}
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, opened.SetMode(ctx, c.ClientID(), r.Mode)
}

func (s *Sessions) setBackend(ctx context.Context, c *dispatch.Conn, r api.SetBackendRequest) (api.Empty, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	decides, err := opened.BackendDecides(ctx, r.Backend)
	if err == nil {
		err = s.checkBackend(c, r.Backend, decides)
	}
	if err != nil {
		return none, err
	}
	return none, opened.SetBackend(ctx, c.ClientID(), r.Backend)
}

func (s *Sessions) getBackend(ctx context.Context, _ *dispatch.Conn, r api.GetBackendRequest) (api.GetBackendResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.GetBackendResponse{}, err
	}
	return opened.Backend(ctx)
}

func (s *Sessions) setBackendOption(ctx context.Context, c *dispatch.Conn, r api.SetBackendOptionRequest) (api.Empty, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, opened.SetBackendOption(ctx, c.ClientID(), r.Option, r.Value, func(category string, decides bool) error {
		switch {
		case agent.Harmless(category):
			return nil
		case category == agent.OptionMode && !decides:
			return s.checkMode(c, api.ModePlan) // the lowest
		}
		return s.checkMode(c, api.ModeBypass) // what the program then does is not asked for
	})
}

// checkBackend refuses a program that acts without asking, for a connection that may not have
// scorel's own agent do so either.
func (s *Sessions) checkBackend(c *dispatch.Conn, name string, decides bool) error {
	if most := s.MaxMode(c); decides && most != api.ModeBypass {
		return sessions.NeedsBypass(name, "this connection", most)
	}
	return nil
}

// checkMode refuses a mode that the connection may not set.
func (s *Sessions) checkMode(c *dispatch.Conn, mode api.Mode) error {
	most := s.MaxMode(c)
	switch {
	case !c.May(api.GrantManage):
		return c.Lacks(api.GrantManage, "setting the mode")
	case !slices.Contains(api.Modes(), mode):
		return api.Errorf(api.KindBadRequest, "unknown mode %.40q: use one of %s", mode, api.ModeNames())
	case permission.Lower(mode, most) != mode:
		return api.Errorf(api.KindNotAllowed, "this connection may set modes up to %q: set it on the host's own machine, or raise permissions.remote_mode in its config.toml", most)
	}
	return nil
}
