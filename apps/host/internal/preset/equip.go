package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// equip reads the model and the tools; false where nothing would be left to use of
// what the file names, or what it says of tools cannot be read.
func (f *finder) equip(agent *Agent, fields map[string]any) bool {
	if model := text(fields["model"]); model != "" && model != "inherit" {
		if agent.Model = model; f.places.KnownModel != nil && !f.places.KnownModel(model) {
			f.Note("%s: config.toml has no model %.60q; the one of who gives the task is used", agent.Path, model)
			agent.Model = ""
		}
	}
	for _, field := range []string{"tools", "disallowedTools"} {
		if !readable(fields[field]) {
			f.Note("%s is left out: %s is neither a text nor a list of names", agent.Path, field)
			return false
		}
	}
	f.forbid(agent, list(fields["disallowedTools"]))
	return f.permit(agent, list(fields["tools"]))
}

func readable(value any) bool {
	switch value.(type) {
	case nil, string, []any:
		return true
	}
	return false
}

// permit reads what the agent may use. A tool that is named with patterns may be used for
// what they say, and one that is named without for everything. Without a list it may use
// all; false where it names tools and none of them is here.
func (f *finder) permit(agent *Agent, names []string) bool {
	if names == nil || slices.Contains(names, "*") {
		return true
	}
	open := map[string]bool{} // tools that are named without a pattern
	for _, name := range names {
		use, err := f.use(name)
		if err != nil {
			f.Note("%s: %.200q is left out of the tools: %v", agent.Path, name, err)
			continue
		}
		agent.Tools = append(agent.Tools, use.tools...)
		if use.rule != "" {
			agent.Only = append(agent.Only, use.rule)
		} else {
			open[use.tools[0]] = true
		}
	}
	if len(agent.Tools) == 0 {
		f.Note("%s is left out: none of the tools that it names is here", agent.Path)
		return false
	}
	agent.Only = sorted(slices.DeleteFunc(agent.Only, func(rule string) bool { return open[toolOf(rule)] }))
	agent.Tools = sorted(agent.Tools)
	return true
}

// forbid reads what the agent may not use. Where a pattern cannot be read it may not use
// the tool at all.
func (f *finder) forbid(agent *Agent, names []string) {
	for _, name := range names {
		use, err := f.use(name)
		switch {
		case err != nil && use.tools == nil:
			f.Note("%s: %v", agent.Path, err)
		case err != nil:
			f.Note("%s: %.200q forbids the whole tool: %v", agent.Path, name, err)
			agent.Without = append(agent.Without, use.tools...)
		case use.rule != "":
			agent.Deny = append(agent.Deny, use.rule)
		default:
			agent.Without = append(agent.Without, use.tools...)
		}
	}
	agent.Without, agent.Deny = sorted(agent.Without), sorted(agent.Deny)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// use is a tool that a file names.
type use struct {
	tools []string // ours; nil where there is none
	rule  string   // for which calls of the first; "" for all
}

var errOpenBracket = errors.New("the bracket is not closed")

// use reads one name, with the pattern that may stand in brackets behind it. Other
// programs write what begins a command with :* at its end.
func (f *finder) use(entry string) (use, error) {
	name, pattern, narrow := strings.Cut(entry, "(")
	var u use
	for _, tool := range toolNames(name) {
		if strings.HasPrefix(tool, "mcp__") || tool == "*" || f.places.KnownTool == nil || f.places.KnownTool(tool) {
			u.tools = append(u.tools, tool)
		}
	}
	if u.tools == nil {
		return u, fmt.Errorf("there is no tool %.60q", name)
	}
	pattern, closed := strings.CutSuffix(pattern, ")")
	pattern = strings.TrimSpace(pattern)
	switch {
	case !narrow, closed && pattern == "*":
		return u, nil
	case !closed:
		return u, errOpenBracket
	}
	if start, ok := strings.CutSuffix(pattern, ":*"); ok && u.tools[0] == "bash" {
		pattern = start + " *"
	}
	u.rule = u.tools[0] + "(" + pattern + ")"
	if f.places.CheckRule != nil {
		return u, f.places.CheckRule(u.rule)
	}
	return u, nil
}

// toolOf is the tool that a rule is about.
func toolOf(rule string) string {
	name, _, _ := strings.Cut(rule, "(")
	return name
}

// Uses are the tools that it may use, as people are shown them: with patterns where it
// may use one for some calls only.
func (a Agent) Uses() []string {
	var shown []string
	for _, tool := range a.Tools {
		rules := slices.DeleteFunc(slices.Clone(a.Only), func(rule string) bool { return toolOf(rule) != tool })
		if len(rules) == 0 {
			rules = []string{tool}
		}
		shown = append(shown, rules...)
	}
	return shown
}
