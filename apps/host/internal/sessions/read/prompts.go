package read

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// TakenPrompts returns the keys of the prompts that became messages, with their entries.
func TakenPrompts(tree *session.Tree) map[string]string {
	keys := map[string]string{}
	for _, entry := range tree.Entries() {
		if entry.Role() != session.RoleUser {
			continue
		}
		if key := entry.Text("clientKey"); key != "" {
			keys[key] = entry.ID
		}
	}
	return keys
}

// WaitingPrompts returns the last queue in the log without the prompts that became messages or
// are done: a crash may come between an entry and the update of the queue.
func WaitingPrompts(tree *session.Tree, taken, done map[string]string) []session.QueuedPrompt {
	var queue session.Queue
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.CustomType != session.CustomQueue {
			continue
		}
		if custom, ok := entry.AsCustom(); ok {
			_ = json.Unmarshal(custom.Data, &queue) // a queue that does not decode counts as empty
			break
		}
	}
	return slices.DeleteFunc(append([]session.QueuedPrompt{}, queue.Items...), func(q session.QueuedPrompt) bool {
		_, isMessage := taken[q.ClientKey]
		_, isDone := done[q.ClientKey] // a command
		return isMessage || isDone
	})
}

// RemovedPrompts returns the keys of the prompts that were removed from the queue.
func RemovedPrompts(tree *session.Tree) map[string]bool {
	keys := map[string]bool{}
	for _, entry := range tree.Entries() {
		if entry.CustomType != session.CustomQueue || !bytes.Contains(entry.Raw, []byte(`"removed"`)) {
			continue
		}
		var queue session.Queue
		if custom, ok := entry.AsCustom(); ok && json.Unmarshal(custom.Data, &queue) == nil {
			for _, key := range queue.Removed {
				keys[key] = true
			}
		}
	}
	return keys
}

// DoneKeys returns the keys of requests other than prompts whose work is in the log, with the
// entries that contain it.
func DoneKeys(tree *session.Tree) map[string]string {
	keys := map[string]string{}
	for _, entry := range tree.Entries() {
		if entry.Type == session.TypeMessage {
			continue
		}
		if key := entry.Text("clientKey"); key != "" {
			keys[key] = entry.ID
		}
	}
	return keys
}
