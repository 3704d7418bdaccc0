package permission

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells run a script that they are given.
var shells = []string{"bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "busybox"}

// wrappers run another command that they are given. That command is judged too, and no rule
// is ever proposed for a wrapper.
var wrappers = []string{
	"env", "nohup", "time", "timeout", "nice", "ionice", "xargs", "sudo", "doas", "su", "command", "builtin", "exec", "stdbuf", "setsid",
	"watch", "strace", "ltrace", "chroot", "unshare", "nsenter", "flock", "parallel", "find", "script", "ssh", "setarch", "taskset",
	"runuser", "pkexec", "coproc", "trap", "chrt", "prlimit", "systemd-run", "entr", "fd", "npx", "bunx", "pnpx", "caffeinate",
}

// interpreters run a program that they are given. No rule is proposed for them.
var interpreters = []string{
	"python", "python2", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "awk", "gawk", "mawk", "tclsh", "osascript",
	"Rscript", "julia", "ghci", "irb", "java", "tsx", "ts-node", "expect", "gdb", "sed", "ed", "ex", "vi", "vim", "emacs", "nano", "make-kpkg",
	"eval", "source", ".", "alias", "enable", "hash", "export", "unset", "set", "shopt", "scorel", "tee", "dd", "curl", "wget", "nc", "ncat",
	"socat", "telnet", "scp", "sftp", "rsync", "docker-machine", "at", "crontab", "screen", "tmux", "powershell", "pwsh", "cmd",
}

// maxWrapped bounds how many words of a wrapper are analyzed.
const maxWrapped = 400

var errManyWords = fmt.Errorf("it runs another command with more than %d words", maxWrapped)

// runsOther reports whether a command runs another one that it names.
func runsOther(cmd command, name string) bool {
	switch name {
	case "jobs":
		return has(cmd.plain()[1:], 'x')
	case "find":
		return slices.ContainsFunc(cmd.plain(), func(w string) bool {
			return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")
		})
	}
	return name == "busybox" || slices.Contains(wrappers, name)
}

func base(name string) string { return path.Base(name) }

// unwrap reads the command that a wrapper may run. Every suffix of the wrapper's words is
// treated as a possible command, so no option can hide one.
func (r *reader) unwrap(cmd command) {
	name := base(cmd.words[0].text)
	switch {
	case name == "eval":
		r.readInner(cmd.words[1:], "eval")
	case slices.Contains(shells, name):
		if scripts, given := scriptsOf(cmd.words[1:]); given {
			for _, w := range scripts {
				r.readInner([]word{w}, name+" -c")
			}
			return
		}
		r.readFed(cmd, name)
	case name == "source" || name == ".":
		r.readFed(cmd, name)
	}
	if cmd.wrapped || !runsOther(cmd, name) {
		return
	}
	if len(cmd.words) > maxWrapped {
		r.fail(errManyWords)
		return
	}
	r.readTexts(cmd, name)
	for i := 1; i < len(cmd.words); i++ {
		inner := command{words: cmd.words[i:], dir: cmd.dir, wrapped: true, piped: cmd.piped, origin: cmd.origin}
		inner.fed = inner.fed || name == "xargs" || name == "parallel"
		r.out.commands = append(r.out.commands, inner)
		r.unwrap(inner)
	}
}

// scriptsOf returns the words that a shell may run because of its option -c. given is false
// without that option. Options may follow it, and the first operand is the script; the value
// of -o could be one, because not every shell takes a value there.
func scriptsOf(args []word) (scripts []word, given bool) {
	values := 0 // of options, which may come before the script
	for i, w := range args {
		text := w.text
		option := len(text) > 1 && (text[0] == '-' || text[0] == '+')
		switch {
		case strings.HasPrefix(text, "--command="): // fish
			return append(scripts, word{text: text[len("--command="):], kind: w.kind}), true
		case !given:
			given = text == "--command" || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "c")
			if _, attached, _ := strings.Cut(text, "c"); given && strings.ContainsAny(attached, " \t\n;|&") {
				scripts = append(scripts, word{text: attached, kind: w.kind}) // fish again
			}
		case text == "--" || text == "-": // values still come first
			option = false
			if values == 0 {
				return append(scripts, args[i+1:min(i+2, len(args))]...), true
			}
		case !option:
			if scripts = append(scripts, w); values == 0 {
				return scripts, true
			}
			values--
		}
		if given && option {
			values += valuesOf(text)
		}
	}
	return scripts, given
}

// valuesOf returns how many of the following words may be values of an option of a shell.
func valuesOf(option string) int {
	switch {
	case option == "--rcfile" || option == "--init-file":
		return 1
	case strings.HasPrefix(option, "--"):
		return 0
	}
	return strings.Count(option, "o") + strings.Count(option, "O")
}

// readInner parses a text that a command runs as a script.
func (r *reader) readInner(words []word, by string) {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		if w.kind > globWord {
			r.opaque("the script of " + by + " is known only when it runs")
		}
		texts = append(texts, w.text)
	}
	text := strings.Join(texts, " ")
	if r.out.read += len(text) + 1; r.out.read > maxInner {
		r.fail(errInner)
		return
	}
	inner := *r
	inner.depth, inner.inner, inner.fed, inner.vars = r.depth+1, true, nil, maps.Clone(r.vars)
	inner.parse(text)
}

// feed records a text that a shell may read from its input.
func (r *reader) feed(w word) {
	r.fed = append(slices.Clone(r.fed), w)
	r.from.fetched = r.from.fetched || w.fetched
}

// readFed parses the script that a shell reads from its input. If the shell may read a file
// instead, the text may not be a script, and counts only if it parses as one.
func (r *reader) readFed(cmd command, name string) {
	certain := len(operands(cmd.plain()[1:])) == 0
	for _, w := range r.fed {
		if r.out.err == nil && (certain || isScript(w.text)) {
			r.readInner([]word{w}, name)
		}
	}
}

func isScript(text string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	return err == nil && len(text) <= maxScript
}

// callbacks run a word of several words as a script.
var callbacks = []string{"compgen", "complete", "mapfile", "readarray"}

// readEvaluated reads what a builtin that changes the meaning of words may run itself: a
// callback, and a substitution in the subscript of a variable.
func (r *reader) readEvaluated(name string, args []word) {
	for _, w := range args {
		quoted := word{text: `: "` + w.text + `"`, kind: w.kind}
		switch {
		case r.out.err != nil:
		case slices.Contains(callbacks, name) && strings.ContainsAny(w.text, " \t\n;&|") && isScript(w.text):
			r.readInner([]word{w}, name)
		case (strings.Contains(w.text, "$(") || strings.Contains(w.text, "`")) && isScript(quoted.text):
			r.readInner([]word{quoted}, name)
		}
	}
}

// textRunners pass a text to a shell, or split it and run it.
var textRunners = []string{"env", "watch", "script", "flock", "trap", "parallel", "su", "runuser"}

// readTexts parses the words of a wrapper that it may run as a script of several words: env
// -S 'rm x', watch 'rm x'.
func (r *reader) readTexts(cmd command, name string) {
	if !slices.Contains(textRunners, name) {
		return
	}
	for _, w := range cmd.words[1:] {
		text := w.text
		if name == "env" { // only -S, which may follow other options
			_, text, _ = strings.Cut(strings.Replace(text, "--split-string=", "-S", 1), "S")
			if !strings.HasPrefix(w.text, "-") {
				text = w.text
			}
		}
		if r.out.err == nil && strings.ContainsAny(text, " \t\n;&|") && isScript(text) {
			r.readInner([]word{{text: text, kind: w.kind}}, name)
		}
	}
}
