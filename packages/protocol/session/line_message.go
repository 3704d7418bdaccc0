package session

import (
	"bytes"
	"encoding/json"
)

// role is the role of a message, as far as the context needs it.
type role uint8

const (
	roleOther role = iota
	roleUser
	roleAssistant
	roleToolResult
	roleSystem
	roleCustom
)

// readMessage skips the message of an entry and records what the context needs to
// know about it, so that most messages need no second pass.
func readMessage(e *Entry, r *objectReader) (ok bool) {
	e.role, e.noContent = roleOther, true
	m, object := readObject(r.b, r.i)
	if !object {
		_, ok = r.value()
		return ok
	}
	for _, known := range [...]role{roleUser, roleAssistant, roleToolResult} {
		if m.passes(known.member()) {
			e.role, m.begun = known, true
			break
		}
	}
	for {
		key, more := m.key()
		if !more {
			r.i = m.i
			return m.whole
		}
		value, ok := m.value()
		if !ok {
			return false
		}
		switch string(m.name(key)) {
		case "role":
			e.role = roleOf(value)
		case "content":
			e.noContent = value[0] == 'n'
		}
	}
}

// member returns the JSON member with which messages of the role begin.
func (r role) member() string {
	switch r {
	case roleUser:
		return `"role":"user"`
	case roleAssistant:
		return `"role":"assistant"`
	default:
		return `"role":"toolResult"`
	}
}

func roleOf(value []byte) role {
	if value[0] != '"' {
		return roleOther
	}
	name := value[1 : len(value)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(value))
	}
	switch string(name) {
	case "user":
		return roleUser
	case "assistant":
		return roleAssistant
	case "toolResult":
		return roleToolResult
	case "system":
		return roleSystem
	case "custom":
		return roleCustom
	}
	return roleOther
}

// message returns the text of a message entry's message; nil if it has none.
func (e *Entry) message() json.RawMessage {
	if e.Type != TypeMessage {
		return nil
	}
	if e.body > 0 && int(e.bodyEnd) <= len(e.Raw) {
		return e.Raw[e.body:e.bodyEnd:e.bodyEnd]
	}
	return member(e.Raw, "message")
}
