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
func (m *Manager) List(projectID string) []api.SessionSummary {
	return m.list(api.ListSessionsRequest{ProjectID: projectID, All: true})
}

func (m *Manager) list(r api.ListSessionsRequest) []api.SessionSummary {
	m.mu.Lock()
	list := make([]api.SessionSummary, 0, len(m.known))
	for _, k := range m.known {
		if m.lists(k, r) {
			list = append(list, m.accounted(k.summary))
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b api.SessionSummary) int { return placeOf(a).compare(placeOf(b)) })
	return list
}

// lists tells whether a list has the session: one that belongs to another one of this
// host is shown in that. m.mu is held.
func (m *Manager) lists(k *known, r api.ListSessionsRequest) bool {
	if r.ProjectID != "" && k.project.ID != r.ProjectID {
		return false
	}
	return r.All || m.known[k.header.ChildOf] == nil
}

// Page returns a part of the list. The place that it goes on from is that of a
// session, not a number: it stays true while sessions come, go and move.
func (m *Manager) Page(r api.ListSessionsRequest) (response api.ListSessionsResponse, err error) {
	if r.Limit < 0 {
		return response, api.Errorf(api.KindBadRequest, "limit must not be negative")
	}
	after, err := parseListPlace(r.After)
	if err != nil {
		return response, err
	}
	if r.Limit == 0 && r.After == "" {
		response.Sessions = m.list(r)
		response.Total = len(response.Sessions)
		return response, nil
	}
	limit := min(r.Limit, api.MaxSessions)
	if limit == 0 {
		limit = math.MaxInt - 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var places []listPlace
	if places, response.Total = m.newest(r, after, limit+1); len(places) > limit {
		places = places[:limit]
		response.Next = places[limit-1].String()
	}
	response.Sessions = make([]api.SessionSummary, len(places))
	for i, p := range places {
		response.Sessions[i] = m.accounted(m.known[p.id].summary)
	}
	return response, nil
}

// newest returns the places of the first sessions of the list after a place, most of
// them at most, and how many sessions the list has. Only those that are given are
// sorted: a list may be long. m.mu is held.
func (m *Manager) newest(r api.ListSessionsRequest, after listPlace, most int) (first []listPlace, total int) {
	for _, k := range m.known {
		if !m.lists(k, r) {
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

// listPlace is where a session stands in the list.
type listPlace struct {
	updated int64
	id      string
}

func placeOf(s api.SessionSummary) listPlace { return listPlace{s.UpdatedAt, s.ID} }

// compare puts the newest first.
func (p listPlace) compare(other listPlace) int {
	return cmp.Or(cmp.Compare(other.updated, p.updated), cmp.Compare(other.id, p.id))
}

func (p listPlace) String() string { return fmt.Sprintf("%d.%s", p.updated, p.id) }

func parseListPlace(text string) (listPlace, error) {
	if text == "" {
		return listPlace{}, nil
	}
	number, id, found := strings.Cut(text, ".")
	updated, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || id == "" {
		return listPlace{}, api.Errorf(api.KindBadRequest, "after %.64q is no place in the list: give next of the answer before", text)
	}
	return listPlace{updated, id}, nil
}
