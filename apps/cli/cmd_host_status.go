package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// hostStatus describes a host. What only programs on its own machine can know is omitted for a
// paired one.
type hostStatus struct {
	Running      bool       `json:"running"`
	PID          int        `json:"pid,omitempty"`
	DeviceID     ident.ID   `json:"deviceId"`
	Label        string     `json:"label"`
	Version      string     `json:"version"`
	Addr         string     `json:"addr,omitempty"`
	Relay        string     `json:"relay"`
	RelayState   string     `json:"relayState"`
	Paths        []api.Path `json:"paths"`
	DefaultModel string     `json:"defaultModel"`
	Demo         bool       `json:"demo"` // the default model is the demo model
	StartedAt    int64      `json:"startedAt,omitempty"`

	Sandbox       string             `json:"sandbox"`
	SandboxNote   string             `json:"sandboxNote,omitempty"`
	SandboxLimits *api.SandboxLimits `json:"sandboxLimits,omitempty"`

	Outages    []api.Outage `json:"outages,omitempty"`
	RunsAsRoot bool         `json:"runsAsRoot,omitempty"`

	Access *hostAccess `json:"access,omitempty"` // of this machine; absent on the host's own
}

// hostAccess is what a client may do on a host.
type hostAccess struct {
	Grants []api.Grant `json:"grants"`
	api.ClientLimits
	projects []api.Project
}

func newHostStatus(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the status of a host",
		Long: `Show the status of the host on this machine: its paths, its default model, and what commands
of the agent can reach. With --device, show that of a paired machine, and what this machine
may do there: its grants, the projects that it sees, and when its access ends.`,
		Example: "  scorel host status\n  scorel host status --json\n  scorel host status --device dev_...",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		status, err := to.hostStatus(cmd.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, status)
		}
		return printStatus(a.stdout, status)
	}
	return cmd
}

func (t *target) hostStatus(ctx context.Context) (status hostStatus, err error) {
	if t.local() {
		home, err := t.via.env.home()
		if err != nil {
			return status, err
		}
		state, err := host.ReadState(home)
		if err != nil {
			return status, err
		}
		status.PID, status.Addr, status.StartedAt = state.PID, state.Addr, state.StartedAt
	}
	err = t.use(ctx, func(c *client.Client) error {
		info, err := getHost(ctx, c)
		if err != nil {
			return err
		}
		status.describe(info)
		if !t.local() {
			status.Access, err = accessOf(ctx, c, info)
		}
		return err
	})
	return status, err
}

// describe adds what a host says of itself.
func (s *hostStatus) describe(info api.HostInfo) {
	s.Running, s.DeviceID, s.Label, s.Version = true, info.DeviceID, info.Label, info.Version
	s.Relay, s.RelayState, s.Paths = info.RelayURL, info.RelayState, append([]api.Path{}, info.Paths...)
	s.DefaultModel, s.Demo = info.DefaultModel, answersDemo(info)
	s.Sandbox, s.SandboxNote, s.SandboxLimits = info.Sandbox, info.SandboxNote, info.SandboxLimits
	s.Outages, s.RunsAsRoot = info.Outages, info.RunsAsRoot
}

// accessOf returns what this machine may do on a host.
func accessOf(ctx context.Context, c *client.Client, info api.HostInfo) (*hostAccess, error) {
	access := &hostAccess{Grants: info.Grants}
	if info.Limits != nil {
		access.ClientLimits = *info.Limits
	}
	list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	access.projects = list.Projects
	return access, err
}

func printStatus(stdout io.Writer, s hostStatus) error {
	model := s.DefaultModel
	if s.Demo {
		model += " (demo model, not an AI)"
	}
	rows := [][2]string{{"device", s.DeviceID.String()}, {"label", s.Label}}
	if s.PID != 0 {
		rows = append(rows, [][2]string{{"process", fmt.Sprint(s.PID)}, {"since", formatMillis(s.StartedAt)}}...)
	}
	rows = append(rows, [2]string{"version", s.Version})
	if s.Addr != "" {
		rows = append(rows, [2]string{"direct", s.Addr})
	}
	rows = append(append(rows, hostPathRows(s)...), [2]string{"model", model})
	for _, line := range doctor.Sandbox(api.HostInfo{Sandbox: s.Sandbox, SandboxNote: s.SandboxNote, SandboxLimits: s.SandboxLimits, RunsAsRoot: s.RunsAsRoot}) {
		rows = append(rows, [2]string{"sandbox", line})
	}
	for _, line := range doctor.Outages(s.Outages) {
		rows = append(rows, [2]string{"sessions", line})
	}
	if s.Access != nil {
		rows = append(rows, [][2]string{
			{"grants", grantList(s.Access.Grants)}, {"sees", projectNames(s.Access.Projects, s.Access.projects)}, {"access", expiry(s.Access.ExpiresAt, time.Now())},
		}...)
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%-8s %s\n", row[0], printable(row[1]))
	}
	_, err := fmt.Fprint(stdout, b.String())
	return err
}

// hostPathRows describes the paths to the host. One that is older lists only its relay.
func hostPathRows(s hostStatus) [][2]string {
	paths := s.Paths
	if len(paths) == 0 && s.Relay != "" {
		paths = []api.Path{{Kind: api.PathRelay, URL: s.Relay, State: s.RelayState}}
	}
	var rows [][2]string
	for _, path := range paths {
		rows = append(rows, [2]string{string(path.Kind), path.URL + " (" + path.State + ")"})
	}
	if s.Relay == "" {
		rows = append([][2]string{{"relay", "none"}}, rows...)
	}
	return rows
}

// answersDemo reports whether the demo model is the default.
func answersDemo(info api.HostInfo) bool {
	for _, model := range info.Models {
		if model.Name == info.DefaultModel {
			return model.Demo
		}
	}
	return false
}
