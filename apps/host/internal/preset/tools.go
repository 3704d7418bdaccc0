package preset

import (
	"fmt"
	"slices"
	"strings"
)

// list reads a list of names: a list of YAML, or one text with commas or blanks.
func list(value any) []string {
	switch v := value.(type) {
	case string:
		return splitNames(v)
	case []any:
		names := []string{} // an empty list names none
		for _, item := range v {
			names = append(names, splitNames(fmt.Sprint(item))...)
		}
		return names
	}
	return nil
}

// splitNames cuts at commas and blanks, but not within brackets.
func splitNames(text string) []string {
	var names []string
	var name strings.Builder
	depth := 0
	flush := func() {
		if name.Len() > 0 {
			names = append(names, name.String())
			name.Reset()
		}
	}
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(0, depth-1)
		case depth == 0 && strings.ContainsRune(", \t\n", r):
			flush()
			continue
		}
		name.WriteRune(r)
	}
	flush()
	return names
}

// toolNames returns our tools for a name that another program has for them; a name
// that it does not know is its own.
func toolNames(name string) []string {
	switch name {
	case "Read", "NotebookRead":
		return []string{"read_file"}
	case "Write":
		return []string{"write_file"}
	case "Edit", "MultiEdit":
		return []string{"patch"}
	case "LS":
		return []string{"list_dir"}
	case "Glob":
		return []string{"glob"}
	case "Grep":
		return []string{"grep"}
	case "Bash", "bash":
		return []string{"bash", "bash_job"}
	case "WebFetch":
		return []string{"fetch_url"}
	case "TodoWrite", "TodoRead":
		return []string{"todo"}
	case "Skill":
		return []string{"read_skill"}
	}
	if strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 { // all of a server
		return []string{name + "__*"}
	}
	return []string{name}
}

// Permits tells whether a list of tools holds a name; one without any holds all.
func Permits(tools []string, name string) bool {
	return len(tools) == 0 || holds(tools, name)
}

func holds(tools []string, name string) bool {
	return slices.ContainsFunc(tools, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, beginning)
	})
}

// Both returns the tools that both lists permit. None, with an empty list that is
// not nil, is something else than all.
func Both(a, b []string) []string {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	if len(b) == 0 {
		return slices.Clone(a)
	}
	both := []string{}
	for _, name := range a {
		if holds(b, name) {
			both = append(both, name)
		}
	}
	for _, name := range b {
		if holds(a, name) {
			both = append(both, name)
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}
