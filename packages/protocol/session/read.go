package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Errors of ReadFile.
var (
	ErrEmpty      = errors.New("session: the file is empty")
	ErrNotSession = errors.New("session: the file does not begin with a session header")
)

// File is a session file as read. Entries point into the bytes given to ReadFile,
// which must not be modified afterwards.
type File struct {
	Header     Header
	HeaderLine json.RawMessage // the header as it is on disk
	Tree       *Tree           // as version 3, whatever the file's version
	Migrated   bool            // the file is of version 1 or 2, and the tree is not what is on disk
	Damage     []Damage        // lines that are not entries, or only in part, in order
	Whole      int             // bytes up to and including the last LF
	Torn       bool            // what follows the last LF is not JSON: an incomplete write

	data  []byte  // the file's bytes
	lines []Entry // including headers, while the file is read
}

// Damage is one line of a file that is not an entry, or nests too deep for one. It
// stays in the file; the tree omits it, or keeps the part that can be read.
type Damage struct {
	Line int // from 1
	What string
}

// EmptyFile returns the content of an empty file: a session that has not begun. Pi
// gives such a file a header with its first entry.
func EmptyFile() *File { return &File{Tree: NewTree(nil)} }

// ReadFile reads a session file of any version, of scorel or Pi. It accepts what Pi
// accepts: lines that are not JSON are skipped (and listed in Damage), the first
// valid line must be the header, later headers are not entries, and a JSON value
// that is not an object is an entry without an id. Files of version 1 and 2 are
// migrated in memory; ids that a version 1 file lacks are derived from its content,
// so that they are the same on every read.
//
// The errors are ErrEmpty and ErrNotSession.
func ReadFile(data []byte) (*File, error) {
	if len(data) == 0 {
		return nil, ErrEmpty
	}
	f := &File{data: data, Whole: bytes.LastIndexByte(data, '\n') + 1}
	if err := f.readLines(data); err != nil {
		return nil, err
	}
	if f.Header.Version < Version {
		f.Migrated = true
		f.migrate()
	}
	f.Tree = newTree(f.entries())
	f.lines = nil
	return f, nil
}

// entries returns the lines that are not headers, reusing the memory of lines.
func (f *File) entries() []Entry {
	entries := f.lines[1:]
	for i := range entries { // without copying, since few files have a second header
		if entries[i].Type == TypeSession {
			return slices.DeleteFunc(entries, func(e Entry) bool { return e.Type == TypeSession })
		}
	}
	return entries
}

// validAhead is how many bytes are checked for valid UTF-8 at once.
const validAhead = 64 << 10

// readLines reads all lines. The first entry must be the header.
func (f *File) readLines(data []byte) error {
	parser := lineParser{texts: &textSlab{}}
	f.lines = make([]Entry, 0, roomFor(data)+1) // the last line may end without an LF
	for valid, checked, at, number := true, 0, 0, 1; at < len(data); number++ {
		if at >= checked {
			checked = endOfLine(data, at+validAhead)
			valid = utf8.Valid(data[at:checked])
		}
		line, _, ended := bytes.Cut(data[at:], []byte{'\n'})
		at += len(line) + 1
		if !valid {
			line = validText(line)
		}
		f.lines = append(f.lines, Entry{})
		flaw, kept := parser.parseAny(&f.lines[len(f.lines)-1], line[:len(line):len(line)])
		if flaw != "" {
			if len(f.Damage) == cap(f.Damage) { // double the capacity; append would add only a quarter
				f.Damage = append(make([]Damage, 0, 2*len(f.Damage)+16), f.Damage...)
			}
			f.Damage = append(f.Damage, Damage{number, flaw})
			f.Torn = flaw == notJSON && !ended
		}
		if !kept {
			f.lines = f.lines[:len(f.lines)-1]
		} else if f.HeaderLine == nil && !f.takeHeader() {
			return ErrNotSession
		}
	}
	if f.HeaderLine == nil {
		return ErrNotSession
	}
	return nil
}

func (f *File) takeHeader() (ok bool) {
	f.HeaderLine = f.lines[0].Raw
	f.Header, ok = readHeader(f.HeaderLine)
	return ok
}

// Problems of a line.
const (
	notJSON   = "it is not JSON"
	notObject = "it is not a JSON object"
	tooDeep   = "it nests too deep to be read as a whole"
)

// parseAny parses any line of a file into e, which is zero. flaw is "" or the
// problem with the line; kept reports whether there is an entry nevertheless. A
// blank line is neither.
func (p *lineParser) parseAny(e *Entry, line []byte) (flaw string, kept bool) {
	if flat, deep := flattened(line); deep && p.parse(e, flat) {
		return tooDeep, true
	} else if !deep && p.parse(e, line) {
		return "", true
	}
	*e = Entry{idForm: formAbsent, parentForm: formAbsent, Raw: line}
	start := skipSpace(line, 0)
	end, ok := skipValue(line, start)
	switch {
	case ok && skipSpace(line, end) == len(line):
		return notObject, !falsy(line)
	case start == len(line) || trim(string(line)) == "":
		return "", false
	}
	return notJSON, false
}

// roomFor returns how many lines ending with an LF may be entries. Few entries are
// shorter than 24 bytes: if there would have to be such entries, the lines that
// cannot be entries are not counted, so that neither short lines nor a second count
// cost more than they must.
func roomFor(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if n <= len(data)/24 {
		return n
	}
	n = 0
	for line := range bytes.Lines(data) {
		if start := skipSpace(line, 0); start < len(line) && strings.IndexByte(`{["tfn-0123456789`, line[start]) >= 0 {
			n++
		}
	}
	return n
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

// falsy reports whether JavaScript treats a JSON text that is not an object as
// false; Pi drops such lines.
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
