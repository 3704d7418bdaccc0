package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSession(a *app) *cobra.Command {
	return group("session", "Look at sessions and work on their history",
		"  scorel session list\n  scorel session show ID --device dev_...",
		newSessionList(a), newSessionSearch(a), newSessionShow(a), newSessionTree(a), newSessionInspect(a), newSessionExport(a), newSessionImport(a),
		newSessionRename(a), newSessionLabel(a), newSessionRewind(a), newSessionNavigate(a), newSessionFork(a),
		newSessionCompact(a), newSessionCopy(a), newSessionDelete(a))
}

func newSessionList(a *app) *cobra.Command {
	var (
		asJSON  bool
		project string
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions, newest first",
		Example: "  scorel session list\n  scorel session list --project prj_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&project, "project", "", "only those of the project with this id")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		response, err := ask[api.ListSessionsResponse](cmd.Context(), to, "list_sessions", api.ListSessionsRequest{ProjectID: project})
		if err != nil {
			return err
		}
		if asJSON {
			return printEach(a.stdout, response.Sessions)
		}
		if len(response.Sessions) == 0 {
			_, err := fmt.Fprintln(a.stdout, "there is no session: `scorel send` begins one")
			return err
		}
		var rows [][]string
		for _, s := range response.Sessions {
			rows = append(rows, []string{s.ID, sessionState(s), formatMillis(s.UpdatedAt), fmt.Sprint(s.MessageCount), clip(s.Name, 60)})
		}
		return printTable(a.stdout, []string{"ID", "STATE", "UPDATED", "MESSAGES", "NAME"}, rows)
	}
	return cmd
}

func sessionState(s api.SessionSummary) string {
	switch {
	case s.Damaged != "":
		return "damaged"
	case s.WaitingApproval:
		return "asks"
	case s.Running:
		return "running"
	}
	return "idle"
}

func newSessionShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Print a session; with --json its summary, then its log entries",
		Example: "  scorel session show ID\n  scorel session show ID --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := to.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // only read from
		response, err := loadSession(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			if err := printJSON(a.stdout, response.Session); err != nil {
				return err
			}
			return printEach(a.stdout, response.Entries)
		}
		return printTranscript(a.stdout, response)
	}
	return cmd
}

// maxResultLines is how much of a tool's result a transcript shows.
const maxResultLines = 12

// printTranscript writes a session for people.
func printTranscript(w io.Writer, r api.ResyncEventsResponse) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", printable(clip(r.Session.Name, 200)))
	for _, entry := range r.Entries {
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		}
		if record, ok := entry.AsProcess(); ok {
			writeProcess(&b, record)
		}
	}
	if r.Session.Damaged != "" {
		fmt.Fprintf(&b, "\n(damaged: %s)\n", printable(r.Session.Damaged))
	}
	for _, process := range r.Live.Processes {
		fmt.Fprintf(&b, "\n(%s)\n", stepText(process.Last))
	}
	if r.Live.Turn != nil {
		b.WriteString("\n(a turn is running)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMessage(b *strings.Builder, m session.Message) {
	text := strings.TrimSpace(m.Content.Plain())
	switch m.Role {
	case session.RoleUser:
		fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(printableLines(text), "\n", "\n> "))
	case session.RoleAssistant:
		if text != "" {
			fmt.Fprintf(b, "\n%s\n", printableLines(text))
		}
		for _, call := range m.Content.ToolCalls() {
			fmt.Fprintf(b, "\n%s\n", callLine(call))
		}
		if m.ErrorMessage != "" {
			fmt.Fprintf(b, "\n(failed: %s)\n", printable(m.ErrorMessage))
		}
	case session.RoleToolResult:
		lines := strings.Split(text, "\n")
		if more := len(lines) - maxResultLines; more > 0 {
			lines = append(lines[:maxResultLines], fmt.Sprintf("(%d more lines)", more))
		}
		fmt.Fprintf(b, "  | %s\n", printableLines(strings.Join(lines, "\n  | ")))
	}
}
