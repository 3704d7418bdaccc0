package read

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// ChangedFiles returns the absolute paths of the files that file tools changed, on all
// branches: what was abandoned in the log is still on the disk. They are sorted.
func ChangedFiles(tree *session.Tree) []string {
	var paths []string
	for _, entry := range tree.Entries() {
		if entry.Role() != session.RoleToolResult {
			continue
		}
		m, ok := entry.AsMessage()
		if !ok || m.Message.IsError != nil && *m.Message.IsError {
			continue
		}
		var details struct {
			Path  string   `json:"path"`
			Files []string `json:"files"`
		}
		switch m.Message.ToolName {
		case "write_file", "patch":
			if json.Unmarshal(m.Message.Details, &details) == nil {
				paths = append(append(paths, details.Files...), details.Path)
			}
		}
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "" })
}
