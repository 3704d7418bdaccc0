package agentdef

import (
	"fmt"
	"slices"
	"strings"
)

// list reads a list of names: a YAML list, or one string separated by commas or spaces.
func list(value any) []string {
	switch v := value.(type) {
	case string:
		return append([]string{}, splitNames(v)...) // a string without a name names none
	case []any:
		names := []string{} // an empty list names none
		for _, item := range v {
			names = append(names, splitNames(fmt.Sprint(item))...)
		}
		return names
	}
	return nil
}

// splitNames splits at commas and spaces, except inside parentheses.
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

// foreign returns tools of other programs without a counterpart here. A file written for
// those programs may name them.
func foreign() []string {
	return []string{
		"Agent", "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash", "KillShell", "ListMcpResources",
		"ListMcpResourcesTool", "LSP", "NotebookEdit", "ReadMcpResource", "ReadMcpResourceTool", "SlashCommand", "Task",
		"TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "WebSearch",
	}
}

// toolNames returns scorel's tools for another program's tool name; an unknown name is
// returned as is.
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
	if strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1 { // every tool of a server
		return []string{name + "__*"}
	}
	return []string{name}
}

// Permits reports whether a list permits a name. A nil list permits all names, an empty one
// none.
func Permits(list []string, name string) bool {
	return list == nil || holds(list, name)
}

func holds(tools []string, name string) bool {
	return slices.ContainsFunc(tools, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, beginning)
	})
}

// Both returns the tools that both lists permit. A nil list permits all tools, an empty
// one none; slices.Clone keeps that difference.
func Both(a, b []string) []string {
	if a == nil {
		return slices.Clone(b)
	}
	if b == nil {
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
