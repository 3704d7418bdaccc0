package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/shell"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newTerminal(a *app) *cobra.Command {
	return group("terminal", "Open shells on the machine of a host",
		"  scorel terminal open --device dev_...\n  scorel terminal list --device dev_...",
		newTerminalOpen(a), newTerminalAttach(a), newTerminalList(a), newTerminalClose(a))
}

func newTerminalOpen(a *app) *cobra.Command {
	var sessionID string
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open a shell",
		Long: `Open a shell on the machine of a host, in the user's home, in a project with --project, or
where a session works with --session. It is full access as the user of the host: no sandbox,
rules or approvals apply to it. With --device, the host must have given this machine the
grant "shell".

Ctrl+] leaves the shell running; "scorel terminal attach" returns to it. Without a terminal,
standard input is typed into the shell, and its end ends the shell. A shell that exits with a
code other than 0 is a failure. With --json, the shell is opened and left, and its description
is printed.`,
		Example: "  scorel terminal open --device dev_...\n  scorel terminal open --session ID\n  scorel terminal open --project ~/code/site --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	in := &projectFlag{target: a.targetFlag(cmd)}
	var asJSON bool
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&in.given, "project", "", "id or folder of a project to open it in (default: the user's home)")
	cmd.Flags().StringVar(&sessionID, "session", "", "id of a session: open it where that works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if sessionID != "" && in.given != "" {
			return usagef("--session and --project: give one of them")
		}
		return onShell(cmd.Context(), in.target, func(s *shell.Shell, c *client.Client) error {
			project, err := in.id(cmd.Context(), c)
			if err != nil {
				return err
			}
			columns, rows := terminal.Size(a.stdout)
			opened, err := client.Call(cmd.Context(), c, api.OpenTerminal, api.OpenTerminalRequest{
				ClientKey: rand.Text(), ProjectID: project, SessionID: sessionID, Cols: cmp.Or(columns, 80), Rows: cmp.Or(rows, 24),
			})
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(a.stdout, opened.Terminal)
			}
			s.EndsWithInput = !terminal.IsTerminal(a.stdin)
			return useShell(cmd.Context(), s, c, in.target, opened.Terminal.ID)
		})
	}
	return cmd
}

func newTerminalAttach(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attach ID",
		Short: "Return to a shell that was left",
		Long: `Return to a shell that was opened by this machine and left with Ctrl+]. The output that the
host still has is printed first. Without a terminal, standard input is typed into the shell,
which keeps running when the input ends.`,
		Example: "  scorel terminal list --device dev_...\n  scorel terminal attach ID --device dev_...",
		Args:    argCount(1, 1, "the id of one terminal"),
	}
	to := a.targetFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return onShell(cmd.Context(), to, func(s *shell.Shell, c *client.Client) error {
			return useShell(cmd.Context(), s, c, to, args[0])
		})
	}
	return cmd
}

// onShell connects with a client whose terminal events go to a shell.
func onShell(ctx context.Context, to *target, run func(*shell.Shell, *client.Client) error) error {
	transport, err := to.dial(ctx)
	if err != nil {
		return err
	}
	s := shell.New()
	c := client.New(transport, s.Event)
	defer func() { _ = c.Close() }() // everything was received
	return run(s, c)
}

// useShell connects a shell with this terminal until it ends or is left.
func useShell(ctx context.Context, s *shell.Shell, c *client.Client, to *target, id string) error {
	if terminal.IsTerminal(to.con.stdin) {
		sayNotes(to.con.stderr, []string{"Ctrl+] leaves the shell running"})
	}
	end, err := s.Run(ctx, c, id, to.con.stdin, to.con.stdout)
	again := "scorel terminal attach " + id
	if !to.local() {
		again += " --device " + to.device
	}
	switch {
	case errors.Is(err, shell.ErrLeft):
		sayNotes(to.con.stderr, []string{"the shell keeps running: `" + again + "` returns to it"})
		return nil
	case errors.Is(err, client.ErrLost):
		return sayf(err, "the connection was lost; the shell keeps running: `%s` returns to it", again)
	case err != nil:
		return err
	case end.Reason != api.TerminalExited:
		return sayf(errRefused, "the shell was ended: %s", end.Reason)
	case end.ExitCode != 0:
		return &shellError{end.ExitCode, end.Signal}
	}
	return nil
}

// shellError is the exit of a shell with a code other than 0.
type shellError struct {
	code   int
	signal string
}

func (e *shellError) Error() string {
	if e.signal != "" {
		return "the shell was ended by the signal " + printable(e.signal)
	}
	return fmt.Sprintf("the shell exited with code %d", e.code)
}

func newTerminalList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the shells that this machine opened",
		Example: "  scorel terminal list\n  scorel terminal list --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		response, err := ask(cmd.Context(), to, api.ListTerminals, api.Empty{})
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, response.Terminals, listing[api.Terminal]{
			none:   "no shell is open: `scorel terminal open` opens one",
			header: []string{"ID", "OPENED", "STATE", "FOLDER"},
			row: func(_ int, t api.Terminal) []string {
				state := "running"
				if t.Ended != nil {
					state = string(t.Ended.Reason)
				}
				return []string{t.ID, formatMillis(t.CreatedAt), state, t.Cwd}
			},
		})
	}
	return cmd
}

func newTerminalClose(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "close ID",
		Short:   "End a shell with everything that runs in it",
		Example: "  scorel terminal list\n  scorel terminal close ID --json",
		Args:    argCount(1, 1, "the id of one terminal"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		done, err := ask(cmd.Context(), to, api.CloseTerminal, api.TerminalRequest{TerminalID: args[0]})
		if err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, done, "%s is closed", printable(args[0]))
	}
	return cmd
}
