package gate

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxMatches bounds the names that a pattern of the shell is looked through for.
const maxMatches = 4096

// located returns where a path of a command leads from dir. Unlike a tool, a program
// does not shorten a path before it goes there: `..` behind a link is above what the
// link leads to.
func (p Policy) located(dir, path string) string {
	path = p.spelled(dir, path)
	if p.Resolve != nil {
		return p.Resolve(path)
	}
	return filepath.Clean(path)
}

// spelled is a path with the folder it starts from and the home folder, and otherwise
// as it was written.
func (p Policy) spelled(dir, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = p.Home + path[1:]
	}
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return strings.TrimSuffix(dir, "/") + "/" + path
}

// leads returns where a word of a command leads: for a pattern to every name that it may
// stand for, and some that it does not. known is false when not all of it can be told.
func (p Policy) leads(dir string, w word) (paths []string, known bool) {
	if w.kind != globWord || p.List == nil {
		return []string{p.located(dir, w.text)}, w.kind <= globWord
	}
	full := p.spelled(dir, w.text)
	if !filepath.IsAbs(full) {
		return []string{full}, false
	}
	folders := []string{strings.TrimSuffix(full, w.text)}
	if folders[0] == full || filepath.IsAbs(w.text) { // the home folder took the place of ~
		folders = []string{"/"}
	} else {
		full = w.text
	}
	for i, part := range strings.Split(full, "/") {
		folders, known = p.below(folders, part)
		if !known || i == 0 && slices.ContainsFunc(folders, isOption) {
			return []string{p.located(dir, w.text)}, false
		}
	}
	for _, folder := range folders {
		paths = append(paths, p.located("", folder))
	}
	return append(paths, p.located(dir, w.text)), true // what fits no name is left as it is
}

// isOption tells whether a file has a name that a command takes for an option.
func isOption(file string) bool { return strings.HasPrefix(path.Base(file), "-") }

// below returns what one part of a pattern stands for in each of the folders.
func (p Policy) below(folders []string, part string) (paths []string, known bool) {
	for _, folder := range folders {
		names := []string{part}
		if strings.ContainsAny(part, `*?[{\`) {
			there, complete := p.List(p.located("", folder))
			if !complete {
				return nil, false
			}
			names = fitting(part, there)
		}
		for _, name := range names {
			paths = append(paths, strings.TrimSuffix(folder, "/")+"/"+name)
		}
		if len(paths) > maxMatches {
			return nil, false
		}
	}
	return paths, true
}

// fitting are the names that a part of a pattern may stand for. What only a shell reads
// as it does, such as a list in brackets, is taken for anything.
func fitting(part string, names []string) []string {
	pattern := strings.ReplaceAll(part, `\`, "?")
	if i := strings.IndexAny(pattern, "[{"); i >= 0 {
		pattern = pattern[:i] + "*"
	}
	hidden := strings.HasPrefix(part, ".")
	if hidden {
		names = append(names, "..")
	}
	var fit []string
	for _, name := range names {
		if matched, err := path.Match(pattern, name); err == nil && matched && (hidden || !strings.HasPrefix(name, ".")) {
			fit = append(fit, name)
		}
	}
	return fit
}

// goesThroughLinks tells whether a command that reads follows the links that it finds
// below what it names: it then reaches what no word of it says.
func goesThroughLinks(c command) bool {
	args := c.plain()[1:]
	switch c.words[0].text {
	case "grep", "egrep", "fgrep":
		return has(args, 'R', "--dereference-recursive")
	case "rg":
		return has(args, 'L', "--follow")
	case "find":
		return slices.Contains(args, "-L") || slices.Contains(args, "-follow")
	case "tree":
		return has(args, 'l')
	case "ls", "du":
		return has(args, 'L', "--dereference")
	case "diff":
		return has(args, 'r', "--recursive")
	}
	return false
}
