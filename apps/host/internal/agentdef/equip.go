package agentdef

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

// equip reads the model and the tools. It returns false if a tool does not exist or a tool
// field is invalid.
func (f *finder) equip(agent *Agent, d definition.Document) bool {
	if model := text(d.Fields["model"]); model != "" && model != "inherit" {
		if agent.Model = model; f.places.KnownModel != nil && !f.places.KnownModel(model) {
			f.Note("%s: there is no model %.60q on this host; the model of the calling session is used", at(agent.Path, d, "model", model), model)
			agent.Model = ""
		}
	}
	for _, field := range []string{"tools", "disallowedTools"} {
		if !readable(d.Fields[field]) {
			f.Note("%s is left out: %s is neither a string nor a list of names", at(agent.Path, d, field, ""), field)
			return false
		}
		for _, name := range list(d.Fields[field]) {
			if _, err := f.use(name); errors.Is(err, errNoTool) {
				f.Note("%s: the agent is left out: %s: %v", at(agent.Path, d, field, name), field, err)
				return false
			}
		}
	}
	if !f.limit(agent, d) {
		return false
	}
	f.forbid(agent, d, list(d.Fields["disallowedTools"]))
	return f.permit(agent, d, list(d.Fields["tools"]))
}

// at returns the position of an item of a field, as FILE:LINE.
func at(path string, d definition.Document, field, item string) string {
	if line := d.Line(field, item); line > 0 {
		return fmt.Sprintf("%s:%d", path, line)
	}
	return path
}

func readable(value any) bool {
	switch value.(type) {
	case nil, string, []any:
		return true
	}
	return false
}

// permit reads what the agent may use. A tool named with patterns may be used for matching
// calls, and one named without for all. Without a list the agent may use all tools, with an
// empty list none. It returns false if the list names tools and none of them exists here.
func (f *finder) permit(agent *Agent, d definition.Document, names []string) bool {
	if names == nil || slices.Contains(names, "*") {
		return true
	}
	agent.Tools = []string{}
	open := map[string]bool{} // tools named without a pattern
	for _, name := range names {
		use, err := f.use(name)
		if err != nil {
			f.Note("%s: %.200q is left out of the tools: %v", at(agent.Path, d, "tools", name), name, err)
			continue
		}
		agent.Tools = append(agent.Tools, use.tools...)
		if use.rule != "" {
			agent.Only = append(agent.Only, use.rule)
		} else {
			open[use.tools[0]] = true
		}
	}
	if len(names) > 0 && len(agent.Tools) == 0 {
		f.Note("%s is left out: this host has none of its tools", at(agent.Path, d, "tools", ""))
		return false
	}
	agent.Only = sorted(slices.DeleteFunc(agent.Only, func(rule string) bool { return open[toolOf(rule)] }))
	agent.Tools = sorted(agent.Tools)
	return true
}

// forbid reads what the agent may not use. If a pattern is invalid, the whole tool is
// forbidden.
func (f *finder) forbid(agent *Agent, d definition.Document, names []string) {
	for _, name := range names {
		use, err := f.use(name)
		switch {
		case err != nil && use.tools == nil:
			f.Note("%s: %v", at(agent.Path, d, "disallowedTools", name), err)
		case err != nil:
			f.Note("%s: %.200q forbids the whole tool: %v", at(agent.Path, d, "disallowedTools", name), name, err)
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

// use is one tool named by a file.
type use struct {
	tools []string // scorel's tools; nil if there are none
	rule  string   // limits the first tool to certain calls; "" means all
}

var (
	errOpenBracket = errors.New("the parenthesis is not closed")
	errForeign     = errors.New("scorel has no such tool")
	errNoTool      = errors.New("there is no tool")
)

// use parses one name and the pattern that may follow in parentheses. Other programs mark
// the prefix of a command with a trailing :*.
func (f *finder) use(entry string) (use, error) {
	name, pattern, narrow := strings.Cut(entry, "(")
	var u use
	for _, tool := range toolNames(name) {
		if strings.HasPrefix(tool, "mcp__") || tool == "*" || f.places.KnownTool == nil || f.places.KnownTool(tool) {
			u.tools = append(u.tools, tool)
		}
	}
	switch {
	case u.tools == nil && slices.Contains(foreign(), name):
		return u, errForeign
	case u.tools == nil:
		return u, fmt.Errorf("%w %.60q", errNoTool, name)
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

// toolOf returns the tool of a rule.
func toolOf(rule string) string {
	name, _, _ := strings.Cut(rule, "(")
	return name
}

// Uses returns the tools it may use, for display: with patterns if a tool is limited to
// certain calls.
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
