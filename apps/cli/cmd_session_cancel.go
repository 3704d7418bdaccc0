package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionCancel(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel the running turn of a session",
		Long: `Cancel the running turn of a session, from wherever its prompt was sent. Its work so far is
kept, and queued prompts run next: "scorel session queue remove" removes them.`,
		Example: "  scorel session list\n  scorel session cancel ID --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			now, err := client.Call(cmd.Context(), c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: args[0]})
			if err != nil {
				return err
			}
			if now.Live.Turn == nil {
				return errors.New("no turn is running in this session: there is nothing to cancel")
			}
			done, err := client.Call(cmd.Context(), c, api.CancelTurn,
				api.CancelTurnRequest{SessionID: args[0], TurnID: now.Live.Turn.TurnID})
			if err != nil {
				return err
			}
			said := "the turn is canceled"
			if !done.Cancelled {
				said = "the turn had ended already"
			}
			return printDone(a.stdout, asJSON, done, "%s", said)
		})
	}
	return cmd
}
