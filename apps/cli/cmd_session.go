package cli

import (
	"cmp"
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
		newSessionRename(a), newSessionLabel(a), newSessionRewind(a), newSessionNavigate(a), newSessionFork(a), newSessionQueue(a),
		newSessionCompact(a), newSessionCopy(a), newSessionDelete(a))
}

func newSessionList(a *app) *cobra.Command {
	var (
		asJSON, all bool
		limit       int
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, newest first",
		Long: `List the sessions, newest first. Those that an agent had made for a task belong to
the session that asked, and are listed with --all. What they took is in its TOKENS and
COST too; what a fork took over is not.`,
		Example: "  scorel session list\n  scorel session list --limit 20\n  scorel session list --project ~/code/site --json\n  scorel session list --all",
		Args:    argCount(0, 0, "no arguments"),
	}
	in := &projectFlag{target: a.targetFlag(cmd)}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&in.given, "project", "", "only those of the project with this id or folder")
	cmd.Flags().BoolVar(&all, "all", false, "also those that an agent had made for a task")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many (default: all)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 0 || limit == 0 && cmd.Flags().Changed("limit") {
			return usagef("--limit %d: give a number from 1 on, or leave it out for all", limit)
		}
		list, err := listSessions(cmd.Context(), in, api.ListSessionsRequest{All: all, Limit: limit})
		if err != nil {
			return err
		}
		return printList(a, asJSON, list, sessionListing(in.given, all))
	}
	return cmd
}

// sessionListing shows sessions; belongs adds whom each belongs to.
func sessionListing(project string, belongs bool) listing[api.SessionSummary] {
	how := listing[api.SessionSummary]{
		none:   noSession(project),
		header: []string{"ID", "STATE", "UPDATED", "MESSAGES", "TOKENS", "COST", "NAME"},
		row: func(_ int, s api.SessionSummary) []string {
			row := []string{s.ID, sessionState(s), formatMillis(s.UpdatedAt), fmt.Sprint(s.MessageCount), tokensOf(s), costOf(s), clip(s.Name, 60)}
			if belongs {
				row = append(row, cmp.Or(s.ParentSessionID, "-"))
			}
			return row
		},
	}
	if belongs {
		how.header = append(how.header, "BELONGS TO")
	}
	return how
}

func noSession(project string) string {
	if project == "" {
		return "there is no session: `scorel send` begins one"
	}
	return "there is no session in this project: `scorel send --project` begins one"
}

func sessionState(s api.SessionSummary) string {
	switch {
	case s.Damaged != "":
		return "damaged"
	case s.WaitingApproval, s.WaitingAnswer:
		return "asks"
	case s.Running:
		return "running"
	}
	return "idle"
}

// maxResultLines is how much of a tool's result a transcript shows.
const maxResultLines = 12

// printTranscript writes the branch that a session is on for people.
func printTranscript(w io.Writer, r api.ResyncEventsResponse) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", printable(clip(r.Session.Name, 200)))
	tree := session.NewTree(r.Entries)
	path, hole := tree.PathToHole(tree.Leaf())
	if hole != nil || r.Session.Damaged != "" {
		path = tree.Entries() // nothing that can be read is left out
	}
	for _, entry := range path {
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		}
		writeNote(&b, entry)
		if record, ok := entry.AsProcess(); ok {
			writeProcess(&b, record)
		}
	}
	b.WriteString(elsewhere(tree, path))
	if r.Session.Damaged != "" {
		fmt.Fprintf(&b, "\n(damaged: %s)\n", printable(r.Session.Damaged))
	}
	b.WriteString(spentLine(r.Session))
	for _, process := range r.Live.Processes {
		fmt.Fprintf(&b, "\n(%s)\n", stepText(process.Last))
	}
	if r.Live.Turn != nil {
		b.WriteString("\n(a turn is running)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printAround writes a part of a session for people, with a mark at one entry.
func printAround(w io.Writer, r api.GetEntriesResponse, mark string) error {
	var b strings.Builder
	if r.Before > 0 {
		b.WriteString("(there is more before this)\n")
	}
	for _, entry := range r.Entries {
		if entry.ID == mark {
			fmt.Fprintf(&b, "\n--> %s %s", printable(entry.ID), printable(string(entry.Type)))
		}
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		} else if entry.ID == mark {
			b.WriteString("\n")
		}
	}
	if r.After > 0 {
		b.WriteString("\n(there is more after this)\n")
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
