package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// listSessions reads the list page by page; limit 0 means all.
func listSessions(ctx context.Context, in *projectFlag, r api.ListSessionsRequest) ([]api.SessionSummary, error) {
	c, err := in.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // everything was received
	if r.ProjectID, err = in.id(ctx, c); err != nil {
		return nil, err
	}
	return client.Sessions(ctx, c, r)
}

// defaultAround is the number of entries shown around one.
const defaultAround = 20

type showFlags struct {
	asJSON, follow bool
	entry          string
	limit          int
}

func newSessionShow(a *app) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Print a session",
		Long: `Print the current branch of a session from its beginning. With --json, print the summary of
the session and then every entry of its log, of all branches. With --entry, print only one
entry and those around it, for example one that session search found. With --follow, print
everything new as it happens, until Ctrl+C; with --json too, every event is a line.

With --link, print the session that a guest link shows. This machine needs no pairing for it.
The link is a secret, and other users of this machine can see the arguments of a command:
with --link -, it is read from the terminal without echo, or from standard input.`,
		Example: "  scorel session show ID\n  scorel session show ID --follow\n  scorel session show ID --entry 1a2b3c4d\n  scorel session show ID --json\n  scorel session show --link https://relay.example/g#... --follow",
		Args:    argCount(0, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	to.linkFlag(cmd)
	addJSON(cmd, &f.asJSON)
	cmd.Flags().StringVar(&f.entry, "entry", "", "only the entry with this id and those around it")
	cmd.Flags().IntVar(&f.limit, "limit", defaultAround, fmt.Sprintf("with --entry: maximum number of entries, 1 to %d", api.WindowEntries))
	cmd.Flags().BoolVar(&f.follow, "follow", false, "print everything new as it happens")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd.Flags().Changed("limit")); err != nil {
			return err
		}
		id, err := to.sessionOf(cmd.Context(), args)
		switch {
		case err != nil:
			return err
		case id == "":
			return usagef("give the id of one session, as scorel session list prints it, or a guest link with --link")
		case f.follow:
			return followSession(cmd.Context(), to, id, f.asJSON)
		}
		return to.use(cmd.Context(), func(c *client.Client) error {
			if f.entry != "" {
				return showAround(cmd.Context(), a.console, c, api.GetEntriesRequest{SessionID: id, Around: f.entry, Limit: f.limit}, f.asJSON)
			}
			return showSession(cmd.Context(), a.console, c, id, f.asJSON)
		})
	}
	return cmd
}

// check returns an error for flags that do not go together. limited says that --limit was given.
func (f *showFlags) check(limited bool) error {
	switch {
	case f.follow && f.entry != "":
		return usagef("--follow and --entry contradict each other: one shows what comes, the other what was")
	case f.entry == "" && limited:
		return usagef("--limit belongs to --entry: give the id of an entry, as session search prints it")
	case f.limit < 1 || f.limit > api.WindowEntries:
		return usagef("--limit %d: give a number from 1 to %d", f.limit, api.WindowEntries)
	}
	return nil
}

func showSession(ctx context.Context, con console, c *client.Client, id string, asJSON bool) error {
	response, err := loadLog(ctx, c, id)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(con.stdout, response.Session); err != nil {
			return err
		}
		return printEach(con.stdout, response.Entries)
	}
	noteWorktree(con.stderr, response.Session.Worktree)
	return printTranscript(con.stdout, response)
}

func showAround(ctx context.Context, con console, c *client.Client, request api.GetEntriesRequest, asJSON bool) error {
	response, err := client.Call(ctx, c, api.GetEntries, request)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printEach(con.stdout, response.Entries)
	}
	if !response.OnPath {
		fmt.Fprintln(con.stderr, "scorel: this entry is on another branch of the session")
	}
	return printAround(con.stdout, response, request.Around)
}
