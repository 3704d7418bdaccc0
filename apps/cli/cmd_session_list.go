package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// sessionList is what scorel session list lists.
type sessionList struct {
	in      *everywhere
	request api.ListSessionsRequest
	meta    string
	limit   int
}

// placedSession is a session of any machine.
type placedSession struct {
	place
	api.SessionSummary
}

func newSessionList(a *app) *cobra.Command {
	var (
		l                sessionList
		asJSON, archived bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, newest first",
		Long: `List sessions, pinned ones first, then newest first. Subagent sessions belong to the session
that started them and are listed with --all; TOKENS and COST of a session include them,
but not what a fork inherited. --archived lists only archived sessions, which are hidden
otherwise. With --all-machines, a machine that cannot be reached is named on standard error.`,
		Example: "  scorel session list\n  scorel session list --limit 20\n  scorel session list --project ~/code/site --json\n  scorel session list --all-machines",
		Args:    argCount(0, 0, "no arguments"),
	}
	l.in = a.everywhere(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&l.request.All, "all", false, "include subagent sessions")
	cmd.Flags().BoolVar(&archived, "archived", false, "only archived sessions")
	cmd.Flags().StringVar(&l.meta, "meta", "", "only those with this metadata: KEY, or KEY=VALUE")
	cmd.Flags().IntVar(&l.limit, "limit", 0, "maximum number of results (default: all)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if l.limit < 0 || l.limit == 0 && cmd.Flags().Changed("limit") {
			return usagef("--limit %d: give a number of at least 1, or leave it out for all", l.limit)
		}
		if err := l.in.check(); err != nil {
			return err
		}
		if archived {
			l.request.Archived = api.ArchivedOnly
		}
		if l.meta == "" { // the host does not support the filter
			l.request.Limit = l.limit
		}
		how := sessionListing(l.in.given, l.request.All)
		if l.in.all {
			list, err := l.ofAll(cmd.Context())
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, list, onMachines(how))
		}
		list, err := listSessions(cmd.Context(), l.in.projectFlag, l.request)
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, firstOf(withMeta(list, l.meta), l.limit), how)
	}
	return cmd
}

// ofAll returns the sessions of all machines, in the order in which one host lists its own.
func (l *sessionList) ofAll(ctx context.Context) ([]placedSession, error) {
	list, err := askEach(ctx, l.in, func(ctx context.Context, c *client.Client, on place) (placed []placedSession, err error) {
		sessions, err := client.Sessions(ctx, c, l.request)
		for _, s := range withMeta(sessions, l.meta) {
			placed = append(placed, placedSession{on, s})
		}
		return placed, err
	})
	slices.SortStableFunc(list, func(x, y placedSession) int {
		if x.Pinned != y.Pinned {
			if x.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.UpdatedAt, x.UpdatedAt)
	})
	return firstOf(list, l.limit), err
}

// firstOf returns at most limit elements; 0 is no limit.
func firstOf[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
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

// onMachines lists sessions with the machine of each.
func onMachines(how listing[api.SessionSummary]) listing[placedSession] {
	return listing[placedSession]{
		none: how.none, header: append([]string{"MACHINE"}, how.header...),
		row: func(i int, s placedSession) []string {
			return append([]string{s.Machine}, how.row(i, s.SessionSummary)...)
		},
	}
}
