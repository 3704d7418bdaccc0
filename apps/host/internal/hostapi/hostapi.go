// Package hostapi answers the requests about the host itself.
package hostapi

import (
	"context"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Models lists the models of the host.
type Models interface {
	List() []api.Model
	Default() string
}

// Name is the name of the machine that others see.
type Name interface {
	Current() string
	Chosen() bool // by a person
	// Choose saves a name, and reports whether others now see another one.
	Choose(label string) (changed bool, err error)
}

// Host answers the requests about the host itself. All fields are required and do not change.
type Host struct {
	Keys    *ident.Private // of the device
	Name    Name
	Renamed func(context.Context) // called after others see another name
	Version string
	Models  Models
	Sandbox *sandbox.Sandbox
	Relay   func() (url, state string) // the first one
	Paths   func() []api.Path
	Outages func() []api.Outage             // session databases that are unavailable
	MaxMode func(c *dispatch.Conn) api.Mode // the highest mode that a connection may set
	Stop    func()                          // asks the host to stop
	Pause   func(ctx context.Context) error // waits until nothing runs, and begins nothing new for a while
	Resume  func()                          // ends what Pause began
	Restart func() error                    // asks a paused host to stop and begin again
}

// Endpoints are the requests about the host itself.
func (h *Host) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.GetHost, h.getHost),
		dispatch.Serve(api.ListPaths, h.listPaths),
		dispatch.Serve(api.NameHost, h.nameHost),
		dispatch.Serve(api.StopHost, h.stopHost),
		dispatch.Serve(api.PauseHost, h.pauseHost),
		dispatch.Serve(api.ResumeHost, h.resumeHost),
		dispatch.Serve(api.RestartHost, h.restartHost),
	}
}

func (h *Host) getHost(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.GetHostResponse, error) {
	relayURL, relayState := h.Relay()
	kind, note := h.Sandbox.Kind()
	return api.GetHostResponse{Host: api.HostInfo{
		DeviceID:      h.Keys.ID(),
		Label:         h.Name.Current(),
		Unnamed:       !h.Name.Chosen(),
		Version:       h.Version,
		Home:          machine.UserHome(),
		Models:        h.Models.List(),
		DefaultModel:  h.Models.Default(),
		RelayURL:      relayURL,
		RelayState:    relayState,
		Paths:         h.Paths(),
		Grants:        c.Grants(),
		MaxMode:       h.MaxMode(c),
		Limits:        limitsOf(c),
		Sandbox:       string(kind),
		SandboxNote:   note,
		SandboxLimits: h.sandboxLimits(),
		Outages:       h.Outages(),
		RunsAsRoot:    machine.RunsAsRoot(),
		MaxFile:       api.MaxFileBytes,
	}}, nil
}

func (h *Host) nameHost(ctx context.Context, _ *dispatch.Conn, r api.NameHostRequest) (api.Empty, error) {
	label := strings.TrimSpace(r.Label)
	if wire.CheckLabel(label) != nil {
		return api.Empty{}, api.Errorf(api.KindBadRequest, "the name must have 1 to %d bytes of printable text", wire.MaxLabel)
	}
	changed, err := h.Name.Choose(label)
	if changed {
		h.Renamed(ctx)
	}
	return api.Empty{}, err
}

// listPaths signs the binding only for a paired client: nobody else has one.
func (h *Host) listPaths(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListPathsResponse, error) {
	response := api.ListPathsResponse{Paths: h.Paths()}
	if id, err := ident.ParseClientID(c.ClientID()); err == nil {
		now := time.Now().UnixMilli()
		response.Proof = &api.BindingProof{SignedAt: now, Signature: wire.SignBinding(h.Keys, id, now)}
	}
	return response, nil
}

// limitsOf returns the limits of a connection, or nil if it has none.
func limitsOf(c *dispatch.Conn) *api.ClientLimits {
	limits := c.Access().ClientLimits
	if len(limits.Projects) == 0 && limits.ExpiresAt == 0 {
		return nil
	}
	return &limits
}

func (h *Host) stopHost(context.Context, *dispatch.Conn, api.Empty) (api.Empty, error) {
	h.Stop()
	return api.Empty{}, nil
}

func (h *Host) pauseHost(ctx context.Context, _ *dispatch.Conn, r api.PauseHostRequest) (api.Empty, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(r.WaitSeconds, 1))*time.Second)
	defer cancel()
	return api.Empty{}, h.Pause(ctx)
}

func (h *Host) resumeHost(context.Context, *dispatch.Conn, api.Empty) (api.Empty, error) {
	h.Resume()
	return api.Empty{}, nil
}

func (h *Host) restartHost(context.Context, *dispatch.Conn, api.Empty) (api.Empty, error) {
	return api.Empty{}, h.Restart()
}

// sandboxLimits describes what commands reach, or is nil if no sandbox confines them.
func (h *Host) sandboxLimits() *api.SandboxLimits {
	if kind, _ := h.Sandbox.Kind(); kind == sandbox.None {
		return nil
	}
	reach := h.Sandbox.Reach()
	return &api.SandboxLimits{
		Network: string(reach.Network), Writable: append([]string{}, reach.Writable...),
		Missing: reach.Missing, Exposed: reach.Exposed,
	}
}
