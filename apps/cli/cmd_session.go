package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newSession(a *app) *cobra.Command {
	return group("session", "Manage sessions and their history",
		"  scorel session list\n  scorel session show ID --device dev_...",
		newSessionList(a), newSessionSearch(a), newSessionShow(a), newSessionChanges(a), newSessionRevert(a), newSessionProgress(a), newSessionImages(a), newSessionTree(a), newSessionInspect(a), newSessionVerify(a), newSessionExport(a), newSessionImport(a),
		newSessionRename(a), newSessionArchive(a), newSessionUnarchive(a), newSessionPin(a), newSessionUnpin(a), newSessionMeta(a), newSessionLabel(a), newSessionRewind(a), newSessionNavigate(a), newSessionFork(a), newSessionQueue(a), newSessionCancel(a), newSessionAnswer(a), newSessionModel(a), newSessionMode(a),
		newSessionCompact(a), newSessionCopy(a), newSessionMove(a), newSessionDelete(a), newSessionShare(a), newSessionUnshare(a))
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
