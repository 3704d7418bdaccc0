package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// List returns the sessions of a project, or all with "", newest first.
func (m *Manager) List(projectID string) []api.SessionSummary {
	m.mu.Lock()
	list := make([]api.SessionSummary, 0, len(m.known))
	for _, k := range m.known {
		if projectID == "" || k.project.ID == projectID {
			list = append(list, k.summary)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b api.SessionSummary) int { return placeOf(a).compare(placeOf(b)) })
	return list
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
	list := m.List(r.ProjectID)
	response.Total = len(list)
	if r.After != "" {
		first, found := slices.BinarySearchFunc(list, after, func(s api.SessionSummary, p listPlace) int { return placeOf(s).compare(p) })
		if found {
			first++
		}
		list = list[first:]
	}
	if limit := min(r.Limit, api.MaxSessions); limit > 0 && limit < len(list) {
		list = list[:limit]
		response.Next = placeOf(list[limit-1]).String()
	}
	response.Sessions = list
	return response, nil
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
