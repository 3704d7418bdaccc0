package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scorel/scorel/apps/cli/internal/service"
)

func newService(a *app) *cobra.Command {
	install := group("install", "Run the host or a relay as a service",
		"  scorel service install host --relay https://relay.example\n  scorel service install relay --system --public-url https://relay.example",
		newServiceInstall(a, service.Host, newHostServe(a)), newServiceInstall(a, service.Relay, newRelayServe(a)))
	return group("service", "Start the host or a relay with the machine or the login",
		"  scorel service install host --relay https://relay.example\n  scorel service status\n  scorel service uninstall host",
		install, newServiceUninstall(a), newServiceStatus(a))
}

// serviceFlags of the serving commands that a service sets itself, or must not have: the files of
// services can be read by everybody on the machine.
var notOfServices = map[string]string{
	"json": "", "home": "", "help": "", "background": "", "replace": "", "log-file": "",
	"invite": "set relay_invite in config.toml, or SCOREL_INVITE in the environment file of the service",
	"store":  "set SCOREL_RELAY_STORE in the environment file of the service",
	"bus":    "set SCOREL_RELAY_BUS in the environment file of the service",
}

// filesOfServices are flags with a path, which a service gets as an absolute one.
var filesOfServices = map[string]bool{
	"project": true, "data-dir": true, "config": true, "allow-file": true, "tls-cert": true, "tls-key": true, "acme-dir": true,
}

func newServiceInstall(a *app, role service.Role, serve *cobra.Command) *cobra.Command {
	var (
		system, asJSON bool
		userName       string
	)
	cmd := &cobra.Command{
		Use:   string(role),
		Short: "Run the " + string(role) + " as a service",
		Long: `Install a service that runs "scorel ` + string(role) + ` serve" with the given flags, replace an earlier
one, and start it. It is a systemd unit, an agent or daemon of launchd, or on Windows a task
at login` + map[service.Role]string{service.Relay: " or a service"}[role] + `.

Without --system it belongs to you, and needs no other rights. Its file can be read by other
users of this machine, so give no secrets as flags.`,
		Example: "  scorel service install " + string(role) + map[service.Role]string{
			service.Host: " --relay https://relay.example --project ~/code/site", service.Relay: " --system --public-url https://relay.example",
		}[role],
		Args: argCount(0, 0, "no arguments"),
	}
	serve.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, not := notOfServices[flag.Name]; !not {
			cmd.Flags().AddFlag(flag)
		}
	})
	for name, instead := range notOfServices {
		if instead != "" && serve.Flags().Lookup(name) != nil {
			cmd.Flags().String(name, "", instead)
			_ = cmd.Flags().MarkHidden(name) // it exists
		}
	}
	cmd.Flags().BoolVar(&system, "system", false, "start with the machine, for all users; needs administrator rights")
	cmd.Flags().StringVar(&userName, "user", "", "user that a system service runs as (default: you; a relay on Linux has a user of its own)")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		id := service.ID{Role: role, System: system}
		unit, err := serviceUnit(a.env, cmd, id, userName)
		if err != nil {
			return err
		}
		return installService(cmd.Context(), a.stdout, a.env, unit, asJSON)
	}
	return cmd
}

// serviceUnit describes the service that a person asked for.
func serviceUnit(env *environment, cmd *cobra.Command, id service.ID, userName string) (u service.Unit, err error) {
	u = service.Unit{ID: id}
	if u.Program, err = os.Executable(); err != nil {
		return u, fmt.Errorf("finding this program, which the service runs: %w", err)
	}
	if err := serviceUser(&u, userName); err != nil {
		return u, err
	}
	u.Args = []string{string(id.Role), "serve"}
	if data, log, ok := service.SystemRelay(); ok && id.System && id.Role == service.Relay {
		if private, shared := service.ProgramFolders(); below(u.Program, private) {
			return u, usagef("%s is in the home folder of a user, which a system service cannot read: copy it to %s and run that", u.Program, shared)
		}
		u.Args = append(u.Args, "--log-file", log)
		if !cmd.Flags().Changed("data-dir") {
			u.Args = append(u.Args, "--data-dir", data)
		}
		return u, addServed(&u, cmd)
	}
	if u.User != "" {
		if err := useHomeOf(env, u.User); err != nil {
			return u, err
		}
	}
	home, err := env.home()
	if err != nil {
		return u, err
	}
	log, err := logOf(env, id.Role, id.System)
	if err != nil {
		return u, err
	}
	u.Folder = home
	u.Args = append(u.Args, "--home", home, "--log-file", log)
	if id.Role == service.Host {
		u.Args, u.Path = append(u.Args, "--replace"), env.getenv("PATH")
	}
	return u, addServed(&u, cmd)
}

// serviceUser sets the user that a system service runs as.
func serviceUser(u *service.Unit, name string) error {
	_, _, own := service.SystemRelay()
	own = own && u.Role == service.Relay // a user of its own
	switch {
	case name != "" && (!u.System || own):
		return usagef("--user is only for a system service that runs as a user: leave it out")
	case !u.System || own:
		return nil
	}
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("finding the user of this process: %w", err)
	}
	if name == "" {
		name = me.Username
	}
	if name == "root" {
		return usagef("a %s should not run as root: give --user NAME, with the folder of that user as --home", u.Role)
	}
	if _, err := user.Lookup(name); err != nil {
		return usagef("there is no user %q on this machine: give --user NAME of an existing user", name)
	}
	u.User = name
	return nil
}

// below reports whether a path is in one of the folders. filepath.Rel knows which letters are the same
// on this system.
func below(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		rest, err := filepath.Rel(folder, path)
		return err == nil && filepath.IsLocal(rest)
	})
}

// addServed adds the flags of the serving command that were given.
func addServed(u *service.Unit, cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if instead := notOfServices[flag.Name]; instead != "" && err == nil {
			err = usagef("--%s may be secret, and other users can read the file of a service: %s", flag.Name, instead)
		}
		switch flag.Name {
		case "system", "user", "json", "home":
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if filesOfServices[flag.Name] && err == nil {
				value, err = filepath.Abs(value)
			}
			u.Args = append(u.Args, "--"+flag.Name+"="+value)
		}
	})
	return err
}

// serviceError explains what a service manager refused.
func serviceError(err error, id service.ID) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, service.ErrNotInstalled):
		return sayf(err, "the %s is not installed as a %s service: `scorel service install %s` does that", id.Role, scopeName(id), id.Role)
	case errors.Is(err, service.ErrNotStarted):
		return sayf(err, "the service is installed, but the %s does not start: `%s` shows why", id.Role, logsCommand(id))
	case errors.Is(err, os.ErrPermission):
		return sayf(errRefused, "%s: a system service needs administrator rights, as with sudo", err)
	}
	return err
}

// reportReady reports to systemd that the service in this process is ready. It waits for that.
func reportReady(logger *slog.Logger) {
	if err := service.Ready(); err != nil {
		logger.Warn("systemd does not know that this service is ready", "error", err)
	}
}

// logsCommand returns the command that shows the log of a service.
func logsCommand(id service.ID) string {
	if id.System {
		return fmt.Sprintf("scorel logs %s --system", id.Role)
	}
	return fmt.Sprintf("scorel logs %s", id.Role)
}

func scopeName(id service.ID) string {
	if id.System {
		return "system"
	}
	return "user"
}

// serviceRole reads the argument of a command; without one it is the host.
func serviceRole(args []string) (service.Role, error) {
	if len(args) == 0 {
		return service.Host, nil
	}
	if role := service.Role(args[0]); role == service.Host || role == service.Relay {
		return role, nil
	}
	return "", usagef("%q is not a service: give host or relay", args[0])
}

func installService(ctx context.Context, stdout io.Writer, env *environment, u service.Unit, asJSON bool) error {
	manager, err := service.Find(u.System)
	if err == nil {
		err = manager.Install(ctx, u)
	}
	if err != nil {
		return serviceError(err, u.ID)
	}
	shown, err := describeService(ctx, env, manager, u.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(stdout, shown)
	}
	if _, err := fmt.Fprintf(stdout, "the %s is installed as a %s service of %s, and starts by itself\n", u.Role, scopeName(u.ID), manager.Name()); err != nil {
		return err
	}
	return printService(stdout, shown)
}
