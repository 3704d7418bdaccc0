package compact

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/tool/v4a"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxDetailFiles bounds each list of files that an entry carries.
const maxDetailFiles = 5000

// Files are the files that the summarized part of a session read and changed, as its
// calls named them. It is what a compaction or branch summary carries as its details,
// in the form that Pi reads and writes.
type Files struct {
	Read     []string `json:"readFiles"` // and did not change
	Modified []string `json:"modifiedFiles"`
}

// details returns the JSON of the lists, or nil if they are empty.
func (f Files) details() json.RawMessage {
	if len(f.Read)+len(f.Modified) == 0 {
		return nil
	}
	raw, err := session.Encode(Files{nonNil(f.Read), nonNil(f.Modified)})
	if err != nil { // strings always encode
		return nil
	}
	return raw
}

func nonNil(list []string) []string {
	return append([]string{}, list[:min(len(list), maxDetailFiles)]...)
}

// fileSet collects files. Its zero value is empty.
type fileSet struct{ read, modified map[string]bool }

func (s *fileSet) add(list []string, changed bool) {
	if s.read == nil {
		s.read, s.modified = map[string]bool{}, map[string]bool{}
	}
	for _, name := range list {
		switch {
		case name == "":
		case changed:
			s.modified[path.Clean(name)] = true
		default:
			s.read[path.Clean(name)] = true
		}
	}
}

// list returns the files in the order of their names.
func (s *fileSet) list() Files {
	var f Files
	for name := range s.modified {
		f.Modified = append(f.Modified, name)
	}
	for name := range s.read {
		if !s.modified[name] {
			f.Read = append(f.Read, name)
		}
	}
	slices.Sort(f.Read)
	slices.Sort(f.Modified)
	return f
}

// addEntry takes over what an earlier summary lists. Entries without details, as older
// versions wrote them, list the files in their text; those of a hook list others' files.
func (s *fileSet) addEntry(raw json.RawMessage) {
	var head struct {
		Summary  string `json:"summary"`
		Details  Files  `json:"details"`
		FromHook bool   `json:"fromHook"`
	}
	_ = json.Unmarshal(raw, &head) // details of another form contain no lists
	if head.FromHook {
		return
	}
	f := head.Details
	if len(f.Read)+len(f.Modified) == 0 {
		_, f = splitFiles(head.Summary)
	}
	s.add(f.Read, false)
	s.add(f.Modified, true)
}

// addCalls adds the files of calls. A call that failed changed nothing.
func (s *fileSet) addCalls(messages []Message) {
	failed := map[string]bool{}
	for _, m := range messages {
		if m.role == session.RoleToolResult && m.message.IsError != nil && *m.message.IsError {
			failed[m.message.ToolCallID] = true
		}
	}
	for _, m := range messages {
		for _, call := range m.message.Content.ToolCalls() {
			if !failed[call.ID] {
				s.addCall(call)
			}
		}
	}
}

func (s *fileSet) addCall(call session.Block) {
	var arguments struct {
		Path  string `json:"path"`
		Patch string `json:"patch"`
	}
	if json.Unmarshal(call.Arguments, &arguments) != nil {
		return
	}
	switch call.Name {
	case "read", "read_file":
		s.add([]string{arguments.Path}, false)
	case "write", "write_file", "edit":
		s.add([]string{arguments.Path}, true)
	case "patch":
		s.add([]string{arguments.Path}, true)
		if ops, err := v4a.Parse(arguments.Patch); arguments.Patch != "" && err == nil {
			for _, op := range ops {
				s.add(op.Paths(), true)
			}
		}
	}
}

// The sections of a summary that list files.
const (
	readSection     = "read-files"
	modifiedSection = "modified-files"
)

// splitFiles returns a summary without its lists of files, and the lists.
func splitFiles(summary string) (text string, f Files) {
	text, f.Read = cutSection(summary, readSection)
	text, f.Modified = cutSection(text, modifiedSection)
	return strings.TrimSpace(text), f
}

// cutSection takes every list of that name out.
func cutSection(text, name string) (rest string, files []string) {
	for {
		before, after, ok := strings.Cut(text, "<"+name+">\n")
		if !ok {
			return text, files
		}
		list, after, ok := strings.Cut(after, "\n</"+name+">")
		if !ok {
			return text, files
		}
		for _, line := range strings.Split(list, "\n") {
			if line != "" && !(strings.HasPrefix(line, "(") && strings.HasSuffix(line, " more)")) {
				files = append(files, line)
			}
		}
		text = strings.TrimRight(before, "\n") + "\n" + after
	}
}
