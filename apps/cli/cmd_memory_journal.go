package cli

import (
	"crypto/rand"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newMemoryJournal(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "journal [DAY]", Short: "Print a day of a project's journal",
		Long: `Print what was done in a project on a day, YYYY-MM-DD, or on the last day that has an entry:
one line for each turn that ended, with the time, the title and id of its session and the
beginning of the answer. Days are those of the machine's time zone, and the last 90 are kept.
With --json, print the days that have entries, too.`,
		Example: "  scorel memory journal\n  scorel memory journal 2026-03-04 --json",
		Args:    argCount(0, 1, "at most one day, such as 2026-03-04"),
	}
	f := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var request api.GetJournalRequest
		if len(args) == 1 {
			request.Day = args[0]
		}
		return f.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			request.ProjectID = projectID
			found, err := client.Call(cmd.Context(), c, api.GetJournal, request)
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(a.stdout, found)
			case found.Text == "":
				_, err = fmt.Fprintln(a.stderr, "the journal is empty: it gets a line when a turn ends")
				return err
			}
			_, err = io.WriteString(a.stdout, printableLines(found.Text))
			return err
		})
	}
	return cmd
}

func newMemoryReview(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "review", Short: "Have the agent merge and drop notes",
		Long: `Start a session in which the agent reads the notes of a project and those for all projects,
merges those about the same subject, corrects what is wrong and removes what is outdated. Each
change is in the transcript of the session, whose id is printed.`,
		Example: "  scorel memory review\n  scorel memory review --project ~/code/site --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			started, err := client.Call(cmd.Context(), c, api.ReviewNotes, api.ReviewNotesRequest{ProjectID: projectID, ClientKey: rand.Text()})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, started.Session)
			}
			return printf(a.stdout, "reviewing: %s\nfollow it with `scorel session show %s --follow`\n", started.Session.ID, started.Session.ID)
		})
	}
	return cmd
}
