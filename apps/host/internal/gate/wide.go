package gate

import (
	"slices"
	"strings"
)

// Wide tells whether a rule, as one that allows, would let more through than a mode
// does that asks: every call of a tool, any program that is handed to a command, what
// deletes, or files outside of the project. Only the host's own machine adds such a
// rule. "" says that it is not wide, else the text says why it is.
func (r Rule) Wide() string {
	switch {
	case strings.HasPrefix(r.tool, "mcp__"):
		return ""
	case r.pattern == "":
		return "allows every call of " + r.tool
	case r.subject == subjectCommand:
		return r.wideCommand()
	case r.subject == subjectPath && (strings.HasPrefix(r.pattern, "/") || strings.HasPrefix(r.pattern, "~")):
		return "allows files outside of the project"
	}
	return ""
}

func (r Rule) wideCommand() string {
	name := base(r.words[0])
	switch {
	case strings.Contains(r.words[0], "*"):
		return "allows commands of other names"
	case slices.Contains(shells, name), slices.Contains(wrappers, name), slices.Contains(interpreters, name), slices.Contains(otherRights, name):
		return "allows " + name + " to run what it is given"
	case slices.Contains(deletes, name):
		return "allows to delete"
	}
	for _, u := range unproposed {
		if mayBegin(r.words, strings.Fields(u)) {
			return "allows " + u + " to run what it is given"
		}
	}
	return ""
}

// mayBegin tells whether a command that the rule is about can begin with these words.
func mayBegin(rule, words []string) bool {
	for i, word := range words {
		switch {
		case i >= len(rule):
			return false
		case rule[i] == "*" && i == len(rule)-1:
			return true
		case !matchWord(rule[i], word):
			return false
		}
	}
	return true
}
