package projects

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// extensionRequests are the requests about extensions.
type extensionRequests struct {
	*shared
	manager *extension.Manager
	servers *mcp.Manager
	// trustChanged is called after the extensions that count have changed.
	trustChanged func()
}

func (e *extensionRequests) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListExtensions, e.listExtensions),
		dispatch.Serve(api.FetchExtension, e.fetchExtension),
		dispatch.Serve(api.SaveExtension, e.saveExtension),
		dispatch.Serve(api.DecideExtension, e.decideExtension),
		dispatch.Serve(api.SetExtension, e.setExtensionEnabled),
		dispatch.Serve(api.DeleteExtension, e.deleteExtension),
	}
}

func (e *extensionRequests) listExtensions(_ context.Context, _ *dispatch.Conn, r api.ListExtensionsRequest) (api.ListExtensionsResponse, error) {
	folder, err := e.folder(r.ProjectID)
	if err != nil {
		return api.ListExtensionsResponse{}, err
	}
	list, problems := e.manager.List(folder)
	return api.ListExtensionsResponse{Extensions: list, Problems: problems}, nil
}

func (e *extensionRequests) fetchExtension(ctx context.Context, _ *dispatch.Conn, r api.FetchExtensionRequest) (api.FetchExtensionResponse, error) {
	return e.manager.Fetch(ctx, r)
}

func (e *extensionRequests) saveExtension(_ context.Context, c *dispatch.Conn, r api.SaveExtensionRequest) (response api.ExtensionResponse, err error) {
	folder, err := e.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if response.Extension, err = e.manager.Save(folder, r.Hash, r.Replaces, c.ClientID()); err == nil {
		e.extensionsChanged("an extension was saved", r.ProjectID, response.Extension.Name, c)
	}
	return response, err
}

func (e *extensionRequests) decideExtension(_ context.Context, c *dispatch.Conn, r api.DecideExtensionRequest) (response api.ExtensionResponse, err error) {
	project, err := e.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Allow { // what it brings runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	if response.Extension, err = e.manager.Decide(project.Path, r.Name, r.Hash, r.Allow, c.ClientID()); err == nil {
		e.extensionsChanged("an extension was allowed or denied", r.ProjectID, r.Name, c)
	}
	return response, err
}

func (e *extensionRequests) setExtensionEnabled(_ context.Context, c *dispatch.Conn, r api.SetExtensionEnabledRequest) (response api.ExtensionResponse, err error) {
	folder, err := e.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Enabled { // what it brings runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	if response.Extension, err = e.manager.SetEnabled(folder, r.Name, r.Enabled); err == nil {
		e.extensionsChanged("an extension was enabled or disabled", r.ProjectID, r.Name, c)
	}
	return response, err
}

func (e *extensionRequests) deleteExtension(_ context.Context, c *dispatch.Conn, r api.DeleteExtensionRequest) (api.Empty, error) {
	if err := e.manager.Delete(r.Name, r.Hash); err != nil {
		return none, err
	}
	e.extensionsChanged("an extension was removed", "", r.Name, c)
	return none, nil
}

// extensionsChanged stops the servers that may no longer run, and removes what nothing uses
// any more. Extensions bring skills, agents, servers and hooks, so their lists have changed too.
func (e *extensionRequests) extensionsChanged(what, projectID, name string, c *dispatch.Conn) {
	e.log.Info(what, "project", projectID, "extension", name, "client", c.ClientID())
	e.servers.Prune()
	if err := e.manager.Clean(); err != nil {
		e.log.Error("removing copies of extensions that are not used", "error", err)
	}
	e.hub.Notify(api.ExtensionsChanged{})
	e.hub.Notify(api.SkillsChanged{})
	e.hub.Notify(api.MCPServersChanged{ProjectID: projectID})
	e.hub.Notify(api.HooksChanged{ProjectID: projectID})
	e.trustChanged()
}
