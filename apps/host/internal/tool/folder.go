package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/atomicfile"
)

// A command of the same session may create links in a path while a tool is using it. A path
// is therefore resolved once, its target is opened without following links, and all checks
// use the open file: a name is never looked up twice.

// maxSwaps bounds how often a path is resolved again because its target changed.
const maxSwaps = 10

var (
	// errSwapped reports that a path had a different target each time it was resolved.
	errSwapped = errors.New("keeps changing; try again when nothing else is using it")
	// errMoved reports that an element of a path became a link.
	errMoved  = errors.New("a part of the path became a link")
	errIsFile = errors.New("is a file, not a folder")
	errClosed = errors.New("belongs to scorel itself or to a process, and is closed to tools")
	errKernel = errors.New("is a kernel file, and reading it may never end; use bash instead")
)

// openTable matches files of /proc that hold one system-wide table and no data of a
// process.
var openTable = regexp.MustCompile(`^/proc/(cpuinfo|meminfo|loadavg|uptime|version|stat|filesystems|diskstats|swaps|sys/[a-z_/0-9]+)$`)

// settle calls open with the target of a path until the target did not change in the
// meantime.
func (g guard) settle(full string, open func(real string) error) error {
	for range maxSwaps {
		real := resolved(full)
		if g.closes(real) {
			return errClosed
		}
		if err := open(real); !errors.Is(err, errMoved) {
			return err
		}
	}
	return errSwapped
}

// openRegular opens a regular file that tools may access.
func (g guard) openRegular(full string) (file *os.File, err error) {
	err = g.settle(full, func(real string) error {
		if file, err = openUnlinked(real); err != nil {
			return err
		}
		return regular(file)
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// regular closes the file and returns an error if it cannot be read to its end.
func regular(file *os.File) error {
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errIsFolder
	case !info.Mode().IsRegular():
		err = errNotRegular
	case ofKernel(file):
		err = errKernel
	default:
		return nil
	}
	return errors.Join(err, file.Close())
}

// openFolder opens a folder that tools may access. real is its path without links.
func (g guard) openFolder(full string) (folder *os.Root, real string, err error) {
	err = g.settle(full, func(path string) error {
		real = path
		folder, err = rootOf(path)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return folder, real, nil
}

// rootOf opens the folder at a path without links.
func rootOf(path string) (*os.Root, error) {
	there, err := openUnlinked(path)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	info, err := there.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errIsFile
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if opened, err := folder.Stat("."); err != nil || !os.SameFile(opened, info) {
		return nil, errors.Join(errMoved, err, folder.Close())
	}
	return folder, nil
}

// readAtOnce is how many entries of a folder are read before it is checked whether anyone waits
// for them.
const readAtOnce = 1024

// entriesOf returns the entries of an open folder, sorted. It ends with the cause of ctx when
// that ends.
func entriesOf(ctx context.Context, folder *os.Root) (entries []fs.DirEntry, err error) {
	file, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for err == nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var more []fs.DirEntry
		more, err = file.ReadDir(readAtOnce)
		entries = append(entries, more...)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if err == io.EOF {
		return entries, nil
	}
	return entries, err
}

// folderIn opens a folder in an open one, but no link.
func folderIn(folder *os.Root, name string) (*os.Root, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errMoved
	}
	below, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	if err != nil || !os.SameFile(before, opened) {
		return nil, errors.Join(errMoved, err, below.Close())
	}
	return below, nil
}

// fileIn opens a file in an open folder, but no link.
func fileIn(folder *os.Root, name string) (*os.File, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(before, opened) {
		return nil, errors.Join(errMoved, err, file.Close())
	}
	if err := regular(file); err != nil {
		return nil, err
	}
	return file, nil
}

// pin opens the folder of an existing or new file and checks that the file may be written.
func (g guard) pin(path string) (folder *os.Root, name string, err error) {
	name = filepath.Base(path)
	err = g.settle(filepath.Dir(path), func(real string) error {
		if g.closes(filepath.Join(real, name)) {
			return errClosed
		}
		folder, err = rootOf(real)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s %w", path, err)
	}
	return folder, name, nil
}

// makeFolders creates the missing folders of a path.
func (g guard) makeFolders(path string) error {
	var missing []string
	for {
		if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
			break
		}
		missing = append(missing, filepath.Base(path))
		path = filepath.Dir(path)
	}
	folder, real, err := g.openFolder(path)
	if err != nil {
		return err
	}
	defer func() { folder.Close() }()
	for _, name := range slices.Backward(missing) {
		if real = filepath.Join(real, name); g.closes(real) {
			return errClosed
		}
		if err := folder.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		below, err := folderIn(folder, name)
		if err != nil {
			return err
		}
		if err := folder.Close(); err != nil {
			return errors.Join(err, below.Close())
		}
		folder = below
	}
	return nil
}

// put replaces or creates a file as a whole, or leaves it unchanged. The last element of
// path must not be a link.
func (g guard) put(path, content string, mode fs.FileMode) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return atomicfile.WriteIn(folder, name, []byte(content), mode)
}

// remove deletes a file.
func (g guard) remove(path string) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Remove(name)
}

// chmod sets the permissions of a file.
func (g guard) chmod(path string, mode fs.FileMode) error {
	folder, name, err := g.pin(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Chmod(name, mode)
}
