package permission

import (
	"path"
	"slices"
	"strings"
)

// textDownload is the reason for asking about a downloaded program.
const textDownload = "it runs a downloaded program that was not reviewed"

// downloaders fetch content written by others.
var downloaders = []string{
	"curl", "wget", "fetch", "http", "https", "xh", "aria2c", "axel", "lynx", "links", "elinks", "w3m", "nc", "ncat", "netcat", "socat", "telnet",
	"ftp", "lftp", "tftp", "sftp", "scp", "ssh", "gh", "aws", "gsutil", "gcloud", "ipfs",
}

// runners run a program that they read from their input, a file or their arguments.
var runners = []string{
	"python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "luajit", "tclsh", "Rscript",
	"osascript", "julia", "awk", "gawk", "mawk", "pwsh", "powershell", "iex", "eval", "source", ".", "at", "batch", "crontab", "make",
	"sqlite3", "psql", "mysql", "go", "groovy", "scala", "kotlin", "java", "tsx", "ts-node", "cmd", "ed", "ex", "gdb", "expect",
}

func downloads(c command) bool { return slices.Contains(downloaders, base(c.words[0].text)) }

func runs(name string) bool { return slices.Contains(shells, name) || slices.Contains(runners, name) }

// runsDownload reports whether a command line passes a download to something that runs it,
// through a pipe, a substitution or a file.
func (p Policy) runsDownload(s *script) bool {
	if !slices.ContainsFunc(s.commands, downloads) {
		return false
	}
	files := p.downloaded(s)
	return slices.ContainsFunc(s.commands, func(c command) bool {
		if c.words[0].fetched {
			return true
		}
		if slices.Contains(files, p.located(c.dir, c.words[0].text)) && !slices.Contains(wordsOnly, c.words[0].text) {
			return true
		}
		name := base(c.words[0].text)
		if !runs(name) {
			return false
		}
		return c.fetched || c.sink || c.readsInput(name) && slices.ContainsFunc(c.source, downloads) ||
			slices.ContainsFunc(c.words[1:], func(w word) bool {
				return w.fetched || slices.Contains(files, p.located(c.dir, w.text))
			})
	})
}

// readsInput reports whether a command that runs programs may read one from its input.
func (c command) readsInput(name string) bool {
	args := c.plain()[1:]
	if c.fed || len(operands(args)) == 0 {
		return true
	}
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "-" || a == "-s" || strings.HasPrefix(a, "/dev/") || strings.HasPrefix(a, "/proc/")
	}) ||
		slices.Contains(shells, name) && has(args, 's')
}

// downloaded returns the files that the downloads of a line are written to.
func (p Policy) downloaded(s *script) []string {
	var files []string
	for _, c := range s.commands {
		if !downloads(c) {
			continue
		}
		args := c.plain()[1:]
		for i, a := range args {
			for _, option := range []string{"-o", "-O", "--output=", "--output-document="} {
				if value, found := strings.CutPrefix(a, option); found && value != "" {
					files = append(files, p.located(c.dir, value))
				}
			}
			if i > 0 && slices.Contains([]string{"-o", "-O", "--output", "--output-document"}, args[i-1]) || strings.Contains(a, "://") {
				files = append(files, p.located(c.dir, a), p.located(c.dir, path.Base(a)))
			} else if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(args[i-1], "--") && strings.HasSuffix(strings.ToLower(args[i-1]), "o") {
				files = append(files, p.located(c.dir, a)) // curl -sSLo x
			}
		}
	}
	for _, d := range s.redirects {
		if d.writes && !silent.MatchString(p.located(d.dir, d.target.text)) {
			files = append(files, p.located(d.dir, d.target.text))
		}
	}
	return files
}
