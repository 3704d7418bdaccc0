package permission

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/scorel/scorel/apps/host/internal/pathname"
)

// Subjects of tools: the argument that the pattern of a rule is matched against.
const (
	subjectCommand = "command"
	subjectPath    = "path"
	subjectURL     = "url"
)

// maxRule bounds the text of one rule, in bytes.
const maxRule = 500

// Tools maps the tools that rules may name to the argument that their patterns are matched
// against: "command", "path", "url" or "".
type Tools map[string]string

// Rule is one permission rule: a tool, and the calls of it that it matches. ParseRule
// creates it.
type Rule struct {
	text    string
	tool    string   // ends with * for all tools of an MCP server
	subject string   // subject of the tool
	pattern string   // "" matches every call
	words   []string // pattern of a command, split into words
}

// String returns the rule as written.
func (r Rule) String() string { return r.text }

// Rules groups rules by their action. Deny beats Ask, and Ask beats Allow.
type Rules struct{ Allow, Ask, Deny []Rule }

// With returns the rules of r and more.
func (r Rules) With(more Rules) Rules {
	return Rules{
		Allow: slices.Concat(r.Allow, more.Allow), Ask: slices.Concat(r.Ask, more.Ask), Deny: slices.Concat(r.Deny, more.Deny),
	}
}

var (
	ruleForm = regexp.MustCompile(`^([A-Za-z0-9_]+\*?)(?:\((.*)\))?$`)
	hostForm = regexp.MustCompile(`^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
)

// ParseRule parses a rule: a tool (bash), a tool with a pattern (bash(git status *),
// write_file(src/**), fetch_url(domain:example.com)), or a tool of an MCP server
// (mcp__server__tool, mcp__server__*). The error says what to write instead.
func ParseRule(text string, tools Tools) (Rule, error) {
	if len(text) > maxRule {
		return Rule{}, fmt.Errorf("the rule has %d bytes, the limit is %d: write a shorter one with * for the parts that vary", len(text), maxRule)
	}
	parts := ruleForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Rule{}, fmt.Errorf("the rule %q is not of the form tool or tool(pattern): write for example bash(git status *) or write_file(src/**)", text)
	}
	r := Rule{text: parts[0], tool: parts[1], pattern: strings.TrimSpace(parts[2])}
	bare := !strings.Contains(parts[0], "(")
	if strings.HasPrefix(r.tool, "mcp__") {
		return r, r.checkMCP(bare)
	}
	subject, known := tools[r.tool]
	switch {
	case !known:
		return Rule{}, fmt.Errorf("the rule %q names an unknown tool: this host has %s, and mcp__server__tool", text, strings.Join(tools.names(), ", "))
	case bare:
	case r.pattern == "":
		return Rule{}, fmt.Errorf("the rule %q has an empty pattern: write %s alone to match every call", text, r.tool)
	case r.pattern == "*":
		r.pattern = ""
	}
	r.subject = subject
	if r.pattern == "" {
		return r, nil
	}
	if err := r.compile(); err != nil {
		return Rule{}, fmt.Errorf("the rule %q %w", text, err)
	}
	return r, nil
}

// ParseRules parses a list of rules. The error names the first invalid one.
func ParseRules(texts []string, tools Tools) ([]Rule, error) {
	rules := make([]Rule, 0, len(texts))
	for _, text := range texts {
		r, err := ParseRule(text, tools)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (t Tools) names() []string {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r Rule) checkMCP(bare bool) error {
	parts := strings.SplitN(strings.TrimSuffix(r.tool, "*"), "__", 3)
	if !bare || len(parts) != 3 || parts[1] == "" || parts[2] == "" && !strings.HasSuffix(r.tool, "__*") {
		return fmt.Errorf("the rule %q is not of the form mcp__server__tool: write that without a pattern, or mcp__server__* for every tool of the server", r.text)
	}
	return nil
}

func (r *Rule) compile() error {
	switch r.subject {
	case subjectCommand:
		if strings.ContainsAny(r.pattern, "'\"`\\$;&|<>()\n") {
			return errors.New("contains quotes or operators: write the plain words of one command, with * for a word and a trailing * for any further words")
		}
		r.words = strings.Fields(r.pattern)
		if r.words[0] == "*" {
			return errors.New("begins with *: write the command's name first, or only the tool to match every command")
		}
	case subjectPath:
		if !doublestar.ValidatePattern(r.pattern) || strings.ContainsRune(r.pattern, '\\') {
			return errors.New("has an invalid path pattern: write for example src/** or *.md")
		}
		if pathname.ManyChoices(r.pattern) {
			return errors.New("has too many lists in braces: write a rule for each")
		}
		if slices.Contains(strings.Split(r.pattern, "/"), "..") {
			return errors.New("contains ..: write an absolute path for files outside the project")
		}
	case subjectURL:
		host, ok := strings.CutPrefix(r.pattern, "domain:")
		if !ok || !hostForm.MatchString(host) {
			return errors.New("names no domain: write domain:example.com, or domain:*.example.com for all below it")
		}
	default:
		return fmt.Errorf("has a pattern, but %s does not accept one: write %s alone", r.tool, r.tool)
	}
	return nil
}

// about reports whether the rule applies to a tool.
func (r Rule) about(tool string) bool {
	if prefix, all := strings.CutSuffix(r.tool, "*"); all {
		return strings.HasPrefix(tool, prefix)
	}
	return r.tool == tool
}

// DeniesAll reports whether a rule denies every tool whose name begins so, such as mcp__server__.
func (p Policy) DeniesAll(beginning string) bool {
	return slices.ContainsFunc(p.Rules.Deny, func(r Rule) bool {
		prefix, all := strings.CutSuffix(r.tool, "*")
		return all && strings.HasPrefix(beginning, prefix)
	})
}

// matchesWords matches the words of one command. A trailing * matches any further words,
// any other * any part of one word.
func (r Rule) matchesWords(words []string) bool {
	if r.pattern == "" {
		return true
	}
	for i, want := range r.words {
		if want == "*" && i == len(r.words)-1 {
			return true
		}
		if i >= len(words) || !matchWord(want, words[i]) {
			return false
		}
	}
	return len(words) == len(r.words)
}

func matchWord(pattern, word string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == word
	}
	if !strings.HasPrefix(word, first) {
		return false
	}
	word = word[len(first):]
	pieces := strings.Split(rest, "*")
	for _, piece := range pieces[:len(pieces)-1] {
		i := strings.Index(word, piece)
		if i < 0 {
			return false
		}
		word = word[i+len(piece):]
	}
	return strings.HasSuffix(word, pieces[len(pieces)-1])
}

// matchesPath matches an absolute path. A relative pattern starts at the project folder;
// one without a slash matches at any depth.
func (r Rule) matchesPath(p Policy, full string) bool {
	if r.pattern == "" {
		return true
	}
	pattern, dir, home := r.pattern, p.Dir, p.Home
	if p.FoldsCase {
		pattern, dir, home, full = strings.ToLower(pattern), strings.ToLower(dir), strings.ToLower(home), strings.ToLower(full)
	}
	switch {
	case strings.HasPrefix(pattern, "~/"):
		pattern = home + pattern[1:]
	case strings.HasPrefix(pattern, "/"):
	default:
		if !within(dir, full) {
			return false
		}
		full = strings.TrimPrefix(strings.TrimPrefix(full, dir), "/")
		if !strings.Contains(pattern, "/") {
			full = path.Base(full)
		}
	}
	ok, err := doublestar.Match(path.Clean(pattern), full)
	return ok && err == nil
}

// matchesHost matches the host of an address.
func (r Rule) matchesHost(host string) bool {
	if r.pattern == "" {
		return true
	}
	want := strings.TrimPrefix(r.pattern, "domain:")
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if below, ok := strings.CutPrefix(want, "*"); ok {
		return host != "" && strings.HasSuffix(host, below)
	}
	return host != "" && host == want
}

// Concerns reports whether one of the rules applies to a tool.
func Concerns(rules []Rule, tool string) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.about(tool) })
}
