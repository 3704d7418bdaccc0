// Package attached stores the files that people attach to prompts in the folder of a session,
// where the agent's tools can read them by path. The agent can write to that folder too, so
// nothing in it is trusted: no link leads out of it, and a file that has changed is replaced
// when it is attached again.
package attached

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrFull means that the folder has too many bytes.
var ErrFull = errors.New("attached: the session has too many attached files")

// folder is the folder of attached files in that of a session.
const folder = "attached"

// maxName bounds the bytes of a file name.
const maxName = 120

// Store stores a file below dir, the absolute path of the session's folder, and returns its
// path. Repeating it changes nothing. The files in the folder have at most limit bytes.
func Store(dir, hash, name string, data []byte, limit int64) (path string, err error) {
	place, err := placeOf(hash, name)
	if err != nil {
		return "", err
	}
	root, err := open(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if holds(root, place, data) {
		return filepath.Join(dir, place), nil
	}
	size, err := sizeOf(root, place)
	switch {
	case err != nil:
		return "", fmt.Errorf("attached: measuring the folder: %w", err)
	case size+int64(len(data)) > limit:
		return "", ErrFull
	}
	if err := write(root, place, data); err != nil {
		return "", fmt.Errorf("attached: storing a file: %w", err)
	}
	return filepath.Join(dir, place), nil
}

// Find returns the path and size of a file that was stored before. The error is
// fs.ErrNotExist if there is none.
func Find(dir, hash, name string) (path string, size int64, err error) {
	place, err := placeOf(hash, name)
	if err != nil {
		return "", 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Lstat(place)
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, fs.ErrNotExist
	}
	return filepath.Join(dir, place), info.Size(), nil
}

// Remove removes all files of a session.
func Remove(dir string) error { return os.RemoveAll(filepath.Join(dir, folder)) }

// placeOf is where a file is in the folder of a session: files of one name do not collide, and
// one that is attached twice is stored once.
func placeOf(hash, name string) (string, error) {
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", fs.ErrNotExist
	}
	return filepath.Join(folder, hash[:16], CleanName(name)), nil
}

// CleanName makes a file name of what a client calls a file. It has no separators, control or
// shell characters, does not begin with a dot or a dash, and keeps its extension.
func CleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_"))
	name = strings.TrimLeft(name, ".-")
	if name == "" {
		return "file"
	}
	ext := filepath.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	for len(stem)+len(ext) > maxName {
		_, last := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-last]
	}
	return stem + ext
}

func open(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("attached: creating the session's folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("attached: opening the session's folder: %w", err)
	}
	return root, nil
}

// holds reports whether the place has this content. It reads nothing of another size: the agent
// can have made the file as large as it likes.
func holds(root *os.Root, place string, data []byte) bool {
	info, err := root.Lstat(place)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	before, err := root.ReadFile(place)
	return err == nil && bytes.Equal(before, data)
}

// write replaces whatever is at the place by a complete file.
func write(root *os.Root, place string, data []byte) error {
	if err := root.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := removeStale(root, place); err != nil {
		return err
	}
	part := place + "." + rand.Text() + partEnd // two prompts may attach the same file at once
	file, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return root.Rename(part, place)
}

// partEnd ends the name of a file that is being written.
const partEnd = ".part"

// staleAfter is how long a write takes at most.
const staleAfter = time.Hour

// removeStale removes what writes of this file left behind when the host was killed.
func removeStale(root *os.Root, place string) error {
	list, err := fs.ReadDir(root.FS(), filepath.ToSlash(filepath.Dir(place)))
	if err != nil {
		return err
	}
	for _, entry := range list {
		name := entry.Name()
		if !strings.HasPrefix(name, filepath.Base(place)+".") || !strings.HasSuffix(name, partEnd) {
			continue
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue // it is gone, or being written
		}
		if err := root.RemoveAll(filepath.Join(filepath.Dir(place), name)); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf returns the bytes of all files, but for the one at the place, which is replaced.
func sizeOf(root *os.Root, place string) (size int64, err error) {
	replaced := filepath.ToSlash(place)
	err = fs.WalkDir(root.FS(), folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == replaced {
			return err
		}
		if strings.HasPrefix(path, replaced+".") && strings.HasSuffix(path, partEnd) {
			return nil // another prompt with the same file
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return size, nil
	}
	return size, err
}
