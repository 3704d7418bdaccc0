package models

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (r *Requests) editor(c *dispatch.Conn) *Editor {
	return &Editor{Logger: r.Logger, Models: r.Models, Path: r.Path, Keys: r.Keys, Here: c.May(api.GrantLocal)}
}

// mayEdit reports whether a connection may change what is saved.
func mayEdit(c *dispatch.Conn) bool { return c.May(api.GrantManage) && c.May(api.GrantApprove) }

// checkEditor requires the same grants as saving a key: the address and the model decide where
// prompts are sent.
func checkEditor(c *dispatch.Conn) error {
	if !c.May(api.GrantApprove) {
		return c.Lacks(api.GrantApprove, "changing providers and models also")
	}
	return nil
}

func (r *Requests) saveProvider(ctx context.Context, c *dispatch.Conn, request api.SaveProviderRequest) (response api.ProviderResponse, err error) {
	if err := checkEditor(c); err != nil {
		return response, err
	}
	if response.Provider, err = r.editor(c).SaveProvider(ctx, request); err == nil {
		r.notify(c, "provider saved", request.Name, "type", response.Provider.Type, "address", response.Provider.Address)
	}
	return response, err
}

func (r *Requests) removeProvider(ctx context.Context, c *dispatch.Conn, request api.RemoveProviderRequest) (api.Empty, error) {
	err := checkEditor(c)
	if err == nil {
		err = r.editor(c).RemoveProvider(ctx, request)
	}
	if err == nil {
		r.notify(c, "provider removed", request.Name)
	}
	return api.Empty{}, err
}

func (r *Requests) saveModel(ctx context.Context, c *dispatch.Conn, request api.SaveModelRequest) (response api.SavedModelResponse, err error) {
	if err := checkEditor(c); err != nil {
		return response, err
	}
	if response.Model, err = r.editor(c).SaveModel(ctx, request); err == nil {
		r.notify(c, "model saved", request.Name)
	}
	return response, err
}

func (r *Requests) removeModel(ctx context.Context, c *dispatch.Conn, request api.RemoveModelRequest) (api.Empty, error) {
	err := checkEditor(c)
	if err == nil {
		err = r.editor(c).RemoveModel(ctx, request)
	}
	if err == nil {
		r.notify(c, "model removed", request.Name)
	}
	return api.Empty{}, err
}

func (r *Requests) setDefaultModel(ctx context.Context, c *dispatch.Conn, request api.SetDefaultModelRequest) (response api.DefaultModelResponse, err error) {
	if err := checkEditor(c); err != nil {
		return response, err
	}
	if response, err = r.editor(c).SetDefault(ctx, request); err == nil {
		r.notify(c, "default model chosen", response.Name)
	}
	return response, err
}

func (r *Requests) testModel(ctx context.Context, _ *dispatch.Conn, request api.TestModelRequest) (api.TestModelResponse, error) {
	result, err := r.Models.Test(ctx, request.Name)
	if errors.Is(err, ErrUnknown) {
		err = unknown("model", request.Name)
	}
	return api.TestModelResponse{OK: result.OK, Reason: result.Reason, Problem: result.Error, Millis: result.Millis}, err
}

// notify logs a change, and notifies the clients of it.
func (r *Requests) notify(c *dispatch.Conn, what, name string, more ...any) {
	r.Logger.With(more...).Info(what, "name", name, "by", c.ClientID())
	r.Hub.Notify(api.ModelsChanged{})
}
