package machine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// gitTimeout bounds what git may take to tell its settings.
const gitTimeout = 5 * time.Second

// gitQuiet are the settings of a repository with which the commands of git that read run
// nothing but git. What is not here may name a program, or make git fetch.
var gitQuiet = regexp.MustCompile(`^(core\.(abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|compression|createobject|eol|excludesfile|filemode|` +
	`hookspath|ignorecase|logallrefupdates|longpaths|precomposeunicode|protecthfs|protectntfs|quotepath|repositoryformatversion|safecrlf|sharedrepository|` +
	`sparsecheckout|sparsecheckoutcone|splitindex|symlinks|trustctime|untrackedcache|whitespace)|` +
	`diff\.(algorithm|colormoved|context|indentheuristic|mnemonicprefix|noprefix|renames|renamelimit)|extensions\.(objectformat|refstorage|worktreeconfig)|` +
	`remote\..*\.(fetch|gh-resolved|mirror|prune|prunetags|push|pushurl|skipfetchall|tagopt|url)|submodule\..*\.(active|branch|ignore|update|url)|` +
	`(advice|alias|apply|branch|color|column|commit|fetch|format|gc|gui|help|i18n|index|init|lfs|maintenance|merge|mergetool|pack|pull|push|rebase|receive|rerere|stash|status|tag|transfer|user|versionsort)\..*)$`)

// maxModules bounds the repositories that are looked at inside of one.
const maxModules = 64

// gitRuns says what git, started in a folder, would run because the repository that it
// finds there says so, or "". A folder that was cloned can hold such a repository as plain
// files, with settings of its own; git also looks into repositories that it holds.
func gitRuns(folder string) string {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	left := maxModules
	return gitRunsIn(ctx, folder, &left)
}

func gitRunsIn(ctx context.Context, folder string, left *int) string {
	if *left--; *left < 0 {
		return "the repository contains many others, and git may run programs that their settings name"
	}
	settings, err := gitAnswer(ctx, folder, "config", "--list", "--show-scope", "--null")
	if err != nil {
		return "the settings of the repository cannot be read, and git may run programs that they name"
	}
	if name := gitLoud(settings); name != "" {
		return "the repository sets " + name + ", with which git may run a program"
	}
	places, err := gitAnswer(ctx, folder, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "hooks/post-index-change")
	if err != nil {
		return "" // git finds nothing here whose files it would look at
	}
	top, hook, _ := strings.Cut(strings.TrimSuffix(places, "\n"), "\n")
	if _, err := os.Stat(hook); err == nil {
		return "the repository has a hook that git runs when it looks at files"
	}
	files, err := gitAnswer(ctx, top, "ls-files", "--stage", "-z")
	if err != nil {
		return "the files of the repository cannot be listed, and git may read other repositories in it"
	}
	for entry := range strings.SplitSeq(files, "\x00") {
		kind, path, _ := strings.Cut(entry, "\t")
		module := filepath.Join(top, path)
		if !strings.HasPrefix(kind, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(module, ".git")); err != nil {
			continue
		}
		if why := gitRunsIn(ctx, module, left); why != "" {
			return why
		}
	}
	return ""
}

// gitLoud is the first setting of a repository that may name a program, or "".
func gitLoud(settings string) string {
	fields := strings.Split(settings, "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // where it is from, then name and value
		name, value, _ := strings.Cut(fields[i+1], "\n")
		mine := fields[i] == "system" || fields[i] == "global" || fields[i] == "command"
		switch {
		case name == "diff.submodule":
			// With log and diff git reads repositories that only the history names, and
			// with diff it runs what their settings name, whoever asks for it.
			if value == "diff" || !mine && value != "short" {
				return name
			}
		case mine:
		case name == "status.submodulesummary": // git log, in repositories that the index may not name
			return name
		case name == "core.fsmonitor" && (value == "true" || value == "false"): // git's own
		case !gitQuiet.MatchString(name):
			return name
		}
	}
	return ""
}

// gitVariable is what git gets of the environment. The host's holds keys, and what a
// process was started with is shown to others.
var gitVariable = regexp.MustCompile(`(?i)^(PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TMPDIR|TMP|TEMP|XDG_[A-Z_]+|GIT_[A-Z_]+|SYSTEMROOT|USERPROFILE|APPDATA|PROGRAMDATA|PATHEXT|COMSPEC)=`)

// gitAnswer asks git for something that does not start a program of the repository.
func gitAnswer(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return !gitVariable.MatchString(entry) })
	out, err := cmd.Output()
	return string(out), err
}
