package sessions

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Entries returns entries of the log: the last before a place, the first after one,
// or those around an entry.
func (h *history) Entries(ctx context.Context, request api.GetEntriesRequest) (response api.GetEntriesResponse, err error) {
	switch {
	case request.Limit < 0:
		return response, api.Errorf(api.KindBadRequest, "limit must not be negative")
	case request.Around != "" && request.After != 0:
		return response, api.Errorf(api.KindBadRequest, "give around or after, not both")
	case request.Limit == 0 || request.Limit > api.WindowEntries:
		request.Limit = api.WindowEntries
	}
	return inside(ctx, &h.owner, func() (api.GetEntriesResponse, error) { return h.entries(request) })
}

func (h *history) entries(request api.GetEntriesRequest) (response api.GetEntriesResponse, err error) {
	entries := h.log.Tree().Entries()
	if request.Before > 0 {
		entries = entries[:window.FirstAfter(entries, request.Before-1)]
	}
	var first, last int
	switch {
	case request.Around != "":
		at := slices.IndexFunc(entries, func(e session.Entry) bool { return e.ID == request.Around })
		if at < 0 {
			return response, api.Errorf(api.KindNotFound, "no entry %.64q in that part of the session: list it to see the ids", request.Around)
		}
		first, last = h.view.Around(entries, at, request.Limit)
	case request.After > 0:
		first = window.FirstAfter(entries, request.After)
		last = h.view.End(entries, first, request.Limit)
	default:
		response.Entries, response.Before = h.view.Last(entries, request.Limit)
		return response, nil
	}
	response.Entries = h.view.AllSendable(entries[first:last])
	if first > 0 && request.Around != "" {
		response.Before = entries[first].Seq
	}
	if last < len(entries) {
		response.After = entries[last-1].Seq
	}
	h.markPath(&response, request.Around)
	return response, nil
}

// markPath says what of an answer is on the path to the leaf: an entry that has only
// a part of the log cannot know.
func (h *history) markPath(response *api.GetEntriesResponse, around string) {
	tree := h.log.Tree()
	sent := make(map[string]bool, len(response.Entries))
	for _, e := range response.Entries {
		sent[e.ID] = true
	}
	id := tree.Leaf()
	for range tree.Entries() { // no path is longer, whatever a damaged file says
		e, ok := tree.Get(id)
		if !ok {
			return
		}
		if sent[id] && response.PathID == "" {
			response.PathID = id
		}
		if id == around {
			response.OnPath = true
			return
		}
		id = e.ParentID
	}
}
