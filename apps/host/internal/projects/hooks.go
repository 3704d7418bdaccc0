package projects

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
)

// hookRequests are the requests about hooks.
type hookRequests struct {
	*shared
	manager *hook.Manager
}

func (h *hookRequests) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListHooks, h.listHooks),
		dispatch.Serve(api.DecideHook, h.decideHook),
		dispatch.Serve(api.TestHook, h.testHook),
	}
}

func (h *hookRequests) listHooks(_ context.Context, _ *dispatch.Conn, r api.ListHooksRequest) (api.ListHooksResponse, error) {
	folder, err := h.folder(r.ProjectID)
	if err != nil {
		return api.ListHooksResponse{}, err
	}
	hooks, problems := h.manager.List(folder)
	return api.ListHooksResponse{Hooks: hooks, Problems: problems}, nil
}

func (h *hookRequests) decideHook(_ context.Context, c *dispatch.Conn, r api.DecideHookRequest) (response api.HookResponse, err error) {
	project, err := h.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if r.Allow { // it runs without being asked about
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	response.Hook, err = h.manager.Decide(project.Path, r.ID, r.Hash, r.Allow, c.ClientID())
	if err == nil {
		h.log.Info("a hook was allowed or denied", "project", project.ID, "hook", r.ID, "allowed", r.Allow, "client", c.ClientID())
		h.hub.Notify(api.HooksChanged{ProjectID: project.ID})
	}
	return response, hookError(err, r.ID)
}

// testHook runs only what people allowed, and needs what allowing it does.
func (h *hookRequests) testHook(ctx context.Context, c *dispatch.Conn, r api.TestHookRequest) (response api.TestHookResponse, err error) {
	project, err := h.list.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	if err := c.CheckMayLoosen(); err != nil {
		return response, err
	}
	response.Run, response.Input, err = h.manager.Test(ctx, project.Path, r.ID)
	return response, hookError(err, r.ID)
}

func hookError(err error, id string) error {
	switch {
	case errors.Is(err, hook.ErrUnknown):
		return api.Errorf(api.KindNotFound, "there is no hook %.64q: list the hooks to see them", id)
	case errors.Is(err, hook.ErrChanged):
		return api.Errorf(api.KindConflict, "the hook %.64q has changed since it was shown: review it again", id)
	}
	return err
}
