package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// ForeignAPI is the API of messages that another program wrote.
const ForeignAPI = "acp"

// Backend returns what the log says about a backend for a turn that begins: the agent's session
// that continues the path, and the messages of the path that it does not have.
func Backend(tree *session.Tree, name, turnID string) agent.Kept {
	var kept agent.Kept
	last, at := lastSession(tree, name, &kept)
	path := map[string]bool{}
	for entry := range tree.Up() {
		path[entry.ID] = true
	}
	since := uint64(0)
	if at >= 0 && continues(tree.Entries()[at:], path, last.TurnID) {
		kept.AgentSession, since = last.AgentSession, tree.Entries()[at].Seq
	} else {
		kept.Cost = 0
	}
	now := tree.LeafContext()
	for i, raw := range now.Messages {
		message, ok := PromptMessage(raw)
		entry, found := tree.Get(now.Sources[i])
		if !ok || !found || message.Note || entry.Seq <= since {
			continue
		}
		if turn := entry.Text("turnId"); turn != turnID && (turn != last.TurnID || turn == "" || since == 0) {
			kept.Missed = append(kept.Missed, message)
		}
	}
	return kept
}

// lastSession returns the last record of a session of the backend and its index in the log, -1
// for none, and notes the last options, commands and cost. What another host's agent said does
// not count: the modes that were chosen there ask less than people here may want.
func lastSession(tree *session.Tree, name string, kept *agent.Kept) (last session.BackendRecord, at int) {
	at = -1
	for i, entry := range slices.Backward(tree.Entries()) {
		if FromElsewhere(entry) {
			break
		}
		record, ok := backendRecord(entry)
		if !ok || record.Backend != name {
			continue
		}
		switch record.Kind {
		case session.BackendOptions:
			keepFirst(&kept.Options, record)
			kept.First = earlier(record.Options, kept.First)
		case session.BackendCommands:
			keepFirst(&kept.Commands, record)
		case session.BackendUsage:
			if at < 0 && kept.Cost == 0 {
				kept.Cost = record.Cost
			}
		case session.BackendSession:
			if at < 0 {
				last, at = record, i
			}
		}
	}
	return last, at
}

// earlier returns options with those that they do not have from a later list.
func earlier(options, later []session.BackendOption) []session.BackendOption {
	all := slices.Clone(options)
	for _, o := range later {
		if !slices.ContainsFunc(options, func(known session.BackendOption) bool { return known.ID == o.ID }) {
			all = append(all, o)
		}
	}
	return all
}

func backendRecord(entry session.Entry) (record session.BackendRecord, ok bool) {
	if entry.CustomType != session.CustomBackend {
		return record, false
	}
	custom, ok := entry.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil
}

// FromElsewhere reports whether the entries before this one were written on another host, so that
// what they say of other programs does not count.
func FromElsewhere(entry session.Entry) bool {
	if entry.CustomType == session.CustomMoved {
		var moved session.MovedRecord
		custom, ok := entry.AsCustom()
		return ok && json.Unmarshal(custom.Data, &moved) == nil && moved.Arrived
	}
	record, ok := backendRecord(entry)
	return ok && record.Kind == session.BackendReset
}

// KeepsBackends reports whether sessions or options of other programs count that are in the log.
func KeepsBackends(tree *session.Tree) bool {
	for _, entry := range slices.Backward(tree.Entries()) {
		if FromElsewhere(entry) {
			return false
		}
		record, ok := backendRecord(entry)
		if ok && (record.Kind == session.BackendSession || record.Kind == session.BackendOptions) {
			return true
		}
	}
	return false
}

func keepFirst(kept *session.BackendRecord, record session.BackendRecord) {
	if kept.Kind == "" {
		*kept = record
	}
}

// continues reports whether the path holds all of a turn, whose record is the first of the
// entries: what the agent's session has is otherwise on another branch. The record of an import
// has no turn.
func continues(entries []session.Entry, path map[string]bool, turnID string) bool {
	if !path[entries[0].ID] {
		return false
	}
	for _, entry := range entries {
		if turnID != "" && entry.Type == session.TypeMessage && entry.Text("turnId") == turnID && !path[entry.ID] {
			return false
		}
	}
	return true
}
