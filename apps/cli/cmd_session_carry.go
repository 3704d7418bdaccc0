package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func importFile(ctx context.Context, con console, in *projectFlag, name string, asJSON bool) error {
	path, err := in.path(name)
	if err != nil {
		return err
	}
	response, err := in.take(ctx, path)
	if err != nil {
		return err
	}
	noteProof(con.stderr, name, response.Proof)
	if asJSON {
		return printJSON(con.stdout, response.Session)
	}
	_, err = fmt.Fprintf(con.stdout, "%s is session %s\n", printable(name), printable(response.Session.ID))
	return err
}

// take asks the host to import the session file at path.
func (p *projectFlag) take(ctx context.Context, path string) (response api.ImportSessionResponse, _ error) {
	c, err := p.connect(ctx)
	if err != nil {
		return response, err
	}
	defer func() { _ = c.Close() }() // everything was received
	request := api.ImportSessionRequest{Path: path}
	if request.ProjectID, err = p.id(ctx, c); err != nil {
		return response, err
	}
	return client.Call(ctx, c, api.ImportSession, request)
}

func newSessionCopy(a *app) *cobra.Command {
	var (
		request api.CopySessionRequest
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "copy ID --to PROVIDER",
		Short: "Copy or move a session to another session provider",
		Long: `Copy a session to another session provider of the host: file, postgres or mysql. Every byte
is copied, read back and compared. Its subagent sessions are copied too. Repeating the
command changes nothing.

After a copy, two providers hold the session; the host uses the one that session_provider
in config.toml names for the project. With --move, the host uses the copy and the original
is deleted.`,
		Example: "  scorel session copy ID --to postgres\n  scorel session copy ID --to file --move",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&request.To, "to", "", "session provider: file, postgres or mysql")
	cmd.Flags().BoolVar(&request.Move, "move", false, "delete the original after copying")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if request.To == "" {
			return usagef("--to is missing: give the session provider, file, postgres or mysql")
		}
		request.SessionID = args[0]
		if _, err := ask(cmd.Context(), to, api.CopySession, request); err != nil {
			return err
		}
		done := "copied"
		if request.Move {
			done = "moved"
		}
		return printDone(a.stdout, asJSON, api.Empty{}, "%s is %s to %s", printable(args[0]), done, printable(request.To))
	}
	return cmd
}

func newSessionDelete(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a session permanently",
		Long: `Delete a session permanently, with its subagent sessions and all copies in other session
providers. To keep them as files, export them first, with
"scorel session export ID --children --output FOLDER". Its worktree is removed, unless
something in it is not committed.`,
		Example: "  scorel session delete ID\n  scorel session delete ID --yes",
		Args:    argCount(1, 1, "the id of one session"),
	}
	var yes, asJSON bool
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without asking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.console.confirm(cmd.Context(), yes, "Permanently delete the session "+printable(args[0])+" and its subagent sessions?"); err != nil {
			return err
		}
		deleted, err := ask(cmd.Context(), to, api.DeleteSession, api.SessionRequest{SessionID: args[0]})
		if err != nil {
			return err
		}
		noteLeft(a.stderr, deleted.Worktree)
		return printDone(a.stdout, asJSON, deleted, "%s is deleted", printable(args[0]))
	}
	return cmd
}
