package permission

import (
	"slices"
	"strings"
)

// textOnly is the reason for denying a call that an agent's tool rules do not cover.
const textOnly = "this agent may use %s for these calls only: %s"

// onlyFor returns the rules that limit a tool to certain calls. If there are none, every
// call is permitted.
func (p Policy) onlyFor(tool string) []Rule {
	var rules []Rule
	for _, r := range p.Only {
		if r.about(tool) {
			rules = append(rules, r)
		}
	}
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.pattern == "" }) {
		return nil
	}
	return rules
}

// covered reports whether the rules match every part of a call. Parts that are unknown
// before the call runs do not match.
func (p Policy) covered(r Request, rules []Rule) bool {
	some := func(fits func(Rule) bool) bool { return slices.ContainsFunc(rules, fits) }
	switch rules[0].subject {
	case subjectCommand:
		return p.coveredCommand(r.Command, some)
	case subjectPath:
		return len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(path string) bool {
			full := p.absolute(p.Dir, path)
			return !some(func(rule Rule) bool { return rule.matchesPath(p, full) })
		})
	case subjectURL:
		host := hostOf(r.URL)
		return some(func(rule Rule) bool { return rule.matchesHost(host) })
	}
	return false
}

// coveredCommand does the same for a command line. A wrapper needs a rule of its own, and
// no rule covers a redirection that opens a file.
func (p Policy) coveredCommand(line string, some func(func(Rule) bool) bool) bool {
	s := p.readScript(line)
	if s.err != nil || len(s.opaque) > 0 || strings.TrimSpace(line) == "" {
		return false
	}
	for _, c := range s.commands {
		if !c.wrapped && !some(c.fits) {
			return false
		}
	}
	return !slices.ContainsFunc(s.redirects, func(d redirect) bool { return !p.quiet(d) })
}

func texts(rules []Rule) string {
	var list []string
	for _, r := range rules {
		list = append(list, r.text)
	}
	return strings.Join(list, ", ")
}
