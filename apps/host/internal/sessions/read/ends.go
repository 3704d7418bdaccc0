package read

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// TurnEnd is how a turn ended.
type TurnEnd struct {
	StopReason session.StopReason
	Error      string // for people
	HostEnded  bool   // the host stopped
}

// unnamedTurn is the turn of a record that a restarted host wrote in older versions. It stands for
// the last turn before it.
const unnamedTurn = "interrupted"

// EndOf returns how the turn of a prompt ended; false if the log does not say.
func EndOf(tree *session.Tree, clientKey string) (end TurnEnd, ended bool) {
	turnID, last := "", ""
	for _, entry := range tree.Entries() {
		if id := entry.Text("turnId"); id != "" && entry.Type == session.TypeMessage {
			last = id
		}
		switch {
		case entry.Type == session.TypeCompaction && entry.Text("clientKey") == clientKey:
			return TurnEnd{StopReason: session.StopEnd}, true
		case entry.Role() == session.RoleUser && entry.Text("clientKey") == clientKey:
			turnID = entry.Text("turnId")
		case turnID == "":
		case entry.Role() == session.RoleAssistant && entry.Text("turnId") == turnID:
			if m, ok := entry.AsMessage(); ok {
				end = TurnEnd{StopReason: m.Message.StopReason, Error: m.Message.ErrorMessage}
				ended = end.StopReason != session.StopToolUse
			}
		case entry.CustomType == session.CustomTurn:
			var record session.TurnRecord
			if custom, ok := entry.AsCustom(); ok && json.Unmarshal(custom.Data, &record) == nil &&
				(record.TurnID == turnID || record.TurnID == unnamedTurn && last == turnID) {
				end, ended = TurnEnd{record.StopReason, record.Error, record.HostEnded}, true
			}
		}
	}
	return end, ended
}
