package permission

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxMatches bounds how many names a shell pattern is matched against.
const maxMatches = 4096

// ownFolder matches the system's names for the current folder and the root folder of a
// process.
var ownFolder = regexp.MustCompile(`^/+(?:\./+)*(?:proc/+(?:\./+)*(?:self|thread-self)|dev/+fd/+\.\.)/+(?:task/+[0-9]+/+)?(?:\./+)*(cwd|root)(?:$|/)`)

// located returns where a path of a command leads from dir. Unlike a tool, a program does
// not clean the path first: ".." after a link is the parent of the link's target.
func (p Policy) located(dir, path string) string {
	path = p.spelled(dir, path)
	if p.Resolve != nil {
		return p.Resolve(path)
	}
	return filepath.Clean(path)
}

// spelled joins path to its starting folder or the home folder and otherwise leaves it as
// written.
func (p Policy) spelled(dir, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = p.Home + path[1:]
	}
	if found := ownFolder.FindStringSubmatch(path); found != nil {
		switch rest := path[len(found[0]):]; {
		case found[1] == "root":
			return "/" + rest
		case dir != "":
			return dir + "/" + rest
		}
	}
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return strings.TrimSuffix(dir, "/") + "/" + path
}

// leads returns where a word of a command leads. A pattern leads to every name that it may
// match, and possibly to some that it does not. known is false if the result may be
// incomplete.
func (p Policy) leads(dir string, w word) (paths []string, known bool) {
	if w.kind != globWord || p.List == nil {
		return []string{p.located(dir, w.text)}, w.kind <= globWord
	}
	full := p.spelled(dir, w.text)
	if !filepath.IsAbs(full) {
		return []string{full}, false
	}
	folders := []string{strings.TrimSuffix(full, w.text)}
	if folders[0] == full || filepath.IsAbs(w.text) { // the home folder replaced ~
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
	return append(paths, p.located(dir, w.text)), true // a pattern without a match stays as it is
}

// isOption reports whether a command would mistake the file's name for an option.
func isOption(file string) bool { return strings.HasPrefix(path.Base(file), "-") }

// below expands one element of a pattern in each of the folders.
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

// fitting returns the names that an element of a pattern may match. Syntax that only a
// shell interprets, such as a bracket expression, is assumed to match anything.
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

// goesThroughLinks reports whether a command that reads follows the links it finds below
// the paths it names. It can then reach files that none of its words mention.
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
