package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionSearch(a *app) *cobra.Command {
	var (
		asJSON  bool
		request api.SearchSessionsRequest
	)
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Search all sessions, newest first",
		Long: `Search the messages of people, models and tools in all sessions of a host. All words must
occur in one message. "two words" matches a phrase, begin* a prefix, and -word excludes a
word (write -- before a first word that begins with a dash). Case and accents are ignored.`,
		Example: "  scorel session search migration database\n  scorel session search 'migr*' '\"connection refused\"' --limit 5 --json\n  scorel session search -- -draft report",
		Args:    argCount(1, 64, "the words to search for"),
	}
	in := &projectFlag{target: a.targetFlag(cmd)}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&in.given, "project", "", "only in the project with this id or folder")
	cmd.Flags().StringVar(&request.Role, "role", "", "only text of this kind: user, assistant, tool, summary, name or other")
	cmd.Flags().IntVar(&request.Limit, "limit", 20, fmt.Sprintf("maximum number of results, 1 to %d", api.MaxHits))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if request.Limit < 1 || request.Limit > api.MaxHits {
			return usagef("--limit %d: give a number from 1 to %d", request.Limit, api.MaxHits)
		}
		request.Query = strings.Join(args, " ")
		response, err := in.search(cmd.Context(), request)
		if err != nil {
			return err
		}
		if response.Behind > 0 {
			fmt.Fprintf(a.stderr, "the host is still indexing %d sessions: there may be more results later\n", response.Behind)
		}
		if asJSON {
			return printEach(a.stdout, response.Hits)
		}
		return printHits(a.stdout, response.Hits)
	}
	return cmd
}

// search queries the host, within the project if one is selected.
func (p *projectFlag) search(ctx context.Context, request api.SearchSessionsRequest) (response api.SearchSessionsResponse, _ error) {
	c, err := p.connect(ctx)
	if err != nil {
		return response, err
	}
	defer func() { _ = c.Close() }() // everything was received
	if request.ProjectID, err = p.id(ctx, c); err != nil {
		return response, err
	}
	return client.Call(ctx, c, api.SearchSessions, request)
}

// printHits prints hits for people, with their position and context.
func printHits(w io.Writer, hits []api.SearchHit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "nothing was found")
		return err
	}
	for _, h := range hits {
		var text strings.Builder
		for _, part := range h.Snippet {
			text.WriteString(part.Text)
		}
		_, err := fmt.Fprintf(w, "%s  %s  %s\n  %s: %s\n  entry %s\n", printable(h.SessionID), formatMillis(h.At), printable(clip(h.Name, 60)),
			printable(h.Role), printable(clip(text.String(), 240)), printable(h.EntryID))
		if err != nil {
			return err
		}
	}
	return nil
}
