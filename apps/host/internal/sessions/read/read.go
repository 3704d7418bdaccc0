// Package read tells what the log of a session says: its context for a model, its tree in
// short, what waits in it and how that ended. Every function is given the tree and changes
// nothing; who owns the log calls them while nobody writes to it.
//
// A line of another program, or of a damaged file, may hold anything. What does not decode
// is passed over.
package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// LastCustom decodes the last entry of a type; false when there is none.
func LastCustom(tree *session.Tree, customType string, into any) bool {
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.CustomType != customType {
			continue
		}
		if custom, ok := entry.AsCustom(); ok && json.Unmarshal(custom.Data, into) == nil {
			return true
		}
	}
	return false
}
