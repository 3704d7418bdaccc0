package extension

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an extension.
const (
	maxFiles   = 2000
	maxFolders = 500
	maxBytes   = 32 << 20
	maxFile    = 16 << 20
	maxDepth   = 12
	maxPath    = 400 // bytes
)

// entry is a file of an extension.
type entry struct {
	path string // with slashes
	info fs.FileInfo
}

// walker lists the files of a folder within the bounds. It never leaves the folder, whatever
// links another program makes in the meantime.
type walker struct {
	root    *os.Root
	folders int
	bytes   int64
	files   []entry
	folded  map[string]string // paths of files and folders, by their form without case
}

// walk returns the files of a folder, sorted by path. The error says what is wrong with it.
func walk(root *os.Root) ([]entry, error) {
	w := &walker{root: root, folded: map[string]string{}}
	if err := w.folder(".", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return w.files, nil
}

func (w *walker) folder(name string, depth int) error {
	if w.folders++; w.folders > maxFolders {
		return fmt.Errorf("it has more than %d folders", maxFolders)
	}
	if depth > maxDepth {
		return fmt.Errorf("its folders are more than %d deep", maxDepth)
	}
	dir, err := w.root.Open(name)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(name), err)
	}
	defer func() { _ = dir.Close() }()
	for {
		batch, err := dir.ReadDir(256)
		for _, e := range batch {
			if err := w.entry(path.Join(name, e.Name()), e, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", printable(name), err)
		}
	}
}

// skipped are entries that are not part of an extension: what git and desktops keep.
func skipped(name string) bool { return name == ".git" || name == ".DS_Store" }

func (w *walker) entry(name string, e fs.DirEntry, depth int) error {
	if skipped(e.Name()) {
		return nil
	}
	if err := checkName(name); err != nil {
		return err
	}
	if err := w.once(name); err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return w.folder(name, depth+1)
	case e.Type()&fs.ModeSymlink != 0:
		info, err := w.root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a link that leads out of the folder, to another folder or to nothing: replace it with a copy", printable(name))
		}
		return w.add(name, info)
	case !e.Type().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", printable(name))
	}
	info, err := e.Info()
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(name), err)
	}
	return w.add(name, info)
}

func (w *walker) add(name string, info fs.FileInfo) error {
	w.bytes += info.Size()
	switch {
	case len(w.files) == maxFiles:
		return fmt.Errorf("it has more than %d files", maxFiles)
	case info.Size() > maxFile:
		return fmt.Errorf("%s is larger than the limit of %d MiB", printable(name), maxFile>>20)
	case w.bytes > maxBytes:
		return fmt.Errorf("its files are larger than the limit of %d MiB together", maxBytes>>20)
	}
	w.files = append(w.files, entry{name, info})
	return nil
}

// once refuses two names that are one on file systems that ignore case.
func (w *walker) once(name string) error {
	key := strings.ToLower(strings.ToUpper(name))
	if have, taken := w.folded[key]; taken {
		return fmt.Errorf("%s and %s differ only in case: rename one of them", printable(have), printable(name))
	}
	w.folded[key] = name
	return nil
}

// checkName refuses paths that people could misread, or that mean something else on another
// system.
func checkName(name string) error {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf, unicode.Mn, unicode.Variation_Selector) || strings.ContainsRune(`\:*?"<>|`, r)
	}
	base := path.Base(name)
	switch {
	case len(name) > maxPath:
		return fmt.Errorf("the path %s is longer than %d bytes", printable(name), maxPath)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return fmt.Errorf("the name %s has characters that cannot be shown or that are not allowed in names of files", printable(name))
	case strings.TrimRight(base, ". ") != base || strings.TrimLeft(base, " ") != base:
		return fmt.Errorf("the name %s begins or ends with a space, or ends with a dot", printable(name))
	}
	return nil
}

// printable quotes a name that has characters that cannot be shown.
func printable(name string) string {
	if runes := []rune(name); len(runes) > 120 {
		name = string(runes[:120]) + "..."
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError || unicode.In(r, unicode.Bidi_Control, unicode.Cf) {
			return fmt.Sprintf("%+q", name)
		}
	}
	return name
}
