package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionRevert(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revert ID PATH",
		Short: "Restore a file as it was when a session began",
		Long: `Restore a file of the session's folder as it was when the session's first turn began. Its
present content is lost: "scorel session changes ID --diff" shows it. The file is not touched
if it changes in the meantime.`,
		Example: "  scorel session changes ID --diff\n  scorel session revert ID relay/queue.go --json",
		Args:    argCount(2, 2, "the id of one session and the path of one file"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			r, err := client.Call(cmd.Context(), c, api.GetChanges, api.GetChangesRequest{SessionID: args[0], Path: args[1]})
			if err != nil {
				return err
			}
			version := ""
			for _, file := range r.Files {
				if file.Path == args[1] {
					version = file.Version
				}
			}
			if version == "" {
				return usagef("%s has not changed, or cannot be restored: `scorel session changes %s` shows what has changed", printable(args[1]), printable(args[0]))
			}
			done, err := client.Call(cmd.Context(), c, api.RevertFile, api.RevertFileRequest{SessionID: args[0], Path: args[1], Version: version})
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(a.stdout, done)
			}
			_, err = fmt.Fprintf(a.stdout, "%s is as it was when the session began\n", printable(args[1]))
			return err
		})
	}
	return cmd
}
