package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells run a text that they are given.
var shells = []string{"bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "busybox"}

// wrappers run another command that they are given. What they run is judged too,
// and no rule is ever proposed for them.
var wrappers = []string{
	"env", "nohup", "time", "timeout", "nice", "ionice", "xargs", "sudo", "doas", "su", "command", "builtin", "exec", "stdbuf", "setsid",
	"watch", "strace", "ltrace", "chroot", "unshare", "nsenter", "flock", "parallel", "find", "script", "ssh", "setarch", "taskset",
	"runuser", "pkexec", "coproc", "trap", "chrt", "prlimit", "systemd-run", "entr", "fd", "npx", "bunx", "pnpx", "caffeinate",
}

// interpreters run a program that they are given; no rule is proposed for them.
var interpreters = []string{
	"python", "python2", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "awk", "gawk", "mawk", "tclsh", "osascript",
	"Rscript", "julia", "ghci", "irb", "java", "tsx", "ts-node", "expect", "gdb", "sed", "ed", "ex", "vi", "vim", "emacs", "nano", "make-kpkg",
	"eval", "source", ".", "alias", "enable", "hash", "export", "unset", "set", "shopt", "scorel", "tee", "dd", "curl", "wget", "nc", "ncat",
	"socat", "telnet", "scp", "sftp", "rsync", "docker-machine", "at", "crontab", "screen", "tmux", "powershell", "pwsh", "cmd",
}

// maxWrapped bounds the words of a wrapper that are looked through.
const maxWrapped = 400

var errManyWords = fmt.Errorf("it has a command of more than %d words that runs another", maxWrapped)

// runsOther tells whether a command runs another one that it names.
func runsOther(cmd command, name string) bool {
	if name == "find" {
		return slices.ContainsFunc(cmd.plain(), func(w string) bool {
			return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")
		})
	}
	return name == "busybox" || slices.Contains(wrappers, name)
}

func base(name string) string { return path.Base(name) }

// unwrap reads what a command may run in its turn. Every end of a wrapper's words
// is taken for a possible command, so that no option of it can hide one.
func (r *reader) unwrap(cmd command) {
	name := base(cmd.words[0].text)
	switch {
	case name == "eval":
		r.readInner(cmd.words[1:], "eval")
	case slices.Contains(shells, name):
		for i, w := range cmd.words[1:] {
			if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c") {
				if rest := cmd.words[i+2:]; len(rest) > 0 {
					r.readInner(rest[:1], name+" -c")
				}
				return
			}
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
		inner := command{words: cmd.words[i:], dir: cmd.dir, wrapped: true, piped: cmd.piped}
		r.out.commands = append(r.out.commands, inner)
		r.unwrap(inner)
	}
}

// readInner parses a text that a command runs as a script.
func (r *reader) readInner(words []word, by string) {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		if w.kind > globWord {
			r.opaque("what " + by + " runs is known only when it runs")
		}
		texts = append(texts, w.text)
	}
	text := strings.Join(texts, " ")
	if r.out.read += len(text) + 1; r.out.read > maxInner {
		r.fail(errInner)
		return
	}
	inner := &reader{out: r.out, home: r.home, dir: r.dir, depth: r.depth + 1, inner: true, piped: r.piped, located: r.located}
	inner.parse(text)
}

// feed notes a text that a shell may find in its input.
func (r *reader) feed(w word) { r.fed = append(slices.Clone(r.fed), w) }

// readFed parses what a shell reads from its input. Where it may as well read a file,
// the text can be something else, and counts only when it is a script.
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

// textRunners give a text to a shell, or take it apart and run it.
var textRunners = []string{"env", "watch", "script", "flock", "trap", "parallel", "su", "runuser"}

// readTexts parses the words of a wrapper that it may run as a script of more than one
// word: env -S 'rm x', watch 'rm x'.
func (r *reader) readTexts(cmd command, name string) {
	if !slices.Contains(textRunners, name) {
		return
	}
	for _, w := range cmd.words[1:] {
		text := w.text
		if name == "env" { // only -S, which may have other options before it
			_, text, _ = strings.Cut(strings.Replace(text, "--split-string=", "-S", 1), "S")
			if !strings.HasPrefix(w.text, "-") {
				text = w.text
			}
		}
		if r.out.err == nil && strings.ContainsAny(text, " \t\n;&|") && isScript(text) {
			r.readInner([]word{{text, w.kind}}, name)
		}
	}
}
