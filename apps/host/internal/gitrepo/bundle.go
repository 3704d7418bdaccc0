package gitrepo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Bounds of a bundle.
const (
	bundleTime     = 10 * time.Minute
	maxChanges     = 20_000  // changed and new files
	maxChangeBytes = 2 << 30 // of them
)

// References of a bundle: the current commit, and a commit on it with the files as they are.
const (
	headRef  = "refs/scorel/head"
	filesRef = "refs/scorel/files"
)

// Errors of bundles that callers explain to people.
var (
	ErrPartial  = errors.New("the repository has only a part of its history or files")
	ErrTooLarge = errors.New("the folder has too many or too large changed files")
)

// WriteBundle writes a git bundle with the history of the current commit, and one commit on it
// with the changed and new files of the folder that are not ignored. The repository stays as it
// is. It returns what is left out: other repositories, what is not a file, and changed and new
// files that are closed, of which closed gets the paths in the folder.
func (r *Repo) WriteBundle(ctx context.Context, scratch string, closed func(path string) bool, w io.Writer) (skipped []string, err error) {
	switch {
	case !r.owned() || !isFolder(filepath.Join(r.common, "objects")):
		return nil, ErrElsewhere
	case r.Busy() != "":
		return nil, ErrBusy
	}
	for _, sign := range []string{filepath.Join(r.common, "shallow"), filepath.Join(r.dir, "info", "sparse-checkout")} {
		if _, err := os.Lstat(sign); err == nil {
			return nil, ErrPartial
		}
	}
	v, err := NewView(ctx, scratch, r.work, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if v.head == "" {
		return nil, ErrNoCommit
	}
	files, skipped, err := v.commitFiles(ctx, closed)
	if err != nil {
		return nil, err
	}
	for name, id := range map[string]string{headRef: v.head, filesRef: files} {
		if _, err := v.git(ctx, maxOutput, nil, "update-ref", name, id); err != nil {
			return nil, err
		}
	}
	_, err = run(ctx, command{dir: v.work, env: v.environment(), args: []string{"bundle", "create", "--quiet", "-", headRef, filesRef}, out: w, time: bundleTime})
	return skipped, err
}

// commitFiles makes a commit with the files of the folder, in the objects of the view.
func (v *View) commitFiles(ctx context.Context, closed func(string) bool) (id string, skipped []string, err error) {
	exclude, err := readBounded(filepath.Join(v.repo.common, "info", "exclude"), maxSettings)
	if err == nil {
		err = os.WriteFile(filepath.Join(v.dir, "info", "exclude"), exclude, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	v.index = filepath.Join(v.dir, "fresh-index") // flags in the repository's could hide changes
	if _, err := v.git(ctx, maxOutput, nil, "read-tree", v.head); err != nil {
		return "", nil, err
	}
	paths, skipped, err := v.changes(ctx, closed)
	if err != nil {
		return "", nil, err
	}
	if len(paths) > 0 {
		if filtered, err := v.filtered(ctx, paths); err != nil || filtered != "" {
			return "", nil, errors.Join(err, ErrFiltered)
		}
		if err := v.stage(ctx, paths); err != nil {
			return "", nil, err
		}
	}
	tree, err := v.git(ctx, maxOutput, nil, "write-tree")
	if err != nil {
		return "", nil, err
	}
	env := append(v.environment(), "GIT_AUTHOR_NAME=scorel", "GIT_AUTHOR_EMAIL=scorel@localhost", "GIT_COMMITTER_NAME=scorel", "GIT_COMMITTER_EMAIL=scorel@localhost")
	out, err := run(ctx, command{dir: v.work, env: env, args: []string{"commit-tree", "-m", "files", "-p", v.head, strings.TrimSpace(string(tree))}, limit: maxOutput})
	return strings.TrimSpace(string(out)), skipped, err
}

// changes lists the files that differ from the index, and new ones, without those that are closed.
// What a link names is no content of a file, so that links stay.
func (v *View) changes(ctx context.Context, closed func(string) bool) (paths, skipped []string, err error) {
	out, err := v.git(ctx, maxOutput, nil, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", ".")
	if errors.Is(err, errCut) {
		return nil, nil, ErrTooLarge
	}
	if err != nil {
		return nil, nil, err
	}
	var total int64
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(v.work, path))
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted
		case err != nil, strings.HasSuffix(path, "/"), info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular(), info.Mode().IsRegular() && closed(path):
			skipped = append(skipped, path)
			continue
		default:
			total += info.Size()
		}
		if paths = append(paths, path); len(paths) > maxChanges || total > maxChangeBytes {
			return nil, nil, ErrTooLarge
		}
	}
	return paths, skipped, nil
}
