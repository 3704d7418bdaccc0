package projects

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (p *Projects) listExtensions(_ context.Context, _ *dispatch.Conn, r api.ListExtensionsRequest) (api.ListExtensionsResponse, error) {
	folder, err := p.folder(r.ProjectID)
	if err != nil {
		return api.ListExtensionsResponse{}, err
	}
	list, problems := p.extensions.List(folder)
	return api.ListExtensionsResponse{Extensions: list, Problems: problems}, nil
}

func (p *Projects) fetchExtension(ctx context.Context, _ *dispatch.Conn, r api.FetchExtensionRequest) (api.FetchExtensionResponse, error) {
	return p.extensions.Fetch(ctx, r)
}

func (p *Projects) saveExtension(_ context.Context, c *dispatch.Conn, r api.SaveExtensionRequest) (response api.ExtensionResponse, err error) {
	folder, err := p.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if response.Extension, err = p.extensions.Save(folder, r.Hash, r.Replaces, c.ClientID()); err == nil {
		p.extensionsChanged("an extension was saved", r.ProjectID, response.Extension.Name, c)
	}
	return response, err
}

func (p *Projects) decideExtension(_ context.Context, c *dispatch.Conn, r api.DecideExtensionRequest) (response api.ExtensionResponse, err error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Allow { // what it brings runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	if response.Extension, err = p.extensions.Decide(project.Path, r.Name, r.Hash, r.Allow, c.ClientID()); err == nil {
		p.extensionsChanged("an extension was allowed or denied", r.ProjectID, r.Name, c)
	}
	return response, err
}

func (p *Projects) setExtensionEnabled(_ context.Context, c *dispatch.Conn, r api.SetExtensionEnabledRequest) (response api.ExtensionResponse, err error) {
	folder, err := p.folder(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Enabled { // what it brings runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	if response.Extension, err = p.extensions.SetEnabled(folder, r.Name, r.Enabled); err == nil {
		p.extensionsChanged("an extension was enabled or disabled", r.ProjectID, r.Name, c)
	}
	return response, err
}

func (p *Projects) deleteExtension(_ context.Context, c *dispatch.Conn, r api.DeleteExtensionRequest) (api.Empty, error) {
	if err := p.extensions.Delete(r.Name, r.Hash); err != nil {
		return none, err
	}
	p.extensionsChanged("an extension was removed", "", r.Name, c)
	return none, nil
}

// extensionsChanged stops the servers that may no longer run, and removes what nothing uses
// any more. Extensions bring skills, agents, servers and hooks, so their lists have changed too.
func (p *Projects) extensionsChanged(what, projectID, name string, c *dispatch.Conn) {
	p.log.Info(what, "project", projectID, "extension", name, "client", c.ClientID())
	p.servers.Prune()
	if err := p.extensions.Clean(); err != nil {
		p.log.Error("removing copies of extensions that are not used", "error", err)
	}
	p.hub.Notify(api.ExtensionsChanged{})
	p.hub.Notify(api.SkillsChanged{})
	p.hub.Notify(api.MCPServersChanged{ProjectID: projectID})
	p.hub.Notify(api.HooksChanged{ProjectID: projectID})
	p.trustChanged()
}
