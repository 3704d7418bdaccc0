package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSession(a *app) *cobra.Command {
	return group("session", "Manage sessions and their history",
		"  scorel session list\n  scorel session show ID --device dev_...",
		newSessionList(a), newSessionSearch(a), newSessionShow(a), newSessionChanges(a), newSessionTree(a), newSessionInspect(a), newSessionVerify(a), newSessionExport(a), newSessionImport(a),
		newSessionRename(a), newSessionArchive(a), newSessionUnarchive(a), newSessionPin(a), newSessionUnpin(a), newSessionMeta(a), newSessionLabel(a), newSessionRewind(a), newSessionNavigate(a), newSessionFork(a), newSessionQueue(a), newSessionCancel(a),
		newSessionCompact(a), newSessionCopy(a), newSessionDelete(a))
}

func newSessionList(a *app) *cobra.Command {
	var (
		asJSON, all, archived bool
		limit                 int
		meta                  string
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, newest first",
		Long: `List sessions, pinned ones first, then newest first. Subagent sessions belong to the session
that started them and are listed with --all; TOKENS and COST of a session include them,
but not what a fork inherited. --archived lists only archived sessions, which are hidden
otherwise.`,
		Example: "  scorel session list\n  scorel session list --limit 20\n  scorel session list --project ~/code/site --json\n  scorel session list --all",
		Args:    argCount(0, 0, "no arguments"),
	}
	in := &projectFlag{target: a.targetFlag(cmd)}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&in.given, "project", "", "only those of the project with this id or folder")
	cmd.Flags().BoolVar(&all, "all", false, "include subagent sessions")
	cmd.Flags().BoolVar(&archived, "archived", false, "only archived sessions")
	cmd.Flags().StringVar(&meta, "meta", "", "only those with this metadata: KEY, or KEY=VALUE")
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of results (default: all)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 0 || limit == 0 && cmd.Flags().Changed("limit") {
			return usagef("--limit %d: give a number of at least 1, or leave it out for all", limit)
		}
		request := api.ListSessionsRequest{All: all, Limit: limit}
		if archived {
			request.Archived = api.ArchivedOnly
		}
		if meta != "" {
			request.Limit = 0 // the host does not support the filter
		}
		list, err := listSessions(cmd.Context(), in, request)
		if err != nil {
			return err
		}
		if list = withMeta(list, meta); limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		return printList(a, asJSON, list, sessionListing(in.given, all))
	}
	return cmd
}

// sessionListing returns how sessions are listed; belongs adds the parent of each session.
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
		return "there are no sessions: `scorel send` starts one"
	}
	return "there are no sessions in this project: `scorel send --project` starts one"
}

func sessionState(s api.SessionSummary) string {
	switch {
	case s.Damaged != "":
		return "damaged"
	case s.WaitingApproval, s.WaitingAnswer:
		return "asks"
	case s.Running:
		return "running"
	case s.Archived:
		return "archived"
	case s.Pinned:
		return "pinned"
	}
	return "idle"
}

// maxResultLines bounds how much of a tool's result a transcript shows.
const maxResultLines = 12

// printTranscript prints the current branch of a session for people.
func printTranscript(w io.Writer, r api.ResyncEventsResponse) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", printable(clip(r.Session.Name, 200)))
	tree := session.NewTree(r.Entries)
	path, hole := tree.PathToHole(tree.Leaf())
	if hole != nil || r.Session.Damaged != "" {
		path = tree.Entries() // show everything that can be read
	}
	for _, entry := range path {
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		}
		writeNote(&b, entry)
		if record, ok := entry.AsProcess(); ok {
			writeProcess(&b, record)
		}
		writeTurnEnd(&b, entry)
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

// printAround prints a part of a session for people, with a mark at one entry.
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

// imageLines returns a placeholder line for each image of a message.
func imageLines(content session.Content) string {
	var b strings.Builder
	for _, block := range content {
		if block.Type == session.BlockImage {
			fmt.Fprintf(&b, "\n[image: %s, %d x %d pixels, %d bytes]", block.MimeType, block.Width, block.Height, block.Size)
		}
	}
	return b.String()
}

func writeMessage(b *strings.Builder, m session.Message) {
	text := strings.TrimSpace(m.Content.Plain() + imageLines(m.Content))
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

// writeTurnEnd says why a turn produced no answer, if no message says so.
func writeTurnEnd(b *strings.Builder, entry session.Entry) {
	custom, ok := entry.AsCustom()
	if !ok || custom.CustomType != session.CustomTurn {
		return
	}
	var record session.TurnRecord
	if json.Unmarshal(custom.Data, &record) != nil || record.Error == "" {
		return
	}
	if why := printable(record.Error); !strings.HasSuffix(b.String(), "(failed: "+why+")\n") {
		fmt.Fprintf(b, "\n(%s)\n", why)
	}
}
