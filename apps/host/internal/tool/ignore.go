package tool

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnoreFile bounds how much of a .gitignore is read, in bytes.
const maxIgnoreFile = 1 << 20

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	base     string // folder of the file relative to the top; "" is the top
	pattern  string // in doublestar syntax
	negate   bool
	dirOnly  bool
	anchored bool // matches the path from base instead of the name
}

// ignoreRules are in file order: the last match decides.
type ignoreRules []ignoreRule

// parseIgnore parses a .gitignore in the folder base.
func parseIgnore(base, text string) ignoreRules {
	var rules ignoreRules
	for line := range strings.Lines(text) {
		if rule, ok := parseIgnoreLine(strings.TrimRight(line, "\r\n")); ok {
			rule.base = base
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseIgnoreLine(line string) (rule ignoreRule, ok bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule, false
	}
	if line[0] == '!' {
		rule.negate, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		rule.dirOnly, line = true, strings.TrimSuffix(line, "/")
	}
	if strings.Contains(line, "/") {
		rule.anchored, line = true, strings.TrimPrefix(line, "/")
	}
	if line == "" {
		return rule, false
	}
	// Braces are literal in a .gitignore, and "x/**" matches the content of x but not x
	// itself.
	rule.pattern = plainBraces(line)
	if strings.HasSuffix(rule.pattern, "/**") {
		rule.pattern += "/*"
	}
	return rule, true
}

// plainBraces escapes braces that are not escaped yet.
func plainBraces(pattern string) string {
	var b strings.Builder
	escaped := false
	for i := range len(pattern) {
		c := pattern[i]
		if !escaped && (c == '{' || c == '}') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		escaped = c == '\\' && !escaped
	}
	return b.String()
}

// trimBlanks removes trailing spaces, except one after a backslash.
func trimBlanks(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if len(trimmed) < len(line) && strings.HasSuffix(trimmed, `\`) {
		return trimmed + " "
	}
	return trimmed
}

// ignored reports whether the rules hide a path, which is relative to the top and uses
// slashes. Parent folders must have been checked before.
func (rules ignoreRules) ignored(rel string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(rel, isDir) {
			return !rules[i].negate
		}
	}
	return false
}

func (r ignoreRule) matches(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.base != "" {
		inside, found := strings.CutPrefix(rel, r.base+"/")
		if !found {
			return false
		}
		rel = inside
	}
	if !r.anchored {
		rel = path.Base(rel)
	}
	match, err := doublestar.Match(r.pattern, rel)
	return err == nil && match // an invalid pattern hides nothing
}

// readIgnore reads one rule file; an unreadable file has no rules.
func readIgnore(file, base string) ignoreRules { return rulesOf(openUnlinked, file, base) }

// ignoreIn reads the rules in an open folder.
func ignoreIn(folder *os.Root, base string) ignoreRules {
	return rulesOf(func(name string) (*os.File, error) { return fileIn(folder, name) }, ".gitignore", base)
}

func rulesOf(open func(string) (*os.File, error), file, base string) ignoreRules {
	f, err := open(file)
	if err != nil || regular(f) != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return parseIgnore(base, string(text))
}

// rulesAbove returns the top of the repository that contains root, and the rules above root
// that apply to it. Outside of a repository the top is root.
func rulesAbove(root string) (top string, rules ignoreRules) {
	top = repositoryOf(root)
	if top == "" {
		return root, nil
	}
	rules = readIgnore(filepath.Join(top, ".git", "info", "exclude"), "")
	rel, err := filepath.Rel(top, root)
	if err != nil || rel == "." {
		return top, rules
	}
	base := ""
	for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
		rules = append(rules, readIgnore(filepath.Join(top, base, ".gitignore"), base)...)
		base = path.Join(base, name)
	}
	return top, rules
}

func repositoryOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
