package extension

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// file is a file of a copy.
type file struct {
	Size       int64
	Executable bool
	Sum        string
}

// tree is the files of a copy, by path.
type tree struct {
	files map[string]file
	hash  string
	bytes int64
}

// copyOf copies a folder and returns what was copied. The hash is that of the bytes that were
// written, so that a folder that changes meanwhile is not another one later. Without to,
// nothing is written.
func copyOf(from string, to *os.Root) (tree, error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		if at := new(fs.PathError); errors.As(err, &at) { // the caller names the folder
			err = at.Err
		}
		return tree{}, fmt.Errorf("the folder cannot be read: %w", err)
	}
	defer func() { _ = root.Close() }()
	list, err := walk(root)
	if err != nil {
		return tree{}, err
	}
	t := tree{files: make(map[string]file, len(list))}
	sum := sha256.New()
	_, _ = io.WriteString(sum, "scorel extension v1\x00")
	for _, e := range list {
		f, err := copyFile(root, e, to)
		if err != nil {
			return tree{}, err
		}
		t.files[e.path] = f
		t.bytes += f.Size
		add(sum, e.path, f)
	}
	t.hash = hex.EncodeToString(sum.Sum(nil))
	return t, nil
}

// add adds a file to the hash of an extension. Every field has a length or a fixed size.
func add(sum hash.Hash, name string, f file) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(name)))
	head = append(head, name...)
	mode := byte('-')
	if f.Executable {
		mode = 'x'
	}
	head = append(append(head, mode), f.Sum...)
	_, _ = sum.Write(binary.BigEndian.AppendUint64(head, uint64(f.Size)))
}

func copyFile(root *os.Root, e entry, to *os.Root) (f file, err error) {
	fail := func(err error) (file, error) {
		return file{}, fmt.Errorf("%s cannot be copied: %w", printable(e.path), err)
	}
	source, err := root.OpenFile(filepath.FromSlash(e.path), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() || info.Size() != e.info.Size() {
		return fail(errors.New("it was changed meanwhile"))
	}
	f.Executable = info.Mode()&0o111 != 0
	target := io.Discard
	if to != nil {
		written, err := create(to, e.path, f.Executable)
		if err != nil {
			return fail(err)
		}
		defer func() { err = errors.Join(err, written.Close()) }()
		target = written
	}
	sum := sha256.New()
	if f.Size, err = io.Copy(io.MultiWriter(target, sum), io.LimitReader(source, e.info.Size()+1)); err != nil {
		return fail(err)
	}
	if f.Size != e.info.Size() {
		return fail(errors.New("it was changed meanwhile"))
	}
	f.Sum = hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

func create(to *os.Root, name string, executable bool) (*os.File, error) {
	mode := fs.FileMode(0o400)
	if executable {
		mode = 0o500
	}
	if dir := path.Dir(name); dir != "." {
		if err := to.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return nil, err
		}
	}
	return to.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// fingerprint is a short text that changes when the files of a folder do, as far as their
// names, sizes, modes and times say so. It is empty for a folder that is not within the bounds.
func fingerprint(folder string) string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	list, err := walk(root)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	for _, e := range list {
		_, _ = fmt.Fprintf(sum, "%q %d %o %d\n", e.path, e.info.Size(), e.info.Mode(), e.info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}
