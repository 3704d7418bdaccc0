package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// agentNames are the agents whose conversations can be imported.
var agentNames = []string{"claude", "codex", "gemini", "opencode"}

func newSessionImport(a *app) *cobra.Command {
	f := &transcriptFlags{projectFlag: &projectFlag{}}
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER | --from AGENT [ID...]",
		Short: "Import a session file, or a conversation of another agent",
		Long: `Import a session file of scorel or Pi. The file itself is not changed. The session keeps its
id and every line, even unreadable ones. It is stored by the session provider of its
project: the folder that the file names, or --project. Files of old versions are migrated.
The host must run on this machine.

From a folder, all *.jsonl files are imported: a session with its subagent sessions, as
written by "scorel session export --children".

With --from claude, codex, gemini or opencode, list the conversations which that agent keeps on
the host's machine, or import those with the given ids, or all with --all. Nothing of the
agent's is changed. Importing again adds what is new to the earlier import. A session that was
continued on the host is not changed any more.`,
		Example: "  scorel session import session.jsonl\n  scorel session import session.jsonl --project ~/code/site\n  scorel session import saved\n  scorel session import --from codex\n  scorel session import --from claude ID --project ~/code/site\n  scorel session import --from opencode --all --json",
		Args:    cobra.MaximumNArgs(100),
	}
	f.target = a.targetFlag(cmd)
	addJSON(cmd, &f.asJSON)
	cmd.Flags().StringVar(&f.given, "project", "", "id or folder of the project for the session; in a list, only conversations in it")
	cmd.Flags().StringVar(&f.from, "from", "", "agent whose conversations are listed or imported: "+strings.Join(agentNames, ", "))
	cmd.Flags().StringVar(&f.query, "query", "", "with --from: only conversations with these words in title or folder")
	cmd.Flags().IntVar(&f.limit, "limit", 50, fmt.Sprintf("with --from: maximum number of conversations in the list, 1 to %d", api.MaxTranscripts))
	cmd.Flags().BoolVar(&f.all, "all", false, "with --from: import all listed conversations")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runImport(a.console, cmd, f, args) }
	return cmd
}

// transcriptFlags are the flags of the import.
type transcriptFlags struct {
	*projectFlag
	from, query string
	limit       int
	all, asJSON bool
}

func runImport(con console, cmd *cobra.Command, f *transcriptFlags, args []string) error {
	if f.from != "" {
		if f.limit < 1 || f.limit > api.MaxTranscripts {
			return usagef("--limit %d: give a number from 1 to %d", f.limit, api.MaxTranscripts)
		}
		return f.use(cmd.Context(), func(c *client.Client) error { return importFrom(cmd.Context(), con, c, f, args) })
	}
	switch {
	case len(args) != 1:
		return usagef("give the path of one session file, or of a folder of them, or --from with an agent")
	case f.device != "":
		return usagef("--device: session files are imported only by the host on this machine; with --from, other devices can be chosen")
	case f.all || f.query != "" || cmd.Flags().Changed("limit"):
		return usagef("--all, --query and --limit are for --from")
	}
	switch info, err := os.Stat(args[0]); {
	case errors.Is(err, os.ErrNotExist):
		return sayf(err, "there is no file %s: give the path of a session file", args[0])
	case err == nil && info.IsDir():
		return importFolder(cmd.Context(), con, f.projectFlag, args[0], f.asJSON)
	}
	return importFile(cmd.Context(), con, f.projectFlag, args[0], f.asJSON)
}

// importFrom lists or imports conversations of another agent.
func importFrom(ctx context.Context, con console, c *client.Client, f *transcriptFlags, ids []string) error {
	projectID, err := f.id(ctx, c)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		request := api.ListTranscriptsRequest{From: f.from, ProjectID: projectID, Query: f.query, Limit: f.limit}
		list, err := client.Call(ctx, c, api.ListTranscripts, request)
		if err != nil {
			return err
		}
		noteList(con.stderr, &list, f)
		if !f.all {
			return printTranscripts(con.stdout, list.Transcripts, f.asJSON)
		}
		for _, t := range list.Transcripts {
			ids = append(ids, t.ID)
		}
	}
	var failed error
	for _, id := range ids {
		response, err := client.Call(ctx, c, api.ImportTranscript, api.ImportTranscriptRequest{From: f.from, ID: id, ProjectID: projectID})
		if err == nil {
			err = printImported(con, id, &response, f.asJSON)
		}
		var refusal *api.Error
		if errors.As(err, &refusal) && len(ids) > 1 { // the others can still be imported
			fmt.Fprintf(con.stderr, "%s: %s\n", printable(id), printable(refusal.Message))
			failed = sayf(err, "some conversations were not imported: see above")
			continue
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// noteList says what a list does not show.
func noteList(stderr io.Writer, list *api.ListTranscriptsResponse, f *transcriptFlags) {
	if list.Damaged > 0 {
		fmt.Fprintf(stderr, "%d files are named like conversations and could not be read as such\n", list.Damaged)
	}
	if more := list.Total - len(list.Transcripts); more > 0 {
		fmt.Fprintf(stderr, "%d more: narrow the list with --query or --project, or raise --limit\n", more)
	}
}

func printTranscripts(stdout io.Writer, list []api.Transcript, asJSON bool) error {
	if asJSON {
		return printEach(stdout, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(stdout, "no conversations were found")
		return err
	}
	for _, t := range list {
		state := "not imported"
		if t.SessionID != "" {
			state = "session " + t.SessionID
		}
		_, err := fmt.Fprintf(stdout, "%s  %s  %s\n  %s  %s\n", printable(t.ID), formatMillis(t.UpdatedAt), printable(clip(t.Title, 80)), printable(t.Folder), printable(state))
		if err != nil {
			return err
		}
	}
	return nil
}

func printImported(con console, id string, r *api.ImportTranscriptResponse, asJSON bool) error {
	if r.Damaged > 0 {
		fmt.Fprintf(con.stderr, "%s: %d damaged records were skipped\n", printable(id), r.Damaged)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(con.stderr, "%s: %d records are still being written: import it again when the agent has finished\n", printable(id), r.Unfinished)
	}
	if asJSON {
		return printJSON(con.stdout, r)
	}
	words := map[api.TranscriptOutcome]string{
		api.TranscriptImported:  fmt.Sprintf("was imported with %d entries", r.Added),
		api.TranscriptExtended:  fmt.Sprintf("got %d new entries", r.Added),
		api.TranscriptUnchanged: "has nothing new",
		api.TranscriptContinued: "was continued here and is not changed",
	}
	_, err := fmt.Fprintf(con.stdout, "%s is session %s: it %s\n", printable(id), printable(r.Session.ID), words[r.Outcome])
	return err
}
