package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionChanges(a *app) *cobra.Command {
	var asJSON, diffs bool
	cmd := &cobra.Command{
		Use:   "changes ID",
		Short: "Show what changed since a session began",
		Long: `List the files of the session's folder that changed since its first turn began, with and
without git. --diff shows the changes themselves.

BY is "tools" for files that a file tool of the session changed. Other changes, marked "?",
are those of commands, of other sessions or of people; the host does not know which.
Files that .gitignore excludes are not compared.`,
		Example: "  scorel session changes ID\n  scorel session changes ID --diff --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().BoolVar(&diffs, "diff", false, "show the diff of each file")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			r, err := client.Call(cmd.Context(), c, api.GetChanges, api.GetChangesRequest{SessionID: args[0]})
			if err != nil {
				return err
			}
			for i, file := range r.Files {
				if !diffs || file.Binary || file.Closed || file.Status == api.FileUnknown {
					continue
				}
				one, err := client.Call(cmd.Context(), c, api.GetChanges, api.GetChangesRequest{SessionID: args[0], Path: file.Path})
				if err != nil {
					return err
				}
				for _, found := range one.Files {
					if found.Path == file.Path {
						r.Files[i] = found
					}
				}
			}
			if asJSON {
				return printJSON(a.stdout, r)
			}
			return printChanges(a.console, r, diffs)
		})
	}
	return cmd
}

func printChanges(con console, r api.GetChangesResponse, diffs bool) error {
	var rows [][]string
	for _, file := range r.Files {
		rows = append(rows, []string{string(file.Status), linesOf(file), byOf(file), printable(pathsOf(file))})
	}
	for _, path := range r.Outside {
		rows = append(rows, []string{string(api.FileUnknown), "", "tools", printable(path)})
	}
	if r.Reason != "" {
		fmt.Fprintf(con.stderr, "note: %s; only the files that tools changed are listed\n", printable(r.Reason))
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintf(con.stderr, "note: not compared: %s\n", printable(strings.Join(r.Skipped, ", ")))
	}
	if len(rows) == 0 {
		_, err := io.WriteString(con.stderr, "nothing has changed\n")
		return err
	}
	if !diffs {
		return printTable(con.stdout, []string{"STATUS", "LINES", "BY", "FILE"}, rows)
	}
	return writeDiffs(con.stdout, r.Files)
}

func pathsOf(file api.FileChange) string {
	if file.From != "" {
		return file.From + " -> " + file.Path
	}
	return file.Path
}

func byOf(file api.FileChange) string {
	if file.ByTools {
		return "tools"
	}
	return "?"
}

func linesOf(file api.FileChange) string {
	switch {
	case file.Closed:
		return "closed"
	case file.Binary:
		return "binary"
	case file.Status == api.FileUnknown:
		return ""
	}
	return fmt.Sprintf("+%d -%d", file.Added, file.Removed)
}
