package read

import (
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Versions returns the user messages that have other versions, with the end of the branch of
// each: the newest api.MaxVersions of them. A message that was edited and sent again follows the
// same message as its original. apps/web/src/features/chat/context/versions.ts implements the
// same rules for the entries that a page has.
func Versions(tree *session.Tree) api.ListVersionsResponse {
	entries := tree.Entries()
	response := api.ListVersionsResponse{Places: []api.VersionPlace{}}
	if !branched(entries) {
		return response
	}
	places := versionPlaces(entries)
	count, first := 0, len(places)
	for first > 0 && count+len(places[first-1]) <= api.MaxVersions {
		first--
		count += len(places[first])
	}
	response.Truncated = first > 0
	ends := branchEnds(entries)
	for _, ids := range places[first:] {
		place := api.VersionPlace{}
		for _, id := range ids {
			place.Versions = append(place.Versions, api.MessageVersion{EntryID: id, End: ends[id]})
		}
		response.Places = append(response.Places, place)
	}
	return response
}

// branched reports whether an entry continues another one than the entry before it. In most
// sessions none does, and there is nothing to search for.
func branched(entries []session.Entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].ParentID != entries[i-1].ID {
			return true
		}
	}
	return false
}

// versionPlaces returns the ids of the messages that share a place with others, each list in file
// order, the list whose first message is the oldest first.
func versionPlaces(entries []session.Entry) [][]string {
	anchors := make(map[string]string, len(entries)) // by id: the message or compaction that a child follows
	places := map[string]int{}                       // by anchor: the index in all
	var all [][]string
	for _, entry := range entries {
		above, ok := anchors[entry.ParentID]
		if !ok {
			above = entry.ParentID
		}
		switch entry.Type {
		case session.TypeMessage, session.TypeCompaction:
			anchors[entry.ID] = entry.ID
		default:
			anchors[entry.ID] = above
		}
		if entry.Role() != session.RoleUser || steered(entry) {
			continue
		}
		i, ok := places[above]
		if !ok {
			i = len(all)
			places[above] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], entry.ID)
	}
	several := all[:0]
	for _, ids := range all {
		if len(ids) > 1 {
			several = append(several, ids)
		}
	}
	return several
}

// branchEnds returns the last descendant of each entry by id, or the entry itself if it has none.
// An entry that only moves the leaf is no end.
func branchEnds(entries []session.Entry) map[string]string {
	ends := make(map[string]string, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		entry := entries[i]
		end, ok := ends[entry.ID]
		if !ok {
			if entry.CustomType == session.CustomLeaf {
				continue
			}
			end = entry.ID
			ends[entry.ID] = end
		}
		if _, known := ends[entry.ParentID]; entry.ParentID != "" && !known {
			ends[entry.ParentID] = end
		}
	}
	return ends
}
