package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// OpenCrews returns the records of calls whose agents have not all ended, in the
// order of the log.
func OpenCrews(tree *session.Tree) []session.CrewRecord {
	var open []session.CrewRecord
	for _, entry := range tree.Entries() {
		if entry.CustomType != session.CustomCrew {
			continue
		}
		var record session.CrewRecord
		custom, ok := entry.AsCustom()
		if !ok || json.Unmarshal(custom.Data, &record) != nil {
			continue
		}
		open = slices.DeleteFunc(open, func(r session.CrewRecord) bool {
			return r.ToolCallID == record.ToolCallID && r.EntryID == record.EntryID
		})
		if slices.ContainsFunc(record.Members, func(m session.CrewMember) bool { return !m.State.Ended() }) {
			open = append(open, record)
		}
	}
	return open
}
