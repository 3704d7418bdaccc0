package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Started reports whether a session is past its start: a model has answered in it, or the
// hooks of its start have begun to run.
func Started(tree *session.Tree) bool {
	return slices.ContainsFunc(tree.Entries(), func(e session.Entry) bool {
		record, ok := hookRecord(e)
		return e.Role() == session.RoleAssistant || ok && record.Event == string(api.HookSessionStart) && record.Outcome == session.HookStarted
	})
}

// HookAsked returns why hooks had a person asked about a call, or "".
func HookAsked(tree *session.Tree, callID string) (why string) {
	for _, e := range sinceCall(tree, callID) {
		if record, ok := hookRecord(e); ok && record.ToolCallID == callID && record.Outcome == session.HookAsked {
			why = record.Text
		}
	}
	return why
}

func hookRecord(e session.Entry) (record session.HookRecord, ok bool) {
	if e.Type != session.TypeCustom || e.CustomType != session.CustomHook {
		return record, false
	}
	custom, ok := e.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil
}
