package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newBackend(a *app) *cobra.Command {
	return group("backend", "List and test the agents of other programs, log in to them, and change their options",
		"  scorel backend list\n  scorel backend test claude\n  scorel backend login claude\n  scorel backend options 01J...",
		newBackendList(a), newBackendTest(a), newBackendLogin(a), newBackendOptions(a))
}

func newBackendList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents that can work in sessions, and whether they are installed",
		Long: `List the programs that can work in sessions instead of scorel's own agent: those that
scorel knows, and those of config.toml. For one that is not installed, the command that installs
it is shown. A paired client may use a program that may act without asking only if the host's
config.toml has asks = true in [backends.NAME], or a permissions.remote_mode of bypass for
clients with the grants manage and approve. With --json, each line is one backend.`,
		Example: "  scorel backend list\n  scorel backend list --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		response, err := ask(cmd.Context(), to, api.ListBackends, api.Empty{})
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, response.Backends, listing[api.Backend]{
			header: []string{"NAME", "AGENT", "STATE", "COMMAND"},
			row: func(_ int, b api.Backend) []string {
				return []string{b.Name, b.Title, backendState(b), b.Command}
			},
		})
	}
	return cmd
}

// backendState says whether a backend can be used from here, and what to do if not.
func backendState(b api.Backend) string {
	switch {
	case b.Path == "":
		return "missing: " + cmp.Or(b.Install, "install its command")
	case b.Denied == api.BackendNeedsBypass:
		return "installed, not usable here: it may act without asking, see docs/backends.md#permissions"
	case b.Denied == api.BackendNeedsPrompt:
		return "installed, not usable here: this client may not send prompts"
	case b.Denied != "":
		return "installed, not usable here: for a reason that this version does not know"
	}
	return "installed"
}

func newBackendTest(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Start an agent and begin a session in it",
		Long: `Start the program of a backend, begin a session in it and end it, without a prompt. This
shows whether it is installed and logged in, and which modes and models it has. If it does not
work, the end of what it printed is shown, on the same machine only.`,
		Example: "  scorel backend test claude\n  scorel backend test codex --json",
		Args:    argCount(1, 1, "the name of one backend"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		response, err := ask(cmd.Context(), to, api.TestBackend, api.TestBackendRequest{Name: args[0]})
		if err != nil {
			return err
		}
		return printBackendTest(a.console, args[0], response, asJSON)
	}
	return cmd
}

func printBackendTest(con console, name string, r api.TestBackendResponse, asJSON bool) error {
	if asJSON {
		if err := printJSON(con.stdout, r); err != nil {
			return err
		}
	}
	if r.Problem != "" {
		if r.Output != "" && !asJSON {
			fmt.Fprintf(con.stderr, "%s\n", printableLines(strings.TrimSpace(r.Output)))
		}
		return errors.New(printable(r.Problem))
	}
	if asJSON {
		return nil
	}
	_, err := fmt.Fprintf(con.stdout, "%s works: %s, ready after %d ms\n", printable(name), printable(cmp.Or(r.Agent, "it does not name itself")), r.Duration)
	for _, line := range [][2]string{{"modes", strings.Join(r.Modes, ", ")}, {"models", strings.Join(r.Models, ", ")}, {"continues sessions", yesNo(r.Resumes)}, {"takes images", yesNo(r.Images)}} {
		if line[1] != "" && err == nil {
			_, err = fmt.Fprintf(con.stdout, "%s: %s\n", line[0], printable(line[1]))
		}
	}
	return err
}

func newBackendLogin(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Run the program of an agent's vendor that logs in",
		Long: `Run the vendor's own program in this terminal, to log in to an agent on this machine.
The login is between you and that program: scorel reads and stores nothing of it. On another
machine, run this command there.`,
		Example: "  scorel backend login claude",
		Args:    argCount(1, 1, "the name of one backend"),
	}
	to := a.targetFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !to.local() {
			return usagef("--device: a login needs a terminal on that machine; run this command there, for example with scorel terminal")
		}
		response, err := ask(cmd.Context(), to, api.ListBackends, api.Empty{})
		if err != nil {
			return err
		}
		for _, b := range response.Backends {
			if b.Name == args[0] {
				return loginTo(cmd.Context(), a.console, b)
			}
		}
		return usagef("there is no backend %q: scorel backend list shows them", clip(args[0], 64))
	}
	return cmd
}

// loginTo runs the vendor's program with the terminal of this command.
func loginTo(ctx context.Context, con console, b api.Backend) error {
	argv := strings.Fields(b.Login)
	switch {
	case len(argv) == 0:
		return usagef("it is not known how to log in to %s: see its documentation", b.Name)
	case !terminal.IsTerminal(con.stdin):
		return usagef("a login needs a terminal: run there: %s", b.Login)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fmt.Errorf("%s is not installed; a login to %s runs: %s", argv[0], b.Title, b.Login)
	}
	fmt.Fprintf(con.stderr, "scorel: running %s\n", printable(b.Login))
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Stdin, command.Stdout, command.Stderr = con.stdin, con.stdout, con.stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", b.Login, err)
	}
	return nil
}
