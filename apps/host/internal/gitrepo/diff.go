package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Range is a pair of states to compare.
type Range struct {
	from, to string // trees or commits; to is "" for the folder itself
	cached   bool   // from is the view's index
}

// Uncommitted compares the current commit with the folder.
func (v *View) Uncommitted(ctx context.Context) (Range, error) {
	from := v.head
	if from == "" {
		empty, err := v.emptyTree(ctx)
		return Range{from: empty}, err
	}
	return Range{from: from}, nil
}

// Commit compares a commit with its first parent.
func (v *View) Commit(ctx context.Context, id string) (Range, error) {
	full, err := v.repo.resolve(ctx, id)
	if err != nil {
		return Range{}, err
	}
	out, err := v.git(ctx, maxOutput, nil, "rev-parse", "--verify", "--quiet", full+"^1")
	var failed *exitError
	if errors.As(err, &failed) {
		empty, err := v.emptyTree(ctx)
		return Range{from: empty, to: full}, err
	}
	return Range{from: strings.TrimSpace(string(out)), to: full}, err
}

func (v *View) emptyTree(ctx context.Context) (string, error) {
	out, err := v.git(ctx, maxOutput, nil, "hash-object", "-w", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// diffArgs are the arguments of a comparison.
func (r Range) diffArgs(options ...string) []string {
	args := append([]string{
		"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "--find-renames", "--relative", "--src-prefix=a/", "--dst-prefix=b/",
	}, options...)
	if !r.cached {
		args = append(args, r.from)
	}
	if r.to != "" {
		args = append(args, r.to)
	}
	return append(args, "--")
}

// List returns the files that differ, at most limit. IncludeUntracked must have been called
// before for a comparison with the folder.
func (v *View) List(ctx context.Context, r Range, limit int, paths ...string) (files []api.FileChange, truncated bool, err error) {
	out, err := v.git(ctx, maxOutput, nil, append(r.diffArgs("--raw", "--numstat", "-z"), paths...)...)
	if err != nil && !errors.Is(err, errCut) {
		return nil, false, err
	}
	files = parseList(strings.Split(string(out), "\x00"))
	if len(files) > limit {
		return files[:limit], true, nil
	}
	return files, err != nil, nil
}

// parseList reads the output of --raw --numstat -z: first how each file differs, then how
// many lines.
func parseList(fields []string) []api.FileChange {
	files, at := []api.FileChange{}, map[string]int{}
	i := 0
	for ; i+1 < len(fields) && strings.HasPrefix(fields[i], ":"); i++ {
		kind := fields[i][strings.LastIndexByte(fields[i], ' ')+1:]
		file := api.FileChange{Status: changeOf(kind)}
		i++
		file.Path = fields[i]
		if (strings.HasPrefix(kind, "R") || strings.HasPrefix(kind, "C")) && i+1 < len(fields) {
			i++
			file.From, file.Path = file.Path, fields[i]
		}
		at[file.Path] = len(files)
		files = append(files, file)
	}
	for ; i < len(fields); i++ {
		counts := strings.SplitN(fields[i], "\t", 3)
		if len(counts) != 3 {
			continue
		}
		path := counts[2]
		if path == "" && i+2 < len(fields) { // renamed: both paths follow
			i += 2
			path = fields[i]
		}
		n, known := at[path]
		if !known {
			continue
		}
		if files[n].Binary = counts[0] == "-"; !files[n].Binary {
			files[n].Added, _ = strconv.Atoi(counts[0])   // git writes digits
			files[n].Removed, _ = strconv.Atoi(counts[1]) // git writes digits
		}
	}
	return files
}

func changeOf(kind string) api.FileStatus {
	switch kind[:min(len(kind), 1)] {
	case "A", "C":
		return api.FileAdded
	case "D":
		return api.FileDeleted
	case "R":
		return api.FileRenamed
	case "U":
		return api.FileConflicted
	}
	return api.FileModified
}

// Diff returns the unified diff of a file, without the header of git; cut reports that it is
// longer than limit.
func (v *View) Diff(ctx context.Context, r Range, file api.FileChange, limit int) (diff string, cut bool, err error) {
	paths := []string{file.Path}
	if file.From != "" {
		paths = append(paths, file.From)
	}
	out, err := v.git(ctx, limit, nil, append(r.diffArgs("--patch", "--unified=3"), paths...)...)
	if errors.Is(err, errCut) {
		out, cut, err = out[:bytes.LastIndexByte(out, '\n')+1], true, nil
	}
	if err != nil {
		return "", false, err
	}
	text := strings.ToValidUTF8(string(out), "\uFFFD")
	if begin := strings.Index(text, "\n--- "); begin >= 0 {
		return text[begin+1:], cut, nil
	}
	return "", cut, nil
}

// maxUntracked bounds how many files that git does not know a view takes up.
const maxUntracked = 10_000

// untracked lists the files that the index does not have and no .gitignore excludes, and the
// repositories in the folder, which end with a slash.
func (v *View) untracked(ctx context.Context, paths ...string) (files, nested []string, truncated bool, err error) {
	out, err := v.git(ctx, maxOutput, nil, append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...)...)
	if err != nil && !errors.Is(err, errCut) {
		return nil, nil, false, err
	}
	truncated = err != nil
	all := strings.Split(string(out), "\x00")
	for _, path := range all[:len(all)-1] {
		switch {
		case strings.HasSuffix(path, "/"):
			nested = append(nested, strings.TrimSuffix(path, "/"))
		case len(files) == maxUntracked:
			return files, nested, true, nil
		default:
			files = append(files, path)
		}
	}
	return files, nested, truncated, nil
}

// IncludeUntracked makes comparisons with the folder include files that git does not know,
// except those for which skip returns true.
func (v *View) IncludeUntracked(ctx context.Context, skip func(path string) bool, paths ...string) (nested []string, truncated bool, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	files, nested, truncated, err := v.untracked(ctx, paths...)
	if err != nil {
		return nil, false, err
	}
	var list bytes.Buffer
	for _, path := range files {
		if info, err := os.Lstat(filepath.Join(v.work, path)); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0) && !skip(path) {
			list.WriteString(path + "\x00")
		}
	}
	if list.Len() == 0 {
		return nested, truncated, nil
	}
	_, err = v.git(ctx, maxOutput, list.Bytes(), "add", "--intent-to-add", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	var failed *exitError
	if errors.As(err, &failed) && failed.code == 1 { // a file is gone, or cannot be read
		err = nil
	}
	return nested, truncated, err
}
