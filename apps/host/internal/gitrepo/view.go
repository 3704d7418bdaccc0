package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Bounds of what a view copies.
const (
	maxSettings = 1 << 20   // bytes of a settings file
	maxIndex    = 256 << 20 // bytes of an index
	maxShared   = 8         // parts of a split index
)

// harmless matches the settings of a repository that a view takes over: git runs no program
// and opens no file because of them, whatever their values are.
var harmless = regexp.MustCompile(`^(core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks|longpaths|protecthfs|protectntfs|bigfilethreshold|checkstat|trustctime|abbrev)|` +
	`extensions\.objectformat|(user|author|committer)\.(name|email)|user\.useconfigonly|diff\.(algorithm|renamelimit|indentheuristic)|i18n\.(commitencoding|logoutputencoding))$`)

// View is a git directory of the host's own for a folder.
type View struct {
	repo    *Repo  // nil for a folder without a repository
	dir     string // the view's own directory
	work    string // the folder
	top     string // what git takes for the working tree
	objects string // where git writes objects
	more    string // where git also finds objects; "" for nowhere
	head    string // id of the current commit; "" before the first one
	index   string // "" for the file index of dir
}

// NewView makes a view of a folder in a new directory below scratch, which the caller removes
// with Close. repo is nil for a folder without a repository.
func NewView(ctx context.Context, scratch, work string, repo *Repo) (_ *View, err error) {
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, fmt.Errorf("gitrepo: making a view: %w", err)
	}
	dir, err := os.MkdirTemp(scratch, "view-")
	if err != nil {
		return nil, fmt.Errorf("gitrepo: making a view: %w", err)
	}
	v := &View{repo: repo, dir: dir, work: work, top: work, objects: filepath.Join(dir, "objects")}
	if err := v.fill(ctx); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// Head returns the id of the current commit, or "" before the first one.
func (v *View) Head() string { return v.head }

// Close removes the view.
func (v *View) Close() error { return os.RemoveAll(v.dir) }

func (v *View) fill(ctx context.Context) (err error) {
	for _, folder := range []string{"objects", "refs", "info"} {
		if err := os.Mkdir(filepath.Join(v.dir, folder), 0o700); err != nil {
			return err
		}
	}
	settings, head := "", "ref: refs/heads/main\n"
	if v.repo != nil {
		v.top, v.more = v.repo.top, filepath.Join(v.repo.common, "objects")
		if v.head, err = v.repo.Head(ctx); err != nil {
			return err
		}
		if v.head != "" {
			head = v.head + "\n"
		}
		if settings, err = settingsOf(ctx, filepath.Join(v.repo.common, "config")); err != nil {
			return err
		}
		if err := v.takeIndex(); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(v.dir, "HEAD"), []byte(head), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(v.dir, "config"), []byte(settings), 0o600)
}

// takeIndex copies the index with its parts, and what says where a shallow history ends.
func (v *View) takeIndex() error {
	names, err := filepath.Glob(filepath.Join(v.repo.dir, "sharedindex.*"))
	if err != nil {
		return err
	}
	names = append(names[:min(len(names), maxShared)], filepath.Join(v.repo.dir, "index"), filepath.Join(v.repo.common, "shallow"))
	for _, name := range names {
		err := copyIndex(name, filepath.Join(v.dir, filepath.Base(name)), 0o600)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("gitrepo: reading the index: %w", err)
		}
	}
	return nil
}

// copyIndex copies a file of an index with its time of modification: git compares the content of
// files that changed in the same second as the index, and trusts their size and time otherwise.
// A copy with a later time would hide such a change.
func copyIndex(from, to string, mode fs.FileMode) error {
	info, err := os.Stat(from) // before it is read: an older time only makes git look again
	if err != nil {
		return err
	}
	data, err := readBounded(from, maxIndex)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, mode); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// settingsOf returns the harmless settings of a file as a settings file. Git parses it, which
// runs nothing.
func settingsOf(ctx context.Context, path string) (string, error) {
	var b strings.Builder
	b.WriteString("[core]\n\tbare = false\n")
	data, err := readBounded(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return b.String(), nil
	}
	if err != nil {
		return "", fmt.Errorf("gitrepo: reading the settings: %w", err)
	}
	out, err := run(ctx, command{dir: os.TempDir(), args: []string{"config", "--file", "-", "--no-includes", "--null", "--list"}, stdin: data, limit: maxSettings})
	if err != nil {
		return "", fmt.Errorf("gitrepo: parsing the settings: %w", err)
	}
	for setting := range bytes.SplitSeq(out, []byte{0}) {
		name, value, valued := strings.Cut(string(setting), "\n")
		if !harmless.MatchString(name) {
			continue
		}
		if !valued {
			value = "true"
		}
		section, key, _ := strings.Cut(name, ".")
		if section == "extensions" {
			b.WriteString("[core]\n\trepositoryformatversion = 1\n")
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, key, quoted(value))
	}
	return b.String(), nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

func quoted(value string) string { return `"` + escapes.Replace(value) + `"` }

// environment has git work with the view.
func (v *View) environment() []string {
	env := []string{"GIT_DIR=" + v.dir, "GIT_WORK_TREE=" + v.top, "GIT_OBJECT_DIRECTORY=" + v.objects}
	if v.more != "" {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+listed(v.more))
	}
	if v.index != "" {
		env = append(env, "GIT_INDEX_FILE="+v.index)
	}
	return env
}

// git runs a command of git in the folder.
func (v *View) git(ctx context.Context, limit int, stdin []byte, args ...string) ([]byte, error) {
	return run(ctx, command{dir: v.work, env: v.environment(), args: args, stdin: stdin, limit: limit})
}

// listed writes a path as git expects it in a list of paths.
func listed(path string) string {
	if strings.ContainsAny(path, "\"\n"+string(filepath.ListSeparator)) {
		return quoted(path)
	}
	return path
}

// prefix is the path of the folder in the working tree, with a final slash, or "".
func (v *View) prefix() string {
	rel, err := filepath.Rel(v.top, v.work)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}
