package permission

import (
	"regexp"
	"slices"
	"strings"
)

// Wide reports why an allow rule would permit more than a mode that asks: every call of a
// tool, any program passed to a command, deletions, or files outside the project. Only
// local clients and clients with the grant "rules" may add such a rule. It returns "" for a
// rule that is not wide.
func (r Rule) Wide() string {
	switch {
	case strings.HasPrefix(r.tool, "mcp__"):
		return ""
	case r.pattern == "":
		return "allows every call of " + r.tool
	case r.subject == subjectCommand:
		return r.wideCommand()
	case r.subject == subjectPath && strings.Contains(strings.ToLower(r.pattern), ".git") && gitPart.MatchString(r.pattern):
		return "allows changes to what git runs"
	case r.subject == subjectPath && (strings.HasPrefix(r.pattern, "/") || strings.HasPrefix(r.pattern, "~")):
		return "allows files outside the project"
	}
	return ""
}

// gitPart matches an element of a path that may be git's own folder.
var gitPart = regexp.MustCompile(`(?i)(^|[/{,])\.git($|[/*?{},\[])`)

// hosts are programs whose options make them run others or write anywhere. A rule that
// leaves the options open permits all of that; a rule with exact words does not.
var hosts = []string{
	"tar", "bsdtar", "gtar", "make", "gmake", "ninja", "cmake", "find", "fd", "sqlite3", "psql", "mysql", "mariadb", "duckdb", "mongosh", "redis-cli",
	"vim", "nvim", "vi", "view", "less", "more", "man", "zip", "cpio", "pax", "docker", "podman", "kubectl", "helm", "terraform", "tofu", "ansible",
	"ansible-playbook", "vagrant", "gh", "glab", "gradle", "mvn", "rake", "just", "task", "bazel", "pip", "pip3", "pipx", "gem", "bundle", "composer",
	"apt", "apt-get", "dnf", "yum", "brew", "systemctl", "launchctl", "cp", "mv", "ln", "install", "patch", "chmod", "chown", "aws", "gcloud", "az",
	"rclone", "openssl", "gpg", "gcc", "g++", "cc", "clang", "ld", "git-lfs", "hg", "svn", "jj", "split", "sort", "mail", "sendmail", "nmap", "tcpdump",
}

// gitHosts are git commands that run a program named by an option, an address or a setting.
var gitHosts = []string{
	"git -c", "git -C", "git --exec-path", "git --config-env", "git --git-dir", "git --work-tree", "git clone", "git fetch", "git pull", "git push",
	"git ls-remote", "git archive", "git grep", "git difftool", "git mergetool", "git send-email", "git daemon", "git filter-repo", "git apply", "git am",
	"git worktree", "git replace", "git update-index", "git hook", "git p4", "git svn", "git maintenance",
}

func (r Rule) wideCommand() string {
	name := base(r.words[0])
	open := slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(w, "*") })
	switch {
	case strings.Contains(r.words[0], "*"):
		return "allows commands with other names"
	case slices.Contains(shells, name), slices.Contains(wrappers, name), slices.Contains(interpreters, name), slices.Contains(otherRights, name):
		return "allows " + name + " to run any program"
	case slices.Contains(deletes, name):
		return "allows deletions"
	}
	if open && slices.Contains(hosts, name) {
		return "allows " + name + " to run other programs or to write anywhere, depending on its options"
	}
	for _, u := range gitHosts {
		if open && mayBegin(r.words, strings.Fields(u)) {
			return "allows " + u + " to run a program that an option, an address or a setting names"
		}
	}
	for _, u := range unproposed {
		if mayBegin(r.words, strings.Fields(u)) {
			return "allows " + u + " to run any program"
		}
	}
	return ""
}

// mayBegin reports whether a command that the rule matches can begin with these words.
func mayBegin(rule, words []string) bool {
	for i, word := range words {
		switch {
		case i >= len(rule):
			return false
		case rule[i] == "*" && i == len(rule)-1:
			return true
		case !matchWord(rule[i], word):
			return false
		}
	}
	return true
}
