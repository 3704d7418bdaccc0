package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionProgress(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "progress ID [OPERATION]",
		Short: "List the operations of a session, or print the log of one",
		Long: `List the long-running operations of a session that have ended: commands, scripts of skills,
calls of MCP servers, and subagents. With an OPERATION from that list, print its log. With
--json, each line is one operation, or one line of the log.`,
		Example: "  scorel session progress ID\n  scorel session progress ID op_1a2b3c4d5e6f7a8b --json",
		Args:    argCount(1, 2, "the id of one session, and at most one operation"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			operations, err := operationsOf(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return printOperations(a.stdout, operations, asJSON)
			}
			for _, record := range operations {
				if record.OperationID == args[1] {
					return printLog(cmd.Context(), a.stdout, c, record.ProcessLogRef, asJSON)
				}
			}
			return usagef("the session has no operation %s that has ended: `scorel session progress %s` lists them", printable(args[1]), printable(args[0]))
		})
	}
	return cmd
}

func operationsOf(ctx context.Context, c *client.Client, id string) (records []session.ProcessRecord, _ error) {
	response, err := loadLog(ctx, c, id)
	if err != nil {
		return nil, err
	}
	for _, entry := range response.Entries {
		if record, ok := entry.AsProcess(); ok {
			records = append(records, record)
		}
	}
	return records, nil
}

func printOperations(stdout io.Writer, records []session.ProcessRecord, asJSON bool) error {
	return printList(stdout, asJSON, records, listing[session.ProcessRecord]{
		none:   "the session has no operations that have ended",
		header: []string{"OPERATION", "STATUS", "STARTED", "WHAT", "TOOL"},
		row: func(_ int, r session.ProcessRecord) []string {
			return []string{r.OperationID, string(r.Status), formatMillis(r.StartedAt), clip(r.Source, 40), r.ToolName}
		},
	})
}

// printLog prints the log of an operation page by page.
func printLog(ctx context.Context, stdout io.Writer, c *client.Client, ref string, asJSON bool) error {
	request := api.GetProcessLogRequest{ProcessLogRef: ref}
	for {
		page, err := client.Call(ctx, c, api.GetProcessLog, request)
		if err != nil {
			return err
		}
		for _, line := range page.Lines {
			if asJSON {
				err = printJSON(stdout, line)
			} else {
				_, err = fmt.Fprint(stdout, progressText(line))
			}
			if err != nil {
				return err
			}
		}
		if !page.More || page.Next <= request.From {
			return nil
		}
		request.From = page.Next
	}
}

// progressText is a line of an operation's log for people, with its detail below it.
func progressText(line session.ProcessLine) string {
	text := formatMillis(line.Timestamp) + "  " + stepText(line)
	if line.Repeats > 1 {
		text += fmt.Sprintf(" (%d times)", line.Repeats)
	}
	text += "\n"
	if line.Detail != "" {
		text += "  | " + strings.ReplaceAll(strings.TrimRight(printableLines(line.Detail), "\n"), "\n", "\n  | ") + "\n"
	}
	return text
}
