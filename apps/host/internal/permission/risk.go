package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxReasons bounds how many reasons a person is shown.
const maxReasons = 8

// raise adds a reason and raises the risk to at least its level.
func raise(risk *api.Risk, level api.RiskLevel, reason string) {
	rank := map[api.RiskLevel]int{"": 0, api.RiskLow: 1, api.RiskMedium: 2, api.RiskHigh: 3}
	if rank[level] > rank[risk.Level] {
		risk.Level = level
	}
	if len(risk.Reasons) < maxReasons && !slices.Contains(risk.Reasons, reason) {
		risk.Reasons = append(risk.Reasons, reason)
	}
}

// riskOfScript lists what a person should check before a command line runs.
func (p Policy) riskOfScript(s *script) api.Risk {
	risk := api.Risk{Level: api.RiskLow, Reasons: []string{}}
	if s.err != nil {
		raise(&risk, api.RiskHigh, "it cannot be parsed as bash: "+s.err.Error())
	}
	for _, what := range s.opaque {
		if what != textVariable || !slices.ContainsFunc(s.commands, func(c command) bool { return c.assigns }) { // named below
			raise(&risk, api.RiskHigh, what)
		}
	}
	var unknown []string
	for _, c := range s.commands {
		if p.riskOfCommand(&risk, c) {
			unknown = append(unknown, base(c.words[0].text))
		}
	}
	if len(unknown) > 0 {
		raise(&risk, api.RiskMedium, namesOf(unknown)+" may change something")
	}
	for _, d := range s.redirects {
		if full := p.located(d.dir, d.target.text); d.writes && !silent.MatchString(full) {
			p.riskOfWrite(&risk, full, d.dir == "" || d.target.kind > globWord)
			if p.replaces(d) {
				raise(&risk, api.RiskHigh, "it overwrites "+p.short(full)+", which exists")
			}
		}
	}
	if p.runsDownload(s) {
		raise(&risk, api.RiskHigh, textDownload)
	}
	return risk
}

// maxNames bounds the commands that one reason names.
const maxNames = 5

// namesOf lists commands for people, each once: "touch, make and mv".
func namesOf(commands []string) string {
	var names []string
	for _, name := range commands {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], "other commands")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (p Policy) riskOfWrite(risk *api.Risk, full string, unknown bool) {
	if unknown {
		raise(risk, api.RiskHigh, "it writes a file whose name is known only when it runs")
		return
	}
	raise(risk, p.levelOfWrite(full), p.describeWrite(full))
}

func (p Policy) levelOfWrite(full string) api.RiskLevel {
	if p.runByGit(full) || !within(p.Dir, full) {
		return api.RiskHigh
	}
	return api.RiskMedium
}

// describeWrite says what the change of a file means. It is the risk and the reason to ask, in
// the same words, so that people read it once.
func (p Policy) describeWrite(full string) string {
	switch {
	case gitControl(full):
		return "it changes git's own files: " + full
	case p.runByGit(full) && within(p.Dir, full):
		return "it changes what git may run: " + p.short(full)
	case !within(p.Dir, full):
		return "it writes outside the project: " + full
	default:
		return "it writes " + p.short(full)
	}
}

// short returns a path for display: relative to the project if it is inside.
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

// replaces reports whether a redirection discards the content of a file.
func (p Policy) replaces(d redirect) bool {
	there, folder := p.there(p.located(d.dir, d.target.text))
	return d.cuts && there && !folder && !p.quiet(d)
}

// riskOfCommand adds the risks of one command. It returns true if all that is known of the
// command is that it may change something.
func (p Policy) riskOfCommand(risk *api.Risk, c command) (unknown bool) {
	name, args := base(c.words[0].text), c.plain()[1:]
	in := func(list []string) bool { return slices.Contains(list, name) }
	loses := p.loses(c)
	switch {
	case in(otherRights):
		raise(risk, api.RiskHigh, name+" runs with different privileges")
	case in(deletes):
		level := api.RiskMedium
		if has(args, 'r', "--recursive") || has(args, 'R') || has(args, 'f', "--force") {
			level = api.RiskHigh
		}
		raise(risk, level, name+" deletes files")
	case name == "scorel":
		raise(risk, api.RiskHigh, "scorel answers approvals and starts agents")
	case in(shells) && c.piped && len(operands(args)) == 0:
		raise(risk, api.RiskHigh, name+" runs what another command writes")
	case in(shells), slices.Contains(interpreters[:20], name):
		raise(risk, api.RiskMedium, name+" runs a program that the command line names")
	case name == "git":
		if !gitReads(args) && loses == "" { // what it loses says more
			raise(risk, api.RiskMedium, "git changes the repository")
		}
	case in(network):
		raise(risk, api.RiskMedium, name+" uses the network")
	case in(installers), len(args) > 0 && slices.Contains([]string{"install", "add", "i", "ci", "publish"}, args[0]):
		raise(risk, api.RiskMedium, name+" installs or publishes software")
	case in(stops):
		raise(risk, api.RiskMedium, name+" acts on other processes")
	case in(rights):
		raise(risk, api.RiskMedium, name+" changes permissions")
	case in(wiping), name == "dd":
		raise(risk, api.RiskHigh, name+" accesses raw disks")
	default:
		named := c.words[0].kind == literalWord && !c.assigns && loses == "" // otherwise something says more
		unknown = named && !onlyReads(c) && !onlyPrints(c) && !c.wrapped
	}
	if c.assigns {
		raise(risk, api.RiskHigh, "variables are set for "+name)
	}
	for _, why := range []string{loses, p.reaches(c), embedded(c, name), p.undecided(c)} {
		if why != "" {
			raise(risk, api.RiskHigh, why)
		}
	}
	p.riskOfNames(risk, c)
	p.riskOfHome(risk, c)
	return unknown
}

// riskOfHome looks for folders that contain scorel's own files. A command that walks such a
// folder or matches names in it by a pattern names no key but reads it nevertheless.
func (p Policy) riskOfHome(risk *api.Risk, c command) {
	if p.PrivateHidden || slices.Contains(wordsOnly, c.words[0].text) {
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
		for _, part := range pathsIn(w) {
			paths, known := p.leads(c.dir, part)
			if !known {
				raise(risk, api.RiskHigh, textUndecided)
			}
			if ofProcess(p.spelled(c.dir, part.text)) {
				raise(risk, api.RiskHigh, "it names data of a process: "+part.text)
			}
			for _, full := range paths {
				p.riskOfName(risk, c, part.text, full)
			}
		}
	}
}

// riskOfName assesses one path that a word of a command leads to.
func (p Policy) riskOfName(risk *api.Risk, c command, w, full string) {
	switch pathLike := strings.ContainsAny(w, "/~") || strings.HasPrefix(w, ".."); {
	case secret(full):
		raise(risk, api.RiskHigh, "it names what looks like a secret: "+p.short(full))
	case pathLike && !within(p.Dir, full) && !harmless.MatchString(full):
		level := api.RiskMedium
		if !onlyReads(c) {
			level = api.RiskHigh
		}
		raise(risk, level, "it names a path outside the project: "+full)
	case gitControl(full) && !onlyReads(c):
		raise(risk, api.RiskHigh, "it names git's own files: "+p.short(full))
	}
}
