package projects

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// serverRequests are the requests about MCP servers.
type serverRequests struct {
	*shared
	manager *mcp.Manager
}

func (s *serverRequests) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListMCPServers, s.listMCPServers),
		dispatch.Serve(api.DecideMCPServer, s.decideMCPServer),
		dispatch.Serve(api.SaveMCPServer, s.saveMCPServer),
		dispatch.Serve(api.DeleteMCPServer, s.deleteMCPServer),
		dispatch.Serve(api.SetMCPEnabled, s.setMCPServerEnabled),
		dispatch.Serve(api.TestMCPServer, s.testMCPServer),
		dispatch.Serve(api.SignInMCPServer, s.signInMCPServer),
		dispatch.Serve(api.FinishMCPSignIn, s.finishMCPSignIn),
		dispatch.Serve(api.AwaitMCPSignIn, s.awaitMCPSignIn),
		dispatch.Serve(api.SignOutMCPServer, s.signOutMCPServer),
		dispatch.Serve(api.ListMCPOffers, s.listMCPOffers),
	}
}

func (s *serverRequests) listMCPServers(_ context.Context, _ *dispatch.Conn, r api.ListMCPServersRequest) (api.ListMCPServersResponse, error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return api.ListMCPServersResponse{}, err
	}
	servers, problems := s.manager.List(folder)
	return api.ListMCPServersResponse{Servers: servers, Problems: problems}, nil
}

// saveMCPServer needs the grant shell: it decides which program the host starts, without
// being asked each time.
func (s *serverRequests) saveMCPServer(_ context.Context, c *dispatch.Conn, r api.SaveMCPServerRequest) (response api.MCPServerResponse, err error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if response.Server, err = s.manager.Save(folder, r.Name, r.Version, r.Server, c.ClientID()); err != nil {
		return response, err
	}
	s.serversChanged("an MCP server was saved", r.ProjectID, r.Name, c)
	return response, nil
}

func (s *serverRequests) deleteMCPServer(_ context.Context, c *dispatch.Conn, r api.DeleteMCPServerRequest) (api.Empty, error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return none, err
	}
	if err := s.manager.Delete(folder, r.Name, r.Version); err != nil {
		return none, err
	}
	s.serversChanged("an MCP server was deleted", r.ProjectID, r.Name, c)
	return none, nil
}

func (s *serverRequests) setMCPServerEnabled(_ context.Context, c *dispatch.Conn, r api.SetMCPServerEnabledRequest) (response api.MCPServerResponse, err error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Enabled { // it starts without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	if response.Server, err = s.manager.SetEnabled(folder, r.Name, r.Enabled); err != nil {
		return response, err
	}
	s.serversChanged("an MCP server was enabled or disabled", r.ProjectID, r.Name, c)
	return response, nil
}

// testMCPServer starts only what people allowed, and needs what allowing it does.
func (s *serverRequests) testMCPServer(ctx context.Context, c *dispatch.Conn, r api.TestMCPServerRequest) (response api.TestMCPServerResponse, err error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if err := c.CheckMayLoosen(); err != nil {
		return response, err
	}
	return s.manager.Test(ctx, folder, r.Name)
}

// signInMCPServer needs what allowing a server needs: the server can then act for the person.
func (s *serverRequests) signInMCPServer(ctx context.Context, c *dispatch.Conn, r api.SignInMCPServerRequest) (response api.SignInMCPServerResponse, err error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if err := c.CheckMayLoosen(); err != nil {
		return response, err
	}
	begun, err := s.manager.SignIn(ctx, folder, r.Name, c.ClientID())
	if err != nil {
		return response, err
	}
	return api.SignInMCPServerResponse{
		SignInID: begun.ID, URL: begun.URL, Issuer: begun.Issuer, Scopes: append([]string{}, begun.Scopes...), Redirect: begun.Redirect, ExpiresAt: begun.Expires.UnixMilli(),
	}, nil
}

func (s *serverRequests) finishMCPSignIn(ctx context.Context, c *dispatch.Conn, r api.FinishMCPSignInRequest) (api.Empty, error) {
	if err := c.CheckMayLoosen(); err != nil {
		return none, err
	}
	return none, s.manager.FinishSignIn(ctx, r.SignInID, r.Address)
}

// signInWait is how long a request waits for the end of a sign-in.
const signInWait = 25 * time.Second

func (s *serverRequests) awaitMCPSignIn(ctx context.Context, _ *dispatch.Conn, r api.AwaitMCPSignInRequest) (response api.AwaitMCPSignInResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, signInWait)
	defer cancel()
	response.Problem, response.Ended, err = s.manager.AwaitSignIn(ctx, r.SignInID)
	return response, err
}

func (s *serverRequests) signOutMCPServer(ctx context.Context, c *dispatch.Conn, r api.SignOutMCPServerRequest) (response api.MCPServerResponse, err error) {
	folder, err := s.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	response.Server, err = s.manager.SignOut(ctx, folder, r.Name)
	s.serversChanged("tokens of an MCP server were deleted", r.ProjectID, r.Name, c)
	return response, err
}

// listMCPOffers starts only what people allowed, as a prompt does.
func (s *serverRequests) listMCPOffers(ctx context.Context, _ *dispatch.Conn, r api.ListMCPOffersRequest) (api.ListMCPOffersResponse, error) {
	project, err := s.list.Find(r.ProjectID)
	if err != nil {
		return api.ListMCPOffersResponse{}, err
	}
	return s.manager.Offers(ctx, project.Path), nil
}

func (s *serverRequests) serversChanged(what, projectID, name string, c *dispatch.Conn) {
	s.log.Info(what, "project", projectID, "server", name, "client", c.ClientID())
	s.hub.Notify(api.MCPServersChanged{ProjectID: projectID})
}

func (s *serverRequests) decideMCPServer(_ context.Context, c *dispatch.Conn, r api.DecideMCPServerRequest) (response api.DecideMCPServerResponse, err error) {
	project, err := s.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Allow { // what is started runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	response.Server, err = s.manager.Decide(project.Path, r.Name, r.Hash, r.Allow, c.ClientID())
	switch {
	case errors.Is(err, mcp.ErrUnknown):
		return response, api.Errorf(api.KindNotFound, "the .mcp.json of %s has no server %.64q: list the servers to see them", project.Path, r.Name)
	case errors.Is(err, mcp.ErrChanged):
		return response, api.Errorf(api.KindConflict, "the configuration of %.64q has changed since it was shown: review it again", r.Name)
	case err == nil:
		s.log.Info("an MCP server was allowed or denied", "project", project.ID, "server", r.Name, "allowed", r.Allow, "client", c.ClientID())
		s.hub.Notify(api.MCPServersChanged{ProjectID: project.ID})
	}
	return response, err
}
