package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// sessionSearch is what scorel session search searches.
type sessionSearch struct {
	in      *everywhere
	request api.SearchSessionsRequest

	mu     sync.Mutex
	behind []string // notes about hosts that have not read all sessions
}

// placedHit is a hit. Its place is empty if one host was asked.
type placedHit struct {
	place
	api.SearchHit
}

func newSessionSearch(a *app) *cobra.Command {
	var (
		s      = &sessionSearch{}
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Search all sessions, newest first",
		Long: `Search the messages of people, models and tools in all sessions of a host. All words must
occur in one message. "two words" matches a phrase, begin* a prefix, and -word excludes a
word (write -- before a first word that begins with a dash). Case and accents are ignored.

At most three results of one session are listed. --session lists all results in one session;
"scorel session show ID --entry ENTRY" prints one of them. With --all-machines, a machine
that cannot be reached is named on standard error.`,
		Example: "  scorel session search migration database\n  scorel session search 'migr*' '\"connection refused\"' --limit 5 --json\n  scorel session search migration --all-machines\n  scorel session search migration --session ID\n  scorel session search -- -draft report",
		Args:    argCount(1, 64, "the words to search for"),
	}
	s.in = a.everywhere(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&s.request.SessionID, "session", "", "only in the session with this id, which lists all results there")
	cmd.Flags().StringVar(&s.request.Role, "role", "", "only text of this kind: user, assistant, tool, summary, name or other")
	cmd.Flags().IntVar(&s.request.Limit, "limit", 20, fmt.Sprintf("maximum number of results, 1 to %d", api.MaxSessionHits))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.check(); err != nil {
			return err
		}
		s.request.Query = strings.Join(args, " ")
		if s.in.all {
			hits, err := s.ofAll(cmd.Context())
			return s.print(asJSON, hits, err)
		}
		var hits []placedHit
		err := s.in.use(cmd.Context(), func(c *client.Client) (err error) {
			hits, err = s.ask(cmd.Context(), c, place{})
			return err
		})
		return s.print(asJSON, hits, err)
	}
	return cmd
}

func (s *sessionSearch) check() error {
	switch {
	case s.request.Limit < 1 || s.request.Limit > api.MaxSessionHits:
		return usagef("--limit %d: give a number from 1 to %d", s.request.Limit, api.MaxSessionHits)
	case s.request.SessionID != "" && (s.in.all || s.in.given != ""):
		return usagef("--session selects one session: leave out --project and --all-machines")
	}
	return s.in.check()
}

// ask searches on one host, within the project or session if one is selected. A search over
// several sessions may take several requests.
func (s *sessionSearch) ask(ctx context.Context, c *client.Client, on place) (hits []placedHit, err error) {
	request := s.request
	if request.ProjectID, err = s.in.id(ctx, c); err != nil {
		return nil, err
	}
	type entry struct{ session, id string }
	listed := map[entry]bool{} // a new message can move a hit into the next answer
	for more := true; more && request.Limit > 0; {
		response, err := client.Call(ctx, c, api.SearchSessions, request)
		if err != nil {
			return nil, err
		}
		if response.Behind > 0 && request.Skip == 0 {
			s.note(fmt.Sprintf("%s is still indexing %d sessions: there may be more results later", cmp.Or(on.Machine, "the host"), response.Behind))
		}
		for _, hit := range response.Hits {
			is := entry{hit.SessionID, hit.EntryID}
			if listed[is] || s.request.SessionID != "" && hit.SessionID != s.request.SessionID { // an older host searches all
				continue
			}
			listed[is] = true
			hits = append(hits, placedHit{on, hit})
		}
		more = response.More && len(response.Hits) > 0
		request.Skip += len(response.Hits)
		request.Limit -= len(response.Hits)
	}
	return hits, nil
}

func (s *sessionSearch) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = append(s.behind, text)
}

// ofAll searches on all machines, newest hits first.
func (s *sessionSearch) ofAll(ctx context.Context) ([]placedHit, error) {
	hits, err := askEach(ctx, s.in, s.ask)
	slices.SortStableFunc(hits, func(x, y placedHit) int { return cmp.Compare(y.At, x.At) })
	return firstOf(hits, s.request.Limit), err
}

// print prints hits. The JSON names the machine if all were asked.
func (s *sessionSearch) print(asJSON bool, hits []placedHit, err error) error {
	if err != nil {
		return err
	}
	for _, note := range s.behind {
		fmt.Fprintln(s.in.con.stderr, printable(note))
	}
	switch w := s.in.con.stdout; {
	case asJSON && s.in.all:
		return printEach(w, hits)
	case asJSON:
		plain := make([]api.SearchHit, 0, len(hits))
		for _, hit := range hits {
			plain = append(plain, hit.SearchHit)
		}
		return printEach(w, plain)
	default:
		return printHits(w, hits)
	}
}

// printHits prints hits for people, with their position and context. A hit of a search in one
// session has no text.
func printHits(w io.Writer, hits []placedHit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "nothing was found")
		return err
	}
	for _, h := range hits {
		var text strings.Builder
		for _, part := range h.Snippet {
			text.WriteString(part.Text)
		}
		what := h.Role
		if text.Len() > 0 {
			what += ": " + clip(text.String(), 240)
		}
		name := clip(h.Name, 60)
		if h.Machine != "" {
			name += "  on " + h.Machine
		}
		_, err := fmt.Fprintf(w, "%s  %s  %s\n  %s\n  entry %s\n", printable(h.SessionID), formatMillis(h.At), printable(name), printable(what), printable(h.EntryID))
		if err != nil {
			return err
		}
	}
	return nil
}
