package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/levenshtein"
)

// resolvePath makes a path of a call absolute. It refuses invalid paths, and paths that
// are, or lead by symbolic links, into a private folder.
func resolvePath(call agent.Call, path string, private guard) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty; name a file or folder")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path contains a zero byte, which is not valid in a file name")
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(call.Cwd, path)
	}
	full = filepath.Clean(full)
	switch {
	case ofProcess(resolved(full)):
		return "", fmt.Errorf("%s belongs to a process (its environment, memory and open files) and is closed to tools", path)
	case private.hides(full):
		return "", fmt.Errorf("%s belongs to scorel itself (keys and logs) and is closed to tools", path)
	}
	return full, nil
}

// resolved follows symbolic links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

func resolvedAll(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		out = append(out, resolved(filepath.Clean(path)))
	}
	return out
}

// pathError describes a problem with a path as a sentence for the model.
func (s *Set) pathError(call agent.Call, given, full string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if strings.HasPrefix(given, "~") {
			return fmt.Sprintf("%s does not exist: ~ is not expanded, write the path in full.", given)
		}
		return fmt.Sprintf("%s does not exist in %s.%s", given, call.Cwd, s.private.similarNames(full))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s cannot be opened: permission denied.", given)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("%s cannot be used: %v.", given, err)
}

// maxSimilar bounds how many names are suggested.
const maxSimilar = 3

// similarNames suggests files in the same folder with similar names.
func (g guard) similarNames(full string) string {
	var entries []fs.DirEntry
	folder, _, err := g.openFolder(filepath.Dir(full))
	if err == nil {
		defer folder.Close()
		entries, err = entriesOf(context.Background(), folder) // it explains an error, also after a cancel
	}
	switch {
	case errors.Is(err, errClosed), errors.Is(err, errSwapped):
		return ""
	case err != nil:
		return fmt.Sprintf(" The folder %s does not exist either; use list_dir to look around.", filepath.Dir(full))
	}
	want := strings.ToLower(filepath.Base(full))
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, entry := range entries {
		name := strings.ToLower(entry.Name())
		distance := levenshtein.Distance(want, name)
		related := len(want) > 2 && (strings.Contains(name, want) || len(name) > 2 && strings.Contains(want, name))
		if related || distance <= max(1, len(want)/3) {
			near = append(near, candidate{entry.Name(), distance})
		}
	}
	if len(near) == 0 {
		return " Use list_dir or glob to find it."
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	names := make([]string, 0, maxSimilar)
	for _, c := range near[:min(maxSimilar, len(near))] {
		names = append(names, c.name)
	}
	return " Similar names: " + strings.Join(names, ", ") + "."
}
