// Package memory keeps notes for later sessions: one Markdown file per note, in a folder for
// the user and one for each project. The agent saves and reads them with its tools; people
// list, change and delete them. Every change replaces a whole file.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/atomicfile"
)

// Bounds of notes.
const (
	MaxNote  = 32 << 10 // bytes of a saved note
	MaxNotes = 500      // per folder
	maxRead  = 2 * MaxNote
)

// Errors of names and changes. Others name the operation that failed.
var (
	ErrName    = errors.New("name must have 1 to 64 characters, lowercase letters, digits and hyphens, such as build-commands")
	ErrMissing = errors.New("there is no such note")
	ErrChanged = errors.New("the note was changed in the meantime")
	ErrExists  = errors.New("the note already exists")
	ErrFull    = errors.New("the limit of notes is reached; remove outdated ones")
	ErrText    = errors.New("the note is not UTF-8 text")
	ErrTooLong = errors.New("keep what matters")
)

// goodName matches valid names, which are valid file names on every system.
var goodName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckName returns ErrName unless a note can have the name.
func CheckName(name string) error {
	if !goodName.MatchString(name) {
		return ErrName
	}
	return nil
}

// CheckText returns an error unless a note can have the text.
func CheckText(text string) error {
	switch {
	case len(text) > MaxNote:
		return fmt.Errorf("the note has %d bytes, the limit is %d: %w", len(text), MaxNote, ErrTooLong)
	case !utf8.ValidString(text):
		return ErrText
	}
	return nil
}

// Note is a saved note.
type Note struct {
	Name string
	Text string // valid UTF-8, at most maxRead bytes of the file
	// Whole reports that Text is the content of the file.
	Whole    bool
	Version  string // identifies the content of the file
	Modified int64  // Unix milliseconds
}

// Title is the first line of the note that is not blank, without the marks of a heading.
func (n Note) Title() string {
	first, _, _ := strings.Cut(strings.TrimSpace(n.Text), "\n")
	return strings.TrimSpace(strings.TrimLeft(first, "#"))
}

// Notes are the notes of a home.
type Notes struct {
	top     string
	changed func()

	mu sync.Mutex // held while a note is changed
}

// New makes the notes below a folder, which need not exist. changed is called after every
// change; it may be nil.
func New(top string, changed func()) *Notes {
	return &Notes{top: top, changed: changed}
}

// Folder holds the notes of the user or of one project.
type Folder struct {
	notes *Notes
	path  string
}

// User returns the notes for every project.
func (n *Notes) User() Folder { return Folder{n, filepath.Join(n.top, "user")} }

// Project returns the notes of a project. Its folder is named after the project's path, so
// that renaming the project does not lose them. The path has no symbolic links.
func (n *Notes) Project(path string) Folder {
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, filepath.Base(path))
	return Folder{n, filepath.Join(n.top, "projects", name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:6]))}
}

// Path returns the path of a note's file.
func (f Folder) Path(name string) string { return filepath.Join(f.path, name+".md") }

// List returns the notes by name. Files that are not notes are left out.
func (f Folder) List() ([]Note, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the notes cannot be read: %w", err)
	}
	var list []Note
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".md")
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		note, err := f.read(name)
		if errors.Is(err, ErrMissing) {
			continue // deleted a moment ago
		}
		if err != nil {
			return nil, err
		}
		list = append(list, note)
	}
	return list, nil
}

// Get returns a note, or ErrMissing.
func (f Folder) Get(name string) (Note, error) {
	if err := f.named(name); err != nil {
		return Note{}, err
	}
	return f.read(name)
}

// named returns an error for a name that no file of the folder can have. People may have
// named files in ways that CheckName does not allow.
func (f Folder) named(name string) error {
	if name == "" || name != filepath.Base(name) || strings.ContainsAny(name, `/\:`) || strings.ContainsRune(name, 0) {
		return ErrName
	}
	return nil
}

func (f Folder) read(name string) (Note, error) {
	path := f.Path(name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Note{}, ErrMissing
	}
	var data []byte
	if err == nil {
		data, err = readStart(path, maxRead+1)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}, ErrMissing
	}
	if err != nil {
		return Note{}, fmt.Errorf("the note cannot be read: %w", err)
	}
	text := data[:min(len(data), maxRead)]
	whole := len(text) == len(data)
	if !whole { // the rest is not read: its size and time stand for it
		data = fmt.Appendf(data, "\x00%d %d", info.Size(), info.ModTime().UnixNano())
	}
	return Note{
		Name: name, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Whole: whole && utf8.Valid(text),
		Version: version(data), Modified: info.ModTime().UnixMilli(),
	}, nil
}

// readStart reads up to most bytes of a file.
func readStart(path string, most int64) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, most))
}

func version(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Expected is what the author of a change knows of the note.
type Expected struct {
	known   bool
	version string
}

// Anything replaces or deletes a note whatever its content is.
func Anything() Expected { return Expected{} }

// Version is the version that was read; "" means that there was no note.
func Version(of string) Expected { return Expected{known: true, version: of} }

// check returns an error if the note is not as expected.
func (e Expected) check(note Note, err error) error {
	switch {
	case err != nil && !errors.Is(err, ErrMissing):
		return err
	case !e.known:
		return nil
	case err != nil && e.version != "":
		return ErrMissing
	case err == nil && e.version == "":
		return ErrExists
	case err == nil && note.Version != e.version:
		return ErrChanged
	}
	return nil
}

// Save writes a note and returns it.
func (f Folder) Save(name, text string, expected Expected) (Note, error) {
	note, err := f.save(name, text, expected)
	if err == nil {
		f.notes.notify()
	}
	return note, err
}

func (f Folder) save(name, text string, expected Expected) (Note, error) {
	if err := CheckText(text); err != nil {
		return Note{}, err
	}
	f.notes.mu.Lock()
	defer f.notes.mu.Unlock()
	before, err := f.Get(name)
	if err := expected.check(before, err); err != nil {
		return Note{}, err
	}
	if errors.Is(err, ErrMissing) {
		if err := f.room(name); err != nil {
			return Note{}, err
		}
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := atomicfile.Write(f.Path(name), []byte(text), 0o600); err != nil {
		return Note{}, fmt.Errorf("the note could not be saved: %w", err)
	}
	return f.read(name)
}

// room prepares the folder for a new note.
func (f Folder) room(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("the folder for notes could not be created: %w", err)
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("the notes cannot be read: %w", err)
	}
	if len(entries) >= MaxNotes {
		return ErrFull
	}
	return nil
}

// Delete deletes a note. Without one it returns ErrMissing.
func (f Folder) Delete(name string, expected Expected) error {
	err := f.remove(name, expected)
	if err == nil {
		f.notes.notify()
	}
	return err
}

func (f Folder) remove(name string, expected Expected) error {
	f.notes.mu.Lock()
	defer f.notes.mu.Unlock()
	note, err := f.Get(name)
	if err != nil {
		return err
	}
	if err := expected.check(note, nil); err != nil {
		return err
	}
	if err = os.Remove(f.Path(name)); err == nil {
		err = atomicfile.SyncDir(f.path) // or the note could return after a power failure
	}
	if err != nil {
		return fmt.Errorf("the note could not be removed: %w", err)
	}
	return nil
}

func (n *Notes) notify() {
	if n.changed != nil {
		n.changed()
	}
}
