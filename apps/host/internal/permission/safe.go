package permission

import (
	"regexp"
	"slices"
	"strings"
)

// readers only read, whatever their options are.
var readers = []string{
	"ls", "pwd", "cat", "echo", "wc", "head", "tail", "nl", "cut", "tr", "whoami", "id", "uname", "true", "false", "basename", "dirname",
	"realpath", "readlink", "stat", "du", "df", "which", "type", "expr", "seq", "rev", "tac", "paste", "comm", "cmp", "diff", "md5sum",
	"sha1sum", "sha256sum", "sha512sum", "od", "hexdump", "column", "fold", "expand", "grep", "egrep", "fgrep", "uptime", "nproc", "arch",
	"groups", "cd", "strings",
}

// wordsOnly take arguments that are not paths.
var wordsOnly = []string{
	"echo", "printf", "tr", "expr", "seq", "basename", "dirname", "date", "which", "type", "true", "false",
	"test", "[", "exit", "return", "wait", "sleep", "break", "continue", "shift", ":", "pwd", "umask",
}

// printers print something or nothing, whatever their arguments are.
var printers = []string{
	"echo", "true", "false", "pwd", "whoami", "id", "groups", "uname", "arch", "nproc", "uptime", "basename", "dirname", "seq", "sleep",
}

var sedRange = regexp.MustCompile(`^[0-9]+(,[0-9]+)?p$`)

// onlyReads reports whether a command changes nothing and runs nothing else. It knows few
// commands, and the options that each of them may have.
func onlyReads(c command) bool {
	name := c.words[0].text
	if c.assigns || c.wrapped || c.words[0].kind != literalWord {
		return false
	}
	args := c.plain()[1:]
	if slices.Contains(readers, name) {
		for _, w := range c.words {
			if w.kind > globWord {
				return false
			}
		}
		return !listsNames(name, args)
	}
	if !c.literal() { // a file's name could be an option
		return false
	}
	switch name {
	case "git":
		return gitReads(args)
	case "find":
		return !slices.ContainsFunc(args, func(a string) bool {
			return slices.Contains([]string{"-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}, a) ||
				strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") || strings.HasPrefix(a, "-files0")
		})
	case "rg":
		return !has(args, 'z', "--pre", "--hostname-bin", "--search-zip")
	case "base64":
		return !has(args, 'o', "--output")
	case "sort":
		return !has(args, 'o', "--output", "--compress-program", "--temporary-directory", "--files0-from") && !has(args, 'T')
	case "tree":
		return !has(args, 'o', "--output", "--fromfile", "--fromtabfile") && !has(args, 'R')
	case "file":
		return !has(args, 'C', "--compile", "--files-from") && !has(args, 'f')
	case "uniq":
		return len(operands(args)) <= 1 && !slices.Contains(args, "--") // the second file is written to
	case "hostname":
		return len(args) == 0
	case "printf":
		return len(args) > 0 && !strings.HasPrefix(args[0], "-")
	case "date":
		return !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "+") && a != "-u" && a != "--utc" && a != "-R" })
	case "sed":
		return len(args) >= 2 && args[0] == "-n" && sedRange.MatchString(args[1]) && len(operands(args[2:])) == len(args[2:])
	}
	return false
}

// onlyPrints reports whether a command changes nothing by itself, even if it is not known what
// it prints. A redirection and the commands in its words are judged on their own.
func onlyPrints(c command) bool {
	if c.assigns || c.words[0].kind != literalWord {
		return false
	}
	args := c.words[1:]
	switch name := c.words[0].text; name {
	case "printf": // -v sets a variable, and its subscript can run commands
		return len(args) > 0 && args[0].kind == literalWord && !strings.HasPrefix(args[0].text, "-")
	case "date": // -s or a plain number sets the clock
		return c.literal() && datePrints(c.plain()[1:])
	case "hostname":
		return len(args) == 0
	default:
		return slices.Contains(printers, name)
	}
}

// datePrints reports whether date prints with these arguments. It knows few options.
func datePrints(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case strings.HasPrefix(a, "+"), slices.Contains([]string{"-u", "--utc", "-R", "--rfc-email", "-I"}, a):
		case strings.HasPrefix(a, "--date="), strings.HasPrefix(a, "--iso-8601"), strings.HasPrefix(a, "--rfc-3339="):
		case (a == "-d" || a == "--date") && i+1 < len(args):
			i++
		default:
			return false
		}
	}
	return true
}

// has reports whether one of the options is present: the short one by itself, with a value
// or combined with others; the long one in full, abbreviated, or with a value.
func has(args []string, short byte, long ...string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "--") {
			name, _, _ := strings.Cut(a, "=")
			if len(name) > 2 && slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, name) }) {
				return true
			}
		} else if strings.HasPrefix(a, "-") && short != 0 && strings.IndexByte(a, short) > 0 {
			return true
		}
	}
	return false
}

func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
}

// gitReads recognizes the git commands that only read. An option before the command can
// change what it runs.
func gitReads(args []string) bool {
	if len(args) == 0 {
		return false
	}
	sub, args := args[0], args[1:]
	only := func(allowed ...string) bool {
		return !slices.ContainsFunc(args, func(a string) bool { return !slices.Contains(allowed, a) })
	}
	switch sub {
	case "status", "log", "diff", "show", "rev-parse", "describe", "ls-files", "ls-tree", "blame", "shortlog":
		// Differences of submodules are made by another git, with the settings there.
		return !has(args, 0, "--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--exec", "--submodule")
	case "branch":
		return only("--list", "-l", "-a", "-r", "-v", "-vv", "--all", "--remotes", "--verbose", "--show-current")
	case "remote":
		return only("-v", "--verbose")
	case "tag":
		return only("-l", "--list")
	case "stash", "worktree":
		return len(args) == 1 && args[0] == "list"
	}
	return false
}

// staysInside reports whether everything that a command names is in the project and none
// of it looks like a secret.
func (p Policy) staysInside(c command) bool {
	name := c.words[0].text
	if c.dir == "" || !within(p.Dir, p.located(c.dir, ".")) || slices.ContainsFunc(p.Private, func(f string) bool { return within(p.Dir, f) }) {
		return false
	}
	if name == "cd" && len(c.words) != 2 {
		return false
	}
	if slices.Contains(wordsOnly, name) {
		return true
	}
	if !p.PrivateHidden && goesThroughLinks(c) {
		return false
	}
	for _, w := range p.named(c) {
		paths, known := p.leads(c.dir, w)
		if !known || slices.ContainsFunc(paths, func(full string) bool { return !within(p.Dir, full) || secret(full) }) {
			return false
		}
	}
	return true
}

// named returns the words of a command that can be paths, as far as that is possible
// without knowing its options.
func (p Policy) named(c command) []word {
	var paths []word
	args := c.words[1:]
	if texts := c.plain()[1:]; slices.Contains([]string{"grep", "egrep", "fgrep", "rg"}, c.words[0].text) && !has(texts, 'e', "--regexp") && !has(texts, 'f', "--file") {
		if i := slices.IndexFunc(texts, func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
			args = slices.Delete(slices.Clone(args), i, i+1) // the first is the search pattern
		}
	}
	if embedsPrograms(base(c.words[0].text)) {
		programs, _ := programOf(c.plain()[1:], "efvFilm")
		args = slices.DeleteFunc(slices.Clone(args), func(w word) bool { return slices.Contains(programs, w.text) })
	}
	ended := false
	for _, w := range args {
		if ended || !strings.HasPrefix(w.text, "-") {
			paths = append(paths, w)
			continue
		}
		ended = w.text == "--"
		for _, value := range optionValues(w.text) {
			paths = append(paths, word{text: value, kind: w.kind})
		}
	}
	return paths
}

// optionValues returns the parts of an option that can be a path: after =, or after any
// letter of a short option, since it is unknown which letters take a value.
func optionValues(option string) []string {
	if _, value, found := strings.Cut(option, "="); found {
		return []string{value}
	}
	if i := strings.IndexAny(option, "/~."); i > 0 {
		return []string{option[i:]} // -f/etc/passwd
	}
	if strings.HasPrefix(option, "--") {
		return nil
	}
	var values []string
	for i := 2; i < min(len(option), 32); i++ { // -flink
		values = append(values, option[i:])
	}
	return values
}

var secretName = regexp.MustCompile(`(?i)(^|/)(\.env(\.[^/]*)?|id_(rsa|ed25519|ecdsa|dsa)[^/]*|[^/]*\.(pem|key|p12|pfx)|\.netrc|\.npmrc|\.pypirc|credentials|\.(ssh|aws|gnupg|kube)(/.*)?|proc/.*(environ|mem|fd|root|cwd)(/.*)?)$`)

// secret reports whether a path looks like one that holds keys.
func secret(path string) bool { return secretName.MatchString(path) }

// LooksSecret reports whether a path, with slashes, looks like one that holds keys.
func LooksSecret(path string) bool { return secret(path) }
