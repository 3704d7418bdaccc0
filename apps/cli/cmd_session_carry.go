package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionImport(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER",
		Short: "Take a session file of scorel or Pi in; the file stays as it is",
		Long: `Take a session file of scorel or Pi in. The session keeps its id and every line of
the file, also those that do not read. It is kept by the session provider of its
project: that of the folder that the file names, or the one given with --project.
A file of an old version is brought to the newest. The host must run on this machine.

Of a folder, every file *.jsonl in it is taken in: a session with those that its agent
had made, as scorel session export --children writes them.`,
		Example: "  scorel session import session.jsonl\n  scorel session import session.jsonl --project ~/code/site\n  scorel session import saved",
		Args:    argCount(1, 1, "the path of one session file, or of a folder of them"),
	}
	addJSON(cmd, &asJSON)
	in := &projectFlag{target: &target{app: a}}
	cmd.Flags().StringVar(&in.given, "project", "", "id or folder of the project that the session shall be in")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		info, err := os.Stat(args[0])
		switch {
		case errors.Is(err, os.ErrNotExist):
			return sayf(err, "there is no file %s: give the path of a session file", args[0])
		case err == nil && info.IsDir():
			return a.importFolder(cmd.Context(), in, args[0], asJSON)
		}
		return a.importFile(cmd.Context(), in, args[0], asJSON)
	}
	return cmd
}

func (a *app) importFile(ctx context.Context, in *projectFlag, name string, asJSON bool) error {
	path, err := in.path(name)
	if err != nil {
		return err
	}
	response, err := in.take(ctx, path)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.stdout, response.Session)
	}
	_, err = fmt.Fprintf(a.stdout, "%s is session %s\n", printable(name), printable(response.Session.ID))
	return err
}

// take has the host import the session file at path.
func (p *projectFlag) take(ctx context.Context, path string) (response api.ImportSessionResponse, _ error) {
	c, err := p.connect(ctx)
	if err != nil {
		return response, err
	}
	defer func() { _ = c.Close() }() // used to the end
	request := api.ImportSessionRequest{Path: path}
	if request.ProjectID, err = p.id(ctx, c); err != nil {
		return response, err
	}
	return client.Call[api.ImportSessionResponse](ctx, c, "import_session", request)
}

func newSessionCopy(a *app) *cobra.Command {
	var request api.CopySessionRequest
	cmd := &cobra.Command{
		Use:   "copy ID --to PROVIDER",
		Short: "Copy or move a session to another session provider",
		Long: `Copy a session to another session provider of the host: file, postgres or mysql. Every
byte is copied, and read back to compare. The sessions that its agent had made for
tasks come along. Doing it again changes nothing.

After a copy two providers hold the session; the host goes on with the one that
session_provider in config.toml names for the project. With --move it goes on with
the copy, and the session is taken away where it was.`,
		Example: "  scorel session copy ID --to postgres\n  scorel session copy ID --to file --move",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&request.To, "to", "", "session provider: file, postgres or mysql")
	cmd.Flags().BoolVar(&request.Move, "move", false, "take the session away where it was")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if request.To == "" {
			return usagef("--to is missing: give the session provider, file, postgres or mysql")
		}
		request.SessionID = args[0]
		if _, err := ask[api.Empty](cmd.Context(), to, "copy_session", request); err != nil {
			return err
		}
		done := "copied"
		if request.Move {
			done = "moved"
		}
		_, err := fmt.Fprintf(a.stdout, "%s is %s to %s\n", printable(args[0]), done, printable(request.To))
		return err
	}
	return cmd
}

func newSessionDelete(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a session for good",
		Long: `Delete a session for good, with those that its agent had made for tasks, and with the
copies that other session providers hold. To keep their text, write it to files first:
scorel session export ID --children --output FOLDER.`,
		Example: "  scorel session delete ID",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := ask[api.Empty](cmd.Context(), to, "delete_session", api.SessionRequest{SessionID: args[0]}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "%s is deleted\n", printable(args[0]))
		return err
	}
	return cmd
}
