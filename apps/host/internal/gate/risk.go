package gate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxReasons bounds what a person is told at once.
const maxReasons = 8

// raise adds a reason, and lifts the level to at least what it weighs.
func raise(risk *api.Risk, level api.RiskLevel, reason string) {
	rank := map[api.RiskLevel]int{"": 0, api.RiskLow: 1, api.RiskMedium: 2, api.RiskHigh: 3}
	if rank[level] > rank[risk.Level] {
		risk.Level = level
	}
	if len(risk.Reasons) < maxReasons && !slices.Contains(risk.Reasons, reason) {
		risk.Reasons = append(risk.Reasons, reason)
	}
}

// riskOfScript tells a person what to look at before a command line runs.
func (p Policy) riskOfScript(s *script) api.Risk {
	risk := api.Risk{Level: api.RiskLow, Reasons: []string{}}
	if s.err != nil {
		raise(&risk, api.RiskHigh, "it cannot be read as bash: "+s.err.Error())
	}
	for _, what := range s.opaque {
		raise(&risk, api.RiskHigh, what)
	}
	for _, c := range s.commands {
		p.riskOfCommand(&risk, c)
	}
	for _, d := range s.redirects {
		if full := p.located(d.dir, d.target.text); d.writes && !silent.MatchString(full) {
			p.riskOfWrite(&risk, full, d.dir == "" || d.target.kind > globWord)
		}
	}
	return risk
}

func (p Policy) riskOfWrite(risk *api.Risk, full string, unknown bool) {
	switch {
	case unknown:
		raise(risk, api.RiskHigh, "it writes a file whose name is known only when it runs")
	case gitControl(full):
		raise(risk, api.RiskHigh, "it changes git's own files: "+full)
	case !within(p.Dir, full):
		raise(risk, api.RiskHigh, "it writes outside of the project: "+full)
	default:
		raise(risk, api.RiskMedium, "it writes "+p.short(full))
	}
}

// short is a path as a person reads it: from the project where it lies there.
func (p Policy) short(full string) string {
	if rel, err := filepath.Rel(p.Dir, full); err == nil && within(p.Dir, full) {
		return rel
	}
	return full
}

var (
	otherRights = []string{"sudo", "doas", "su", "pkexec", "runuser", "chroot", "setcap", "visudo"}
	deletes     = []string{"rm", "rmdir", "unlink", "shred", "truncate"}
	network     = []string{"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "socat", "telnet", "ftp", "gh", "aws", "gcloud", "az", "kubectl"}
	installers  = []string{"apt", "apt-get", "dnf", "yum", "pacman", "brew", "apk", "snap", "npx", "bunx", "pnpx"}
	stops       = []string{"kill", "killall", "pkill", "systemctl", "service", "launchctl", "crontab", "at"}
	rights      = []string{"chmod", "chown", "chgrp", "setfacl", "chattr", "mount", "umount"}
)

func (p Policy) riskOfCommand(risk *api.Risk, c command) {
	name, args := base(c.words[0].text), c.plain()[1:]
	in := func(list []string) bool { return slices.Contains(list, name) }
	switch {
	case in(otherRights):
		raise(risk, api.RiskHigh, name+" runs with other rights")
	case in(deletes):
		level := api.RiskMedium
		if has(args, 'r', "--recursive") || has(args, 'R') || has(args, 'f', "--force") {
			level = api.RiskHigh
		}
		raise(risk, level, name+" deletes files")
	case name == "scorel":
		raise(risk, api.RiskHigh, "scorel answers and starts agents")
	case in(shells) && c.piped && len(operands(args)) == 0:
		raise(risk, api.RiskHigh, name+" runs what another command writes")
	case in(shells), slices.Contains(interpreters[:20], name):
		raise(risk, api.RiskMedium, name+" runs a program that it is given")
	case name == "git":
		riskOfGit(risk, args)
	case in(network):
		raise(risk, api.RiskMedium, name+" talks to the network")
	case in(installers), len(args) > 0 && slices.Contains([]string{"install", "add", "i", "ci", "publish"}, args[0]):
		raise(risk, api.RiskMedium, name+" installs or publishes software")
	case in(stops):
		raise(risk, api.RiskMedium, name+" acts on other processes")
	case in(rights):
		raise(risk, api.RiskMedium, name+" changes rights")
	case in(wiping), name == "dd":
		raise(risk, api.RiskHigh, name+" works on raw disks")
	case !onlyReads(c) && !c.wrapped:
		raise(risk, api.RiskMedium, name+" may change something")
	}
	if c.assigns {
		raise(risk, api.RiskHigh, "variables are set for "+name)
	}
	p.riskOfNames(risk, c)
	p.riskOfHome(risk, c)
}

// riskOfHome looks for folders that hold scorel's own: what goes through all of such a
// folder, or finds names in it by a pattern, names no key and reads it all the same.
func (p Policy) riskOfHome(risk *api.Risk, c command) {
	if p.Sheltered || slices.Contains(wordsOnly, c.words[0].text) {
		return
	}
	for _, named := range append(p.named(c), word{text: "."}) {
		w := named.text
		if i := strings.IndexAny(w, "*?[{"); i >= 0 {
			w = w[:strings.LastIndexByte(w[:i], '/')+1]
		}
		if w == "" || w == "." && c.dir == "" {
			continue
		}
		full := p.located(c.dir, w)
		if slices.ContainsFunc(p.Private, func(folder string) bool { return within(full, folder) }) {
			raise(risk, api.RiskHigh, "it may reach scorel's own keys, which no sandbox hides here: "+full)
		}
	}
}

func (p Policy) riskOfNames(risk *api.Risk, c command) {
	if slices.Contains(wordsOnly, c.words[0].text) {
		return
	}
	for _, w := range p.named(c) {
		paths, _ := p.leads(c.dir, w)
		for _, full := range paths {
			p.riskOfName(risk, c, w.text, full)
		}
	}
}

// riskOfName is about one path that a word of a command leads to.
func (p Policy) riskOfName(risk *api.Risk, c command, w, full string) {
	switch pathLike := strings.ContainsAny(w, "/~") || strings.HasPrefix(w, ".."); {
	case secret(full):
		raise(risk, api.RiskHigh, "it names what looks like a secret: "+p.short(full))
	case strings.Contains(w, "://"):
	case pathLike && !within(p.Dir, full) && !harmless.MatchString(full):
		level := api.RiskMedium
		if !onlyReads(c) {
			level = api.RiskHigh
		}
		raise(risk, level, "it names a path outside of the project: "+full)
	case gitControl(full) && !onlyReads(c):
		raise(risk, api.RiskHigh, "it names git's own files: "+p.short(full))
	}
}

func riskOfGit(risk *api.Risk, args []string) {
	if gitReads(args) {
		return
	}
	raise(risk, api.RiskMedium, "git changes the repository")
	all := " " + strings.Join(args, " ") + " "
	for _, part := range []string{
		" push --force", " push -f", " --force-with-lease", " reset --hard", " clean -", " filter-branch", " -D ", " push --delete", " push --mirror",
		" bisect run", " submodule foreach", " rebase --exec", " rebase -x", " config ", " checkout -- ", " restore ", " stash drop", " stash clear",
	} {
		if strings.Contains(all, part) {
			raise(risk, api.RiskHigh, "git"+strings.TrimRight(part, " ")+" loses work or changes what git runs")
		}
	}
}
