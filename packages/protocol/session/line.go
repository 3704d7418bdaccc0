package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Entry is any entry: the fields that all share, and the line itself. Raw is the
// truth; it goes to disk and over the wire unchanged.
type Entry struct {
	Type       EntryType // "" where the line has none
	ID         string    // "" where the line has none, or one that is no string
	ParentID   string    // "" at a root
	Timestamp  string    // "" where the line has none, or one that is no string
	Seq        uint64    // 0 in files that are not ours
	CustomType string
	Raw        json.RawMessage

	idForm, parentForm form
	role               role
	noContent          bool   // message.content is null or absent
	odd                bool   // a member that all entries share is of the wrong kind
	body               uint32 // where the message begins in Raw; 0: not known
	bodyEnd            uint32
}

// form says what kind of value an id is.
type form uint8

const (
	formString form = iota
	formNull
	formAbsent
	formOther
)

// ErrNotEntry says that a line is not a JSON object with a type and an id.
var ErrNotEntry = errors.New("session: the line is not an entry")

// ParseEntry reads one line (without its LF). It keeps line as Raw. It is strict:
// type and id are strings that are not empty, and parentId is a string or null.
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

// lineParser reads lines into entries. It shares the strings that neighbours have
// in common, since most of them hang on the one before.
type lineParser struct {
	lastID string
	texts  *textSlab // where the strings of many lines lie together; nil: each by itself
	wrong  string    // the member whose value is of the wrong kind
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

// parse reads one line into e, which is zero. ok is false where it is not a JSON
// object; then e is not to be used.
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
// order and the form in which programs write them; member reads what follows. ok is
// false where the line is not JSON.
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

// Strict tells whether ParseEntry would take the line.
func (e Entry) Strict() bool { return e.Type != "" && e.ID != "" && !e.odd }

// memberKind is a member that the tree asks for.
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

// typeOf returns the type in a JSON value, with no copy of the types that are known.
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
