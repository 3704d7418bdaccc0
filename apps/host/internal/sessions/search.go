package sessions

import (
	"context"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/api"
)

// searches finds entries of sessions in the index.
type searches struct {
	sessions *registry
	index    *index.Index // nil finds nothing
}

const (
	// fewBehind is how many unindexed sessions a search waits for: those in use, as opposed to
	// an index that is being built.
	fewBehind = 16
	// waitBehind bounds that wait.
	waitBehind = 5 * time.Second
)

// Search finds entries by their text, including what was written just before, in the given
// projects, or in all with nil.
func (s *searches) Search(ctx context.Context, request api.SearchSessionsRequest, projects []string) (api.SearchSessionsResponse, error) {
	if s.index == nil {
		return api.SearchSessionsResponse{}, api.Errorf(api.KindUnavailable, "sessions cannot be searched because the index could not be opened: see the host's log")
	}
	if projects != nil && len(projects) == 0 {
		return api.SearchSessionsResponse{Hits: []api.SearchHit{}}, nil
	}
	if _, exists := s.sessions.ProjectOf(request.SessionID); request.SessionID != "" && !exists {
		return api.SearchSessionsResponse{}, api.Errorf(api.KindNotFound, "there is no session %.64q", request.SessionID)
	}
	behind := s.index.Behind()
	if behind > 0 && behind <= fewBehind {
		wait, cancel := context.WithTimeout(ctx, waitBehind)
		defer cancel()
		_ = s.index.Settle(wait) // then search what is indexed
		behind = s.index.Behind()
	}
	query := index.Query{
		Text: request.Query, ProjectID: request.ProjectID, Projects: projects, Role: request.Role,
		Limit: request.Limit, Skip: request.Skip,
	}
	var (
		hits  []index.Hit
		total int
		more  bool
		err   error
	)
	if request.SessionID == "" {
		hits, more, err = s.index.Search(ctx, query)
	} else {
		hits, total, err = s.index.SearchSession(ctx, request.SessionID, query)
	}
	if err != nil {
		return api.SearchSessionsResponse{}, err
	}
	response := api.SearchSessionsResponse{Hits: make([]api.SearchHit, 0, len(hits)), Behind: behind, More: more, Total: total}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	for _, h := range hits {
		k, ok := s.sessions.known[h.SessionID]
		if !ok || projects != nil && !slices.Contains(projects, k.project.ID) { // it was deleted or moved in the meantime
			continue
		}
		response.Hits = append(response.Hits, api.SearchHit{
			SessionID: h.SessionID, ProjectID: k.project.ID, Name: k.summary.Name,
			EntryID: h.EntryID, Seq: h.Seq, Role: h.Role, At: h.At, Snippet: h.Snippet,
		})
	}
	return response, nil
}
