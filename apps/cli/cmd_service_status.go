package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/service"
)

// serviceStatus is what is shown of a service.
type serviceStatus struct {
	Role      service.Role `json:"role"`
	Scope     string       `json:"scope"` // user or system
	Manager   string       `json:"manager"`
	Installed bool         `json:"installed"`
	Enabled   bool         `json:"enabled"`
	Running   bool         `json:"running"`
	PID       int          `json:"pid,omitempty"`
	State     string       `json:"state,omitempty"`
	File      string       `json:"file,omitempty"`
	Log       string       `json:"log"`
	Notes     []string     `json:"notes,omitempty"`
}

func newServiceStatus(a *app) *cobra.Command {
	var system, asJSON bool
	cmd := &cobra.Command{
		Use:   "status [host|relay]",
		Short: "Show whether a service is installed and runs",
		Long: `Show whether the service of the host or a relay is installed and runs, where its file and its
log are, and what keeps it from running all the time. The exit code is 3 unless it runs.`,
		Example: "  scorel service status\n  scorel service status relay --system --json",
		Args:    argCount(0, 1, "host or relay"),
		RunE: func(cmd *cobra.Command, args []string) error {
			role, err := serviceRole(args)
			if err != nil {
				return err
			}
			return showService(cmd.Context(), a.stdout, a.env, service.ID{Role: role, System: system}, asJSON)
		},
	}
	cmd.Flags().BoolVar(&system, "system", false, "the system service")
	addJSON(cmd, &asJSON)
	return cmd
}

func showService(ctx context.Context, stdout io.Writer, env *environment, id service.ID, asJSON bool) error {
	manager, err := service.Find(id.System)
	if err != nil {
		return err
	}
	shown, err := describeService(ctx, env, manager, id)
	if err != nil {
		return serviceError(err, id)
	}
	if asJSON {
		if err := printJSON(stdout, shown); err != nil {
			return err
		}
	} else if shown.Installed {
		if err := printService(stdout, shown); err != nil {
			return err
		}
	}
	switch {
	case !shown.Installed:
		return serviceError(errors.Join(errUnreachable, service.ErrNotInstalled), id)
	case !shown.Running:
		return sayf(errUnreachable, "the service does not run: `%s` shows why", logsCommand(id))
	}
	return nil
}

func describeService(ctx context.Context, env *environment, manager service.Manager, id service.ID) (serviceStatus, error) {
	status, err := manager.Status(ctx, id)
	if err != nil {
		return serviceStatus{}, err
	}
	log, err := logOfService(env, status, id)
	return serviceStatus{
		Role: id.Role, Scope: scopeName(id), Manager: manager.Name(), Installed: status.Installed, Enabled: status.Enabled,
		Running: status.Running, PID: status.PID, State: status.State, File: status.File, Log: log, Notes: status.Notes,
	}, err
}

func printService(stdout io.Writer, s serviceStatus) error {
	rows := [][2]string{{"service", fmt.Sprintf("%s, %s (%s)", s.Role, s.Scope, s.Manager)}, {"state", s.State}, {"starts", map[bool]string{true: "by itself", false: "only by hand"}[s.Enabled]}}
	if s.PID != 0 {
		rows = append(rows, [2]string{"process", fmt.Sprint(s.PID)})
	}
	if s.File != "" {
		rows = append(rows, [2]string{"file", s.File})
	}
	command := logsCommand(service.ID{Role: s.Role, System: s.Scope == "system"})
	rows = append(rows, [2]string{"log", s.Log + " (" + command + ")"})
	for _, note := range s.Notes {
		rows = append(rows, [2]string{"note", note})
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%-8s %s\n", row[0], printable(row[1]))
	}
	_, err := fmt.Fprint(stdout, b.String())
	return err
}

func newServiceUninstall(a *app) *cobra.Command {
	var system, asJSON bool
	cmd := &cobra.Command{
		Use:   "uninstall [host|relay]",
		Short: "Stop and remove a service",
		Long: `Stop and remove the service of the host or a relay. Sessions, keys, pairings and logs stay:
"scorel service install" or "scorel host serve" continues with them.`,
		Example: "  scorel service uninstall\n  scorel service uninstall relay --system",
		Args:    argCount(0, 1, "host or relay"),
		RunE: func(cmd *cobra.Command, args []string) error {
			role, err := serviceRole(args)
			if err != nil {
				return err
			}
			id := service.ID{Role: role, System: system}
			manager, err := service.Find(system)
			if err == nil {
				err = manager.Uninstall(cmd.Context(), id)
			}
			if err != nil {
				return serviceError(err, id)
			}
			return printDone(a.stdout, asJSON, struct {
				Uninstalled bool `json:"uninstalled"`
			}{true}, "the service is removed; sessions, keys and logs stay")
		},
	}
	cmd.Flags().BoolVar(&system, "system", false, "the system service")
	addJSON(cmd, &asJSON)
	return cmd
}
