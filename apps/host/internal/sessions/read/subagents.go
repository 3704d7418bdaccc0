package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// OpenSubagents returns the records of calls with running subagents, in the order of the log.
func OpenSubagents(tree *session.Tree) []session.SubagentRecord {
	var open []session.SubagentRecord
	for _, entry := range tree.Entries() {
		if entry.CustomType != session.CustomSubagents {
			continue
		}
		var record session.SubagentRecord
		custom, ok := entry.AsCustom()
		if !ok || json.Unmarshal(custom.Data, &record) != nil {
			continue
		}
		open = slices.DeleteFunc(open, func(r session.SubagentRecord) bool {
			return r.ToolCallID == record.ToolCallID && r.EntryID == record.EntryID
		})
		if slices.ContainsFunc(record.Members, func(m session.SubagentMember) bool { return !m.State.Ended() }) {
			open = append(open, record)
		}
	}
	return open
}
