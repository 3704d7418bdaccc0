package permission

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// textUndecided is the reason for asking about a word that cannot be known in advance.
const textUndecided = "part of it is known only when it runs"

// pathsIn returns the parts of a word that a program may interpret as a path: the word
// itself, whatever follows =, @, : or a comma, and the path of a file URL.
func pathsIn(w word) []word {
	if strings.Contains(w.text, "://") || len(w.text) > 5 && strings.EqualFold(w.text[:5], "file:") {
		if path, local := fileAddress(w.text); local {
			return []word{{text: path, kind: w.kind}}
		}
		return []word{{text: ".", kind: w.kind}} // a URL names no path, so it may be unknown
	}
	parts := []word{w}
	if len(w.text) > 4096 || strings.ContainsAny(w.text, " \t\n") {
		return parts
	}
	for i, part := range strings.FieldsFunc(w.text, func(c rune) bool { return strings.ContainsRune("=@:,", c) }) {
		if part != w.text && (i > 0 || len(w.text) > len(part)) && (part[0] == '/' || part[0] == '~' || part[0] == '.') {
			parts = append(parts, word{text: part, kind: w.kind})
		}
	}
	return parts
}

// fileAddress returns the path in a file URL of this machine.
func fileAddress(text string) (path string, local bool) {
	at := strings.Index(strings.ToLower(text), "file:")
	if at < 0 || at > 0 && !strings.ContainsAny(text[at-1:at], "=@,+") {
		return "", false
	}
	path = text[at+len("file:"):]
	if rest, found := strings.CutPrefix(path, "//"); found {
		_, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, true
}

// processPath matches files that belong, or may belong, to a process. The system-wide
// tables that follow are world-readable and contain no secrets.
var (
	processPath = regexp.MustCompile(`(^|/)proc/|^/+dev/+fd/+\.\.`)
	systemTable = regexp.MustCompile(`^/proc/(cpuinfo|meminfo|loadavg|uptime|version|stat|filesystems|diskstats|swaps|sys/[a-z_/0-9]+)$`)
)

func ofProcess(path string) bool {
	return strings.HasPrefix(path, "/") && processPath.MatchString(path) && !systemTable.MatchString(path) && !harmless.MatchString(path)
}

// listsNames reports whether a command that reads takes the names of its input files from a
// file. They can be anything.
func listsNames(name string, args []string) bool {
	switch name {
	case "wc", "du", "sort":
		return has(args, 0, "--files0-from")
	case "find":
		return hasLong(args, "-files0")
	case "strings", "gcc", "g++", "cc", "clang", "ld", "ar", "javac", "java", "javadoc", "7z", "7za", "rustc", "kotlinc", "swiftc":
		return hasLong(args, "@")
	case "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "shasum":
		return has(args, 'c', "--check")
	case "file":
		return has(args, 'f', "--files-from")
	case "tree":
		return hasLong(args, "--fromfile", "--fromtab")
	case "xargs":
		return has(args, 'a', "--arg-file")
	case "parallel":
		return true
	case "tar", "bsdtar", "gtar":
		return has(args, 'T', "--files-from") || len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "T")
	case "rsync":
		return hasLong(args, "--files-from", "--files-f")
	case "cpio", "pax":
		return true
	case "zip":
		return slices.Contains(args, "-@") || slices.Contains(args, "-i@") || hasLong(args, "-@")
	case "curl":
		return has(args, 'K', "--config")
	case "wget":
		return has(args, 'i', "--input-file")
	case "ctags", "cscope", "etags":
		return has(args, 'L') || slices.Contains(args, "-")
	}
	return false
}

// debuggers inspect other processes.
var debuggers = []string{"gdb", "lldb", "strace", "ltrace", "gcore", "bpftrace", "perf", "dtrace", "dtruss", "ptrace", "rr", "frida", "py-spy", "lsns"}

// reaches describes how a command accesses something that none of its words name, or
// returns "".
func (p Policy) reaches(c command) string {
	name, args := base(c.words[0].text), c.plain()[1:]
	switch {
	case listsNames(name, args):
		return name + " takes names from a file or its input, which can name anything"
	case name == "ps" && slices.ContainsFunc(args, psShowsEnvironment):
		return "ps shows the environment of other processes"
	case slices.Contains(debuggers, name):
		return name + " inspects other processes"
	case !p.PrivateHidden && goesThroughLinks(c):
		return name + " follows links, and no sandbox hides scorel's own keys here"
	case !p.PrivateHidden && runsCode(c, name):
		return name + " runs a program that the command line names, and no sandbox confines it"
	case name == "xargs", name == "find":
		return p.reachesByNames(c, name)
	}
	return ""
}

// psShowsEnvironment recognizes the BSD option e of ps, which has no dash.
func psShowsEnvironment(a string) bool {
	return !strings.HasPrefix(a, "-") && strings.Trim(a, "abcefghjklmnopqrstuvwxALMNOSTUVXZ") == "" && strings.Contains(a, "e") ||
		strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "E")
}

// listers print the names of files that they find; filters pass lines on unchanged.
var (
	listers = []string{"find", "ls", "rg", "fd", "git", "grep", "egrep", "fgrep"}
	filters = []string{"sort", "uniq", "head", "tail", "grep", "egrep", "fgrep", "rg", "shuf", "cat", "tac"}
)

// reachesByNames covers commands that another command runs with names that it finds: find
// -exec, and xargs after a command that lists names.
func (p Policy) reachesByNames(c command, name string) string {
	args := c.plain()[1:]
	at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") })
	if name == "xargs" {
		at = xargsCommand(args) - 1
	} else if at < 0 {
		return ""
	}
	inner := "echo"
	if at+1 < len(args) {
		inner = base(args[at+1])
	}
	switch {
	case slices.Contains(deletes, inner), slices.Contains(copying, inner), inner == "git", runs(inner):
		return inner + " works on all files that " + name + " finds"
	case slices.Contains([]string{"echo", "basename", "dirname", "printf"}, inner):
		return ""
	case !p.PrivateHidden:
		return inner + " works on everything that " + name + " finds, also through links, and no sandbox confines it"
	case name == "find":
		return ""
	}
	for i, from := range c.source {
		known := onlyReads(from) && p.staysInside(from) && slices.Contains(append(filters, listers...), from.words[0].text)
		if i == 0 {
			known = known && slices.Contains(listers, from.words[0].text)
		}
		if !known {
			return "xargs takes names from a command that can print any"
		}
	}
	if len(c.source) == 0 {
		return "xargs takes names from its input, which can be any"
	}
	return ""
}

// xargsCommand returns the index at which the command that xargs runs begins.
func xargsCommand(args []string) int {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !strings.HasPrefix(a, "-"):
			return i
		case len(a) == 2 && strings.ContainsAny(a[1:], "adEILnPs"), slices.Contains([]string{"--delimiter", "--max-args", "--max-procs", "--replace", "--max-lines", "--max-chars", "--arg-file"}, a) && a != "--replace":
			i++
		}
	}
	return len(args)
}

// undecided names the part of a command that cannot be known in advance, or returns "".
func (p Policy) undecided(c command) string {
	name := c.words[0].text
	if slices.Contains(wordsOnly, name) {
		return ""
	}
	if c.dir == "" && name != "cd" {
		return "its working folder is known only when it runs"
	}
	if slices.ContainsFunc(c.words, func(w word) bool { return w.kind > globWord }) {
		return textUndecided
	}
	if dir := p.located(c.dir, "."); !within(p.Dir, dir) && !onlyReads(c) && name != "cd" && !c.wrapped {
		return "it runs outside the project: " + dir
	}
	return ""
}
