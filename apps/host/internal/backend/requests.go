package backend

import (
	"context"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Requests answers requests about backends.
type Requests struct {
	Backends *Backends
	// Folder returns the folder of a project, or the user's home for "".
	Folder func(projectID string) (string, error)
	// MaxMode returns the highest mode that a connection may set.
	MaxMode func(*dispatch.Conn) api.Mode
}

// Endpoints returns the requests.
func (q *Requests) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListBackends, q.list),
		dispatch.Serve(api.TestBackend, q.test),
	}
}

func (q *Requests) list(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListBackendsResponse, error) {
	list := q.Backends.List()
	for i := range list {
		list[i].Denied = q.denied(c, list[i].Name)
	}
	return api.ListBackendsResponse{Backends: list}, nil
}

// denied returns why a connection may not use a backend, by the rules that set_backend applies.
func (q *Requests) denied(c *dispatch.Conn, name string) api.BackendDenial {
	switch {
	case !c.May(api.GrantPrompt):
		return api.BackendNeedsPrompt
	case !q.Backends.Asks(name) && q.MaxMode(c) != api.ModeBypass:
		return api.BackendNeedsBypass
	}
	return ""
}

func (q *Requests) test(ctx context.Context, c *dispatch.Conn, r api.TestBackendRequest) (api.TestBackendResponse, error) {
	d, err := q.Backends.Definition(r.Name)
	if err != nil {
		return api.TestBackendResponse{}, err
	}
	folder, err := q.Folder(r.ProjectID)
	if err != nil {
		return api.TestBackendResponse{}, err
	}
	response := q.Backends.test(ctx, d, folder)
	if c.ClientID() != dispatch.LocalID { // programs may print what is secret
		response.Output = ""
	}
	return response, nil
}

// test starts a program and begins a session in it. What is wrong is part of the response.
func (b *Backends) test(ctx context.Context, d Definition, folder string) (response api.TestBackendResponse) {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	began := time.Now()
	p, err := b.starter.start(ctx, d, "", folder)
	if err != nil {
		response.Problem = err.Error()
		return response
	}
	defer p.end()
	info := p.agent.Info()
	if info.AgentInfo != nil {
		response.Agent = info.AgentInfo.Name + " " + info.AgentInfo.Version
	}
	can := info.AgentCapabilities
	response.Resumes, response.Images = can.LoadSession || can.SessionCapabilities.Resume != nil, can.PromptCapabilities.Image
	state, err := p.agent.NewSession(ctx, acp.NewSessionRequest{Cwd: folder})
	response.Duration = time.Since(began).Milliseconds()
	if err != nil {
		response.Problem, response.Output = p.why(ctx, err).Error(), p.stderr.String()
		if acp.HasCode(err, acp.CodeAuthRequired) {
			response.Login = "scorel backend login " + d.Name
		}
		return response
	}
	for _, option := range stateOptions(state) {
		for _, choice := range option.Choices {
			switch option.Category {
			case acp.CategoryMode:
				response.Modes = append(response.Modes, choice.Value)
			case acp.CategoryModel:
				response.Models = append(response.Models, choice.Value)
			}
		}
	}
	if can.SessionCapabilities.Close != nil {
		_ = p.agent.CloseSession(ctx, state.SessionID) // the program ends in any case
	}
	return response
}
