package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Entry is any entry: the fields that all types share, and the line itself. Raw is
// authoritative; it is written to disk unchanged, and sent unchanged except for the
// data of images.
type Entry struct {
	Type       EntryType // "" if the line has none
	ID         string    // "" if the line has none or it is not a string
	ParentID   string    // "" at a root
	Timestamp  string    // "" if the line has none or it is not a string
	Seq        uint64    // 0 in files of other programs
	CustomType string
	Raw        json.RawMessage

	idForm, parentForm form
	role               role
	noContent          bool   // message.content is null or absent
	odd                bool   // a common member is of the wrong kind
	body               uint32 // offset of the message in Raw; 0: unknown
	bodyEnd            uint32
}

// form is the JSON kind of an id.
type form uint8

const (
	formString form = iota
	formNull
	formAbsent
	formOther
)

// ErrNotEntry is returned for a line that is not a JSON object with a type and an
// id.
var ErrNotEntry = errors.New("session: the line is not an entry")

// ParseEntry parses one line (without its LF). It keeps line as Raw. It is strict:
// type and id must be non-empty strings, and parentId a string or null.
func ParseEntry(line []byte) (Entry, error) {
	var e Entry
	p := lineParser{}
	ok := p.parse(&e, line)
	switch {
	case !ok || p.wrong != "" && p.wrong != "id" && p.wrong != "type":
		return Entry{}, fmt.Errorf("%w: %s", ErrNotEntry, p.reason(line))
	case e.Type == "" || e.ID == "":
		return Entry{}, fmt.Errorf("%w: type or id is missing", ErrNotEntry)
	}
	return e, nil
}

// lineParser parses lines into entries. It shares strings between neighbors, since
// most entries have the previous one as their parent.
type lineParser struct {
	lastID string
	texts  *textSlab // shared memory for the strings of many lines; nil: allocate each
	wrong  string    // the member with a value of the wrong kind
}

func (p *lineParser) reason(line []byte) string {
	start := skipSpace(line, 0)
	switch end, ok := skipValue(line, start); {
	case !ok || skipSpace(line, end) != len(line):
		return "it is not JSON"
	case line[start] != '{':
		return "it is not a JSON object"
	}
	return p.wrong + " is of the wrong kind"
}

// parse parses one line into e, which is zero. ok is false if the line is not a
// JSON object; e must not be used then.
func (p *lineParser) parse(e *Entry, line []byte) (ok bool) {
	e.idForm, e.parentForm, e.Raw = formAbsent, formAbsent, line
	p.wrong = ""
	r, ok := readObject(line, 0)
	ok = ok && p.lead(e, &r)
	for ok {
		var key []byte
		if key, ok = r.key(); !ok {
			break
		}
		ok = p.member(e, &r, memberOf(r.name(key)))
	}
	if !r.whole || skipSpace(line, r.i) != len(line) {
		return false
	}
	p.lastID, e.odd = e.ID, p.wrong != ""
	return true
}

// lead reads the members that most lines begin with, as long as they come in the
// usual order and form; member reads the rest. ok is false if the line is not JSON.
func (p *lineParser) lead(e *Entry, r *objectReader) (ok bool) {
	if !r.passes(`"type":"message"`) {
		return true
	}
	e.Type, r.begun = TypeMessage, true
	for _, next := range [...]struct {
		text   string
		member memberKind
	}{{`,"id":`, memberID}, {`,"parentId":`, memberParent}, {`,"timestamp":`, memberTime}, {`,"message":`, memberMessage}} {
		if !r.passes(next.text) {
			return true
		}
		r.i = skipSpace(r.b, r.i)
		if !p.member(e, r, next.member) {
			return false
		}
	}
	return true
}

// Strict reports whether ParseEntry would accept the line.
func (e Entry) Strict() bool { return e.Type != "" && e.ID != "" && !e.odd }

// memberKind is a member that the tree uses.
type memberKind uint8

const (
	memberOther memberKind = iota
	memberType
	memberID
	memberParent
	memberTime
	memberMessage
	memberCustom
	memberSeq
)

func memberOf(name []byte) memberKind {
	switch string(name) {
	case "type":
		return memberType
	case "id":
		return memberID
	case "parentId":
		return memberParent
	case "timestamp":
		return memberTime
	case "message":
		return memberMessage
	case "customType":
		return memberCustom
	case "seq":
		return memberSeq
	}
	return memberOther
}

// member reads the value of one member into e.
func (p *lineParser) member(e *Entry, r *objectReader, kind memberKind) (ok bool) {
	if kind == memberMessage {
		start := r.i
		ok = readMessage(e, r)
		e.body, e.bodyEnd = uint32(start), uint32(r.i)
		return ok
	}
	value, ok := r.value()
	if !ok {
		return false
	}
	switch kind {
	case memberType:
		e.Type = typeOf(value)
		p.check(e.Type != "" || value[0] == '"', "type")
	case memberID:
		e.ID, e.idForm = p.id(value)
		p.check(e.idForm == formString, "id")
	case memberParent:
		e.ParentID, e.parentForm = p.id(value)
		p.check(e.parentForm != formOther, "parentId")
	case memberTime:
		e.Timestamp = p.text(value, "timestamp")
	case memberCustom:
		e.CustomType = p.text(value, "customType")
	case memberSeq:
		n, err := strconv.ParseUint(string(value), 10, 64)
		p.check(err == nil || value[0] == 'n', "seq")
		e.Seq = n
	}
	return true
}

func (p *lineParser) check(ok bool, name string) {
	if !ok {
		p.wrong = name
	}
}

func (p *lineParser) text(value []byte, name string) string {
	if value[0] != '"' {
		p.check(value[0] == 'n', name)
		return ""
	}
	return p.texts.unquote(value)
}

func (p *lineParser) id(value []byte) (string, form) {
	switch {
	case value[0] == 'n':
		return "", formNull
	case value[0] != '"':
		return "", formOther
	case string(value[1:len(value)-1]) == p.lastID:
		return p.lastID, formString
	}
	return p.texts.unquote(value), formString
}

// typeOf returns the type in a JSON value, without allocating for known types.
func typeOf(value []byte) EntryType {
	if value[0] != '"' {
		return ""
	}
	switch inner := value[1 : len(value)-1]; string(inner) {
	case string(TypeMessage):
		return TypeMessage
	case string(TypeCustom):
		return TypeCustom
	}
	for _, known := range [...]EntryType{
		TypeSession, TypeModelChange, TypeThinkingLevelChange, TypeCompaction, TypeBranchSummary,
		TypeSessionInfo, TypeLabel, TypeCustomMessage, TypeUsage, TypeContextEdit,
	} {
		if string(value[1:len(value)-1]) == string(known) {
			return known
		}
	}
	return EntryType(unquote(value))
}
