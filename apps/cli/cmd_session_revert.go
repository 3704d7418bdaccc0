package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionRevert(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "revert ID PATH",
		Short: "Restore a file as it was when a session began",
		Long: `Restore a file of the session's folder as it was when the session's first turn began. A file
that did not exist then is deleted, also if you created it. The diff is shown first, and in a
terminal you are asked; the file is not touched if it has changed since. --yes does not ask:
"scorel session changes ID --diff" shows what is lost.`,
		Example: "  scorel session changes ID --diff\n  scorel session revert ID relay/queue.go\n  scorel session revert ID relay/queue.go --yes --json",
		Args:    argCount(2, 2, "the id of one session and the path of one file"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "revert without asking")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			file, err := revertable(cmd.Context(), c, args[0], args[1])
			if err != nil {
				return err
			}
			if err := confirmRevert(cmd.Context(), a.console, yes, file); err != nil {
				return err
			}
			done, err := client.Call(cmd.Context(), c, api.RevertFile, api.RevertFileRequest{SessionID: args[0], Path: file.Path, Version: file.Version})
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, done, "%s is as it was when the session began", printable(file.Path))
		})
	}
	return cmd
}

// revertable returns the change of a file, with the version that a revert replaces.
func revertable(ctx context.Context, c *client.Client, session, path string) (api.FileChange, error) {
	r, err := client.Call(ctx, c, api.GetChanges, api.GetChangesRequest{SessionID: session, Path: path})
	if err != nil {
		return api.FileChange{}, err
	}
	for _, file := range r.Files {
		if file.Path == path && file.Version != "" {
			return file, nil
		}
	}
	return api.FileChange{}, usagef("%s has not changed, or cannot be restored: `scorel session changes %s` shows what has changed", printable(path), printable(session))
}

// confirmRevert shows what a revert takes away, and asks.
func confirmRevert(ctx context.Context, con console, yes bool, file api.FileChange) error {
	if !yes && terminal.IsTerminal(con.stdin) {
		if err := writeDiffs(con.stderr, []api.FileChange{file}); err != nil {
			return err
		}
	}
	question := fmt.Sprintf("Undo these changes of %s?", printable(file.Path))
	if file.Status == api.FileAdded || file.Status == api.FileRenamed {
		question = fmt.Sprintf("Delete %s? It did not exist when the session began.", printable(file.Path))
	}
	return con.confirm(ctx, yes, question)
}
