package sessions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// List returns the sessions of a project, or all with "", newest first.
func (g *registry) List(projectID string) []api.SessionSummary {
	return g.list(listing{api.ListSessionsRequest{ProjectID: projectID, All: true, Archived: api.ArchivedToo}, nil})
}

// listing is a list of sessions: those of a request in some projects, or in all with nil.
type listing struct {
	api.ListSessionsRequest
	projects []string
}

func (g *registry) list(r listing) []api.SessionSummary {
	g.mu.Lock()
	list := make([]api.SessionSummary, 0, len(g.known))
	for _, k := range g.known {
		if g.lists(k, r) {
			list = append(list, g.accounted(k.summary))
		}
	}
	g.mu.Unlock()
	slices.SortFunc(list, func(a, b api.SessionSummary) int { return placeOf(a).compare(placeOf(b)) })
	return list
}

// lists reports whether the session belongs in a list. A subagent's session appears under its
// parent if the parent is on this host. g.mu is held.
func (g *registry) lists(k *known, r listing) bool {
	if r.ProjectID != "" && k.project.ID != r.ProjectID || r.projects != nil && !slices.Contains(r.projects, k.project.ID) {
		return false
	}
	if r.Archived != api.ArchivedToo && k.summary.Archived != (r.Archived == api.ArchivedOnly) {
		return false
	}
	return r.All || g.known[k.header.ChildOf] == nil
}

// Page returns a part of the list, with sessions of the given projects only unless these are
// nil. Its position is that of a session, not a number, so it stays valid while sessions are
// added, removed and reordered.
func (g *registry) Page(request api.ListSessionsRequest, projects []string) (response api.ListSessionsResponse, err error) {
	r := listing{request, projects}
	if r.Limit < 0 {
		return response, api.Errorf(api.KindBadRequest, "limit must not be negative")
	}
	switch r.Archived {
	case "", api.ArchivedOnly, api.ArchivedToo:
	default:
		return response, api.Errorf(api.KindBadRequest, "unknown value %.40q of archived: use %s or %s, or leave it out", r.Archived, api.ArchivedOnly, api.ArchivedToo)
	}
	after, err := parseListPlace(r.After)
	if err != nil {
		return response, err
	}
	if r.Limit == 0 && r.After == "" {
		response.Sessions = g.list(r)
		response.Total = len(response.Sessions)
		return response, nil
	}
	limit := min(r.Limit, api.MaxSessions)
	if limit == 0 {
		limit = math.MaxInt - 1
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var places []listPlace
	if places, response.Total = g.newest(r, after, limit+1); len(places) > limit {
		places = places[:limit]
		response.Next = places[limit-1].String()
	}
	response.Sessions = make([]api.SessionSummary, len(places))
	for i, p := range places {
		response.Sessions[i] = g.accounted(g.known[p.id].summary)
	}
	return response, nil
}

// newest returns the positions of up to most sessions that follow a position, and how many
// sessions the list has. It sorts only the returned ones, because a list may be long. g.mu is
// held.
func (g *registry) newest(r listing, after listPlace, most int) (first []listPlace, total int) {
	for _, k := range g.known {
		if !g.lists(k, r) {
			continue
		}
		total++
		p := placeOf(k.summary)
		if after.id != "" && p.compare(after) <= 0 || len(first) == most && p.compare(first[most-1]) > 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(first, p, listPlace.compare)
		if len(first) == most {
			first = first[:most-1]
		}
		first = slices.Insert(first, i, p)
	}
	return first, total
}

// listPlace is the position of a session in the list.
type listPlace struct {
	pinned  bool
	updated int64
	id      string
}

func placeOf(s api.SessionSummary) listPlace { return listPlace{s.Pinned, s.UpdatedAt, s.ID} }

// compare orders pinned sessions first, then newer ones.
func (p listPlace) compare(other listPlace) int {
	if p.pinned != other.pinned {
		if p.pinned {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(other.updated, p.updated), cmp.Compare(other.id, p.id))
}

func (p listPlace) String() string {
	mark := ""
	if p.pinned {
		mark = pinMark
	}
	return fmt.Sprintf("%s%d.%s", mark, p.updated, p.id)
}

// pinMark starts the position of a pinned session.
const pinMark = "p"

func parseListPlace(text string) (listPlace, error) {
	if text == "" {
		return listPlace{}, nil
	}
	rest, pinned := strings.CutPrefix(text, pinMark)
	number, id, found := strings.Cut(rest, ".")
	updated, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || id == "" {
		return listPlace{}, api.Errorf(api.KindBadRequest, "%.64q is not a position in the list: set after to next of the previous answer", text)
	}
	return listPlace{pinned, updated, id}, nil
}

// Counts are how many sessions do something now.
type Counts struct{ Sessions, Running, Approvals, Questions int }

// Counts returns how many sessions there are, and what they do.
func (g *registry) Counts() (counts Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts.Sessions = len(g.known)
	for _, k := range g.known {
		if k.summary.Running {
			counts.Running++
		}
		if k.summary.WaitingApproval {
			counts.Approvals++
		}
		if k.summary.WaitingAnswer {
			counts.Questions++
		}
	}
	return counts
}
