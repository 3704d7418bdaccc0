package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// migrate converts the lines of a file of version 1 or 2 to version 3.
func (f *File) migrate() {
	if f.Header.Version < 2 {
		f.addIDs()
	}
	f.renameHooks()
	f.Header.Version = Version
}

// addIDs gives the entries of version 1, which have no ids, ids and parents in file
// order. A compaction names the first kept entry by its index among the valid
// lines, including the header; it can only refer to an entry that already has its
// id.
func (f *File) addIDs() {
	ids := map[string]bool{}
	parent := []byte("null")
	for i := range f.lines {
		e := &f.lines[i]
		if e.Type == TypeSession || !isObject(e.Raw) {
			continue
		}
		id := appendQuoted(nil, f.deriveID(i, ids))
		raw := withMember(withMember(e.Raw, "id", id), "parentId", parent)
		parent = id
		f.lines[i] = reparse(raw)
		if e.Type == TypeCompaction {
			f.lines[i] = reparse(f.keptByID(raw))
		}
	}
}

// keptByID replaces a compaction's firstKeptEntryIndex by firstKeptEntryId.
func (f *File) keptByID(raw json.RawMessage) json.RawMessage {
	text := member(raw, "firstKeptEntryIndex")
	index, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return raw
	}
	if index == math.Trunc(index) && index >= 0 && index < float64(len(f.lines)) {
		if kept := &f.lines[int(index)]; kept.Type != TypeSession {
			raw = withMember(raw, "firstKeptEntryId", member(kept.Raw, "id"))
		}
	}
	return withMember(raw, "firstKeptEntryIndex", nil)
}

// renameHooks gives the messages that version 2 called hookMessage their current
// role.
func (f *File) renameHooks() {
	for i := range f.lines {
		e := &f.lines[i]
		if message := e.message(); isObject(message) && memberString(message, "role") == "hookMessage" {
			f.lines[i] = reparse(withMember(e.Raw, "message", withMember(message, "role", []byte(`"custom"`))))
		}
	}
}

// deriveID derives an id in Pi's form of eight hexadecimal digits.
func (f *File) deriveID(index int, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(f.Header.ID + "\n" + strconv.Itoa(index) + "\n" + strconv.Itoa(n)))
		if id := hex.EncodeToString(sum[:4]); !taken[id] {
			taken[id] = true
			return id
		}
	}
}

// migratedHeader returns the header line in the form of version 3.
func (f *File) migratedHeader() json.RawMessage {
	if !f.Migrated {
		return f.HeaderLine
	}
	return withMember(f.HeaderLine, "version", []byte(strconv.Itoa(Version)))
}

// MigratedBytes is Bytes with the invalid lines kept unchanged in their places: a
// damaged file of an old version becomes a file of version 3 with the same damage.
// data is what the file was read from. An incomplete last line is left out, as are
// blank lines and later headers.
func (f *File) MigratedBytes(data []byte) []byte {
	if f.Torn {
		data = data[:f.Whole]
	}
	entries, begun := f.Tree.entries, false
	var out []byte
	for line := range bytes.Lines(data) {
		e := Entry{}
		text := bytes.TrimSuffix(line, []byte{'\n'})
		flaw, kept := (&lineParser{}).parseAny(&e, validText(text))
		switch {
		case !kept && flaw != "":
			out = append(append(out, text...), '\n')
		case !kept:
		case !begun:
			begun = true
			out = append(append(out, f.migratedHeader()...), '\n')
		case e.Type != TypeSession && len(entries) > 0:
			out = append(append(out, entries[0].Raw...), '\n')
			entries = entries[1:]
		}
	}
	return out
}

// Bytes returns the whole file as version 3: the header and every entry, a line
// each. Invalid lines are left out.
func (f *File) Bytes() []byte {
	out := append(slices.Clone(f.migratedHeader()), '\n')
	for _, e := range f.Tree.entries {
		out = append(append(out, e.Raw...), '\n')
	}
	return out
}

func isObject(raw []byte) bool {
	i := skipSpace(raw, 0)
	return i < len(raw) && raw[i] == '{'
}

// reparse parses a line that was derived from a valid one.
func reparse(raw []byte) Entry {
	var e Entry
	p := lineParser{}
	if !p.parse(&e, raw) {
		return Entry{}
	}
	return e
}
