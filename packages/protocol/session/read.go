package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
)

// Errors of ReadFile.
var (
	ErrEmpty      = errors.New("session: the file is empty")
	ErrNotSession = errors.New("session: the file does not begin with a session header")
)

// File is a session file as it was read. Entries point into the bytes that were
// given to ReadFile, which must not change after.
type File struct {
	Header     Header
	HeaderLine json.RawMessage // the header as it stands on disk
	Tree       *Tree           // as version 3, whatever the file's version
	Migrated   bool            // the file is of version 1 or 2, and the tree is not what is on disk
	Damage     []Damage        // lines that gave no entry, in order
	Whole      int             // bytes up to and including the last LF
	Torn       bool            // what follows the last LF is not JSON: a write that was cut

	lines []Entry // headers too, while the file is read
}

// Damage is one line of a file that is not an entry. It stays in the file; the
// tree goes on without it.
type Damage struct {
	Line int // from 1
	What string
}

// EmptyFile is what an empty file holds: a session that has not begun. Pi gives
// such a file a header with its first entry.
func EmptyFile() *File { return &File{Tree: NewTree(nil)} }

// ReadFile reads a session file of any version, of ours or of Pi's. It takes what
// Pi takes: lines that are not JSON are passed over (and listed in Damage), the
// first line that reads must be the header, later headers are no entries, and a
// JSON value that is no object is an entry without an id. Files of version 1 and
// 2 are migrated in memory; ids that a version 1 file lacks are derived from its
// content, so that they are the same at every reading.
//
// A long file is read by several goroutines, which have ended when it returns.
//
// The errors are ErrEmpty and ErrNotSession.
func ReadFile(data []byte) (*File, error) { return readFile(data, partsOf(len(data))) }

func readFile(data []byte, parts int) (*File, error) {
	if len(data) == 0 {
		return nil, ErrEmpty
	}
	f := &File{}
	number, err := f.readHead(data)
	if err != nil {
		return nil, err
	}
	f.readRest(data[f.Whole:], number, make([]part, parts))
	if f.Header.Version < Version {
		f.Migrated = true
		f.migrate()
	}
	f.Tree = newTree(f.entries())
	f.lines = nil
	return f, nil
}

// entries returns the lines that are no headers, in the memory of lines.
func (f *File) entries() []Entry {
	entries := f.lines[1:]
	for i := range entries {
		if entries[i].Type == TypeSession {
			return slices.DeleteFunc(entries, func(e Entry) bool { return e.Type == TypeSession })
		}
	}
	return entries
}

// readHead reads lines up to the header, which is the first that is JSON. It
// returns how many there were.
func (f *File) readHead(data []byte) (number int, err error) {
	head := part{}
	for rest := data; f.HeaderLine == nil; number++ {
		if len(rest) == 0 {
			return 0, ErrNotSession
		}
		end := endOfLine(rest, 0)
		head.read(rest[:end])
		if rest = rest[end:]; len(head.lines) == 0 {
			continue
		}
		line, ok := head.lines[0].Raw, false
		if f.Header, ok = readHeader(line); !ok {
			return 0, ErrNotSession
		}
		f.HeaderLine = line
	}
	f.lines, f.Whole, f.Torn = head.lines, head.whole, head.torn
	f.take(head.flaws, 0)
	return number, nil
}

// endOfLine returns the index after the first LF at or after i, or the end.
func endOfLine(data []byte, i int) int {
	if i >= len(data) {
		return len(data)
	}
	end := bytes.IndexByte(data[i:], '\n')
	if end < 0 {
		return len(data)
	}
	return i + end + 1
}

// parseOther makes an entry of a JSON value that is no object, as Pi does.
func parseOther(line []byte) (Entry, bool) {
	start := skipSpace(line, 0)
	end, ok := skipValue(line, start)
	if !ok || skipSpace(line, end) != len(line) {
		return Entry{}, false
	}
	return Entry{idForm: formAbsent, parentForm: formAbsent, Raw: line}, true
}

// falsy tells whether JavaScript takes a JSON text that is no object for false;
// Pi drops such lines.
func falsy(line []byte) bool {
	switch text := bytes.TrimSpace(line); text[0] {
	case 'n', 'f':
		return true
	case '"':
		return len(text) == 2
	case 't', '[':
		return false
	default:
		n, err := strconv.ParseFloat(string(text), 64)
		return err == nil && (n == 0 || math.IsNaN(n))
	}
}
