package gitguard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// harmless matches the settings with which git runs no program, loads no other settings,
// and writes nowhere else, whatever their values are. All other settings ask a person,
// including those of future versions of git.
var harmless = regexp.MustCompile(`^(core\.(abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|compression|eol|filemode|fsync|fsyncmethod|ignorecase|` +
	`logallrefupdates|longpaths|precomposeunicode|quotepath|repositoryformatversion|safecrlf|sharedrepository|` +
	`sparsecheckout|sparsecheckoutcone|splitindex|symlinks|trustctime|untrackedcache|whitespace)|` +
	`branch\..*\.(merge|rebase|description|vscode-merge-base|gh-merge-base)|branch\.(autosetupmerge|autosetuprebase|sort)|` +
	`remote\..*\.(fetch|gh-resolved|mirror|prune|prunetags|push|skipfetchall|tagopt|promisor|partialclonefilter)|` +
	`submodule\..*\.(active|branch|ignore|fetchrecursesubmodules|shallow)|submodule\.(recurse|active|fetchjobs)|` +
	`extensions\.(objectformat|refstorage|worktreeconfig|partialclone|preciousobjects|relativeworktrees|compatobjectformat)|` +
	`diff\.(algorithm|colormoved|context|indentheuristic|mnemonicprefix|noprefix|renames|renamelimit)|` +
	`user\.(name|email|signingkey|useconfigonly)|(author|committer)\.(name|email)|commit\.(gpgsign|verbose|cleanup|status)|tag\.(gpgsign|sort)|` +
	`init\.defaultbranch|merge\.(conflictstyle|ff|log|renames|renamelimit|stat)|rebase\.(autosquash|autostash|updaterefs|stat|missingcommitscheck)|` +
	`lfs\.(repositoryformatversion|locksverify|fetchexclude|fetchinclude|.*\.(access|locksverify))|gpg\.format|` +
	`gc\.(auto|autodetach|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable|writecommitgraph)|pull\.(ff|rebase)|` +
	`(advice|color|column|fetch|index|pack|push|rerere|stash|status|feature|i18n|versionsort|notes|log)\.[a-z.-]*)$`)

// address matches a setting whose value is the location of another repository. A push to a
// folder runs the hooks there.
var address = regexp.MustCompile(`^remote\..*\.(url|pushurl)$`)

// module matches the location of a submodule, from which git only fetches. Any file
// .gitmodules can name one.
var module = regexp.MustCompile(`^submodule\..*\.url$`)

// nickname matches a setting whose value is the name of a remote. Git takes a name that it
// does not know for a folder.
var nickname = regexp.MustCompile(`^(branch\..*\.(remote|pushremote)|remote\.pushdefault)$`)

// protection matches the settings with which git refuses names in a commit that some file systems
// take for .git.
var protection = regexp.MustCompile(`^core\.protect(hfs|ntfs)$`)

// on reports whether git surely reads a value as true. A name alone, without a value, is true.
func on(value string, valued bool) bool {
	return !valued || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value))
}

// transports are those of git itself that lead to other machines. For any other git looks for
// a program.
var transports = []string{"https", "http", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps"}

// distant reports whether git would reach an address without running anything here. Git takes
// for a folder what has no colon, or one only after a slash.
func distant(address string) bool {
	if strings.Contains(address, "::") || strings.HasPrefix(address, "-") { // a transport that is a program, or an option
		return false
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return slices.Contains(transports, scheme)
	}
	host, _, ok := strings.Cut(address, ":")
	return ok && len(host) > 1 && !strings.Contains(host, "/") && !strings.EqualFold(host, "file") // one letter is a drive
}

// common matches the usual lines with an address on another machine.
var common = regexp.MustCompile(`(?m)^\s*(push)?url = (https?://|ssh://|[\w.-]+@[\w.-]+:)[^\s"\\#;:]*$`)

// addresses returns the locations of other repositories that a settings file names and that
// are not distant.
func addresses(f file) (found []string) {
	if !bytes.Contains(bytes.ToLower(common.ReplaceAll(f.data, nil)), []byte("url")) {
		return nil // git need not be asked
	}
	all, err := parsed(context.Background(), f)
	if err != nil {
		return nil
	}
	for _, setting := range all {
		if name, value, _ := strings.Cut(setting, "\n"); address.MatchString(name) && !distant(value) {
			found = append(found, value)
		}
	}
	return found
}

// worktreeName is the setting for the location of a repository's files. Those of a
// submodule are elsewhere in the project.
const worktreeName = "core.worktree"

// gitTime bounds how long git may take to read settings.
const gitTime = 5 * time.Second

// loud returns the settings of a file that may name a program, each as name, line break and
// value. An unreadable file counts as one.
func loud(ctx context.Context, f file) (found []string) {
	if len(f.data) == 0 && f.link == "" && f.large == "" && !f.odd {
		return nil
	}
	all, err := parsed(ctx, f)
	if err != nil {
		return []string{fmt.Sprintf("what cannot be read\n%s %s %x", f.link, f.large, sha256.Sum256(f.data))}
	}
	if f.link != "" {
		found = append(found, "a symbolic link\n"+f.link)
	}
	known := func(remote string) bool {
		return slices.ContainsFunc(all, func(setting string) bool { return strings.HasPrefix(setting, "remote."+remote+".url\n") })
	}
	for _, setting := range all {
		name, value, valued := strings.Cut(setting, "\n")
		switch {
		case harmless.MatchString(name) && (!valued || !strings.Contains(value, "::")):
		case address.MatchString(name) && (distant(value) || slices.Contains(f.near, value)):
		case module.MatchString(name) && valued && !strings.Contains(value, "::") && !strings.HasPrefix(value, "-"):
		case nickname.MatchString(name) && (value == "." || known(value) || distant(value)):
		case name == worktreeName && !filepath.IsAbs(value) && filepath.IsLocal(filepath.Join(filepath.Dir(f.path), value)):
		case protection.MatchString(name) && on(value, valued):
		case name == "diff.submodule" && value == "short": // otherwise git may run what a submodule's settings name
		case name == "core.fsmonitor" && (value == "true" || value == "false"): // git's own
		default:
			found = append(found, setting)
		}
	}
	return found
}

// parsed parses a settings file with git, which runs nothing.
func parsed(ctx context.Context, f file) ([]string, error) {
	if f.odd || f.large != "" {
		return nil, fmt.Errorf("it is not a settings file")
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "config", "--file", "-", "--no-includes", "--null", "--list")
	cmd.Stdin, cmd.Dir, cmd.WaitDelay = bytes.NewReader(f.data), "/", time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git cannot read it: %w", err)
	}
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\x00"), nil
}

// hooksPath returns the hooks folder that a settings file names, or "".
func hooksPath(f file) (folder string) {
	if !bytes.Contains(bytes.ToLower(f.data), []byte("hookspath")) {
		return ""
	}
	all, err := parsed(context.Background(), f)
	if err != nil {
		return ""
	}
	for _, setting := range all {
		if value, ok := strings.CutPrefix(setting, "core.hookspath\n"); ok {
			folder = value
		}
	}
	return folder
}
