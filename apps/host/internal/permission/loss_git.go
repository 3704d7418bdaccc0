package permission

import (
	"slices"
	"strings"
)

// gitKnown lists git's built-in commands. Any other name may be an alias, which can run
// anything.
var gitKnown = strings.Fields(`add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
	check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe diff
	diff-files diff-index diff-tree fast-export fetch fetch-pack filter-branch fmt-merge-msg for-each-ref format-patch fsck gc grep hash-object help
	init interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file merge-tree mktag mktree mv name-rev
	notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase reflog remote repack replace request-pull rerere
	reset restore rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref sparse-checkout stash status stripspace
	submodule subtree switch symbolic-ref tag unpack-objects update-index update-ref var verify-commit verify-pack verify-tag version whatchanged
	worktree write-tree`)

// gitValued lists the options before a git command whose value is the next word.
var gitValued = []string{"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"}

// gitCommand strips the options before the command. sets reports whether one of them
// changes what git runs.
func gitCommand(args []string) (sub string, rest []string, sets bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-c" || strings.HasPrefix(a, "--config-env") || strings.HasPrefix(a, "--exec-path="):
			sets = true
			if i++; strings.Contains(a, "=") {
				i--
			}
		case slices.Contains(gitValued, a):
			i++
		case !strings.HasPrefix(a, "-"):
			return a, args[i+1:], sets
		}
	}
	return "", nil, sets
}

// gitLoses describes what a git command discards or runs, or returns "".
func (p Policy) gitLoses(c command) string {
	sub, args, sets := gitCommand(c.plain()[1:])
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	switch {
	case sets:
		return "git gets settings on the command line, which can name programs"
	case sub != "" && !slices.Contains(gitKnown, sub):
		return "git " + sub + " is not a built-in command, and an alias can run anything"
	case hasLong(args, "--pathspec-from-file"):
		return "git reads the names of files from another file"
	case hasLong(args, "--upload-pack", "--receive-pack", "--exec", "--template", "--to-cmd", "--open-files-in-pager", "--ext-diff", "--textconv") ||
		slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "ext::") }):
		return "git " + sub + " runs a program that the command line names"
	case gitDrops(sub, first, args) || sub == "checkout" && p.checksOutFiles(c.dir, args):
		return "git " + sub + " discards work or history"
	case sub == "filter-branch", sub == "config", sub == "bisect" && first == "run", sub == "submodule" && first == "foreach", sub == "rebase" && has(args, 'x'),
		sub == "clone" && (has(args, 'c', "--config") || has(args, 'u')):
		return "git " + sub + " changes or runs what the command line names"
	}
	return ""
}

// gitDrops reports whether a git command discards changes, commits, branches or tags.
func gitDrops(sub, first string, args []string) bool {
	switch sub {
	case "reset":
		return hasLong(args, "--hard", "--merge", "--keep", "--ha", "--me", "--k")
	case "clean":
		return !has(args, 'n', "--dry-run")
	case "restore":
		return !has(args, 'S', "--staged") || has(args, 'W', "--worktree")
	case "switch":
		return has(args, 'f', "--force", "--discard-changes", "--force-create") || has(args, 'C')
	case "checkout-index", "read-tree", "update-ref", "replace", "prune", "update-index":
		return true
	case "stash", "reflog", "notes", "remote", "bundle", "symbolic-ref", "submodule", "worktree", "lfs", "rerere":
		return gitPartDrops(sub, first, args)
	case "branch":
		return has(args, 'D') || has(args, 'M') || has(args, 'C') || has(args, 'f', "--force")
	case "tag":
		return has(args, 'd', "--delete") || has(args, 'f', "--force")
	case "push":
		return has(args, 'f', "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune") || has(args, 'd') ||
			slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") })
	case "fetch", "pull":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") || strings.Contains(a, "+refs/") })
	case "gc", "repack":
		return hasLong(args, "--pru") || sub == "repack" && has(args, 'd')
	case "rm", "mv":
		return has(args, 'f', "--force")
	case "rebase", "merge", "cherry-pick", "revert", "am":
		return hasLong(args, "--abort", "--skip", "--quit")
	case "sparse-checkout":
		return first == "set" || first == "reapply"
	}
	return false
}

// gitPartDrops covers git commands that have subcommands.
func gitPartDrops(sub, first string, args []string) bool {
	drops := map[string][]string{
		"stash": {"drop", "clear"}, "reflog": {"expire", "delete"}, "notes": {"remove", "prune"}, "remote": {"remove", "rm", "set-url", "prune"},
		"lfs": {"prune", "migrate"}, "rerere": {"clear", "forget"}, "bundle": {"unbundle"},
	}
	switch sub {
	case "symbolic-ref":
		return has(args, 'd', "--delete")
	case "worktree":
		return (first == "remove" || first == "move") && has(args, 'f', "--force")
	case "submodule":
		return first == "deinit" || first == "update" && has(args, 'f', "--force")
	}
	return slices.Contains(drops[sub], first)
}

// checksOutFiles reports whether git checkout replaces changed files rather than only
// switching branches.
func (p Policy) checksOutFiles(dir string, args []string) bool {
	if has(args, 'f', "--force", "--ours", "--theirs", "--patch", "--merge") || has(args, 'B') || has(args, 'p') || has(args, 'm') {
		return true
	}
	if i := slices.Index(args, "--"); i >= 0 {
		return i+1 < len(args)
	}
	named := operands(args)
	if has(args, 'b', "--orphan", "--track", "--detach") || has(args, 't') || has(args, 'd') {
		return false
	}
	return len(named) > 1 || slices.ContainsFunc(named, func(n string) bool {
		there, _ := p.there(p.located(dir, n))
		return there || strings.HasPrefix(n, ".") || strings.HasPrefix(n, ":") || strings.HasPrefix(n, "/") || strings.ContainsAny(n, "*?[")
	})
}
