package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionCancel(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel the turn that runs in a session",
		Long: `Cancels the turn that runs in a session, wherever its prompt was sent from. What it did
until then is kept, and prompts that wait go on: scorel session queue remove takes them out.`,
		Example: "  scorel session list\n  scorel session cancel ID",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := to.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // used to the end
		now, err := client.Call[api.ResyncEventsResponse](cmd.Context(), c, "resync_events", api.ResyncEventsRequest{SessionID: args[0]})
		if err != nil {
			return err
		}
		if now.Live.Turn == nil {
			return errors.New("no turn runs in this session: there is nothing to cancel")
		}
		done, err := client.Call[api.CancelTurnResponse](cmd.Context(), c, "cancel_turn",
			api.CancelTurnRequest{SessionID: args[0], TurnID: now.Live.Turn.TurnID})
		if err != nil {
			return err
		}
		said := "the turn is cancelled"
		if !done.Cancelled {
			said = "the turn had ended already"
		}
		_, err = fmt.Fprintln(a.stdout, said)
		return err
	}
	return cmd
}
