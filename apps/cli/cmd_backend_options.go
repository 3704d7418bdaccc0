package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newBackendOptions(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "options SESSION [OPTION VALUE]",
		Short: "Show or change the options of the agent that works in a session",
		Long: `Show the modes, models and other options of the program that works in a session, with their
values, and the commands that a prompt can call as /NAME. The program names them in its first
turn. With an option and a value, change the option, also while a turn runs; it keeps its value
when the program is started again.

A mode needs the grant manage, and one in which the program acts without asking needs a client
that may set the mode bypass.`,
		Example: "  scorel backend options 01J...\n  scorel backend options 01J... mode plan\n  scorel backend options 01J... --json",
		Args:    cobra.MatchAll(cobra.RangeArgs(1, 3), func(_ *cobra.Command, args []string) error { return optionArgs(args) }),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id := args[0]
		if len(args) == 3 {
			request := api.SetBackendOptionRequest{SessionID: id, Option: args[1], Value: args[2]}
			if _, err := ask(cmd.Context(), to, api.SetBackendOption, request); err != nil {
				return err
			}
		}
		response, err := ask(cmd.Context(), to, api.GetBackend, api.GetBackendRequest{SessionID: id})
		if err != nil {
			return err
		}
		return printBackendOptions(a.stdout, response, asJSON)
	}
	return cmd
}

func optionArgs(args []string) error {
	if len(args) == 2 {
		return usagef("an option needs a value: scorel backend options %s %s VALUE", clip(args[0], 64), clip(args[1], 64))
	}
	return nil
}

func printBackendOptions(stdout io.Writer, r api.GetBackendResponse, asJSON bool) error {
	switch {
	case asJSON:
		return printJSON(stdout, r)
	case r.Backend == "":
		_, err := fmt.Fprintln(stdout, "scorel's own agent works in this session: scorel session model and scorel session mode change it")
		return err
	}
	err := printList(stdout, false, r.Options, listing[session.BackendOption]{
		header: []string{"OPTION", "VALUE", "NAME", "CHOICES"},
		row: func(_ int, o session.BackendOption) []string {
			var values []string
			for _, c := range o.Choices {
				values = append(values, c.Value)
			}
			return []string{o.ID, o.Value, o.Name, strings.Join(values, ", ")}
		},
	})
	for _, c := range r.Commands {
		if err == nil {
			_, err = fmt.Fprintf(stdout, "%s  %s\n", printable(strings.TrimSpace("/"+c.Name+" "+c.Hint)), printable(cmp.Or(c.Description, c.Name)))
		}
	}
	if r.Decides && err == nil {
		_, err = fmt.Fprintf(stdout, "%s decides by itself what it does without asking.\n", printable(r.Backend))
	}
	return err
}
