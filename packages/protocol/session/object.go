package session

import (
	"bytes"
	"encoding/json"
)

// objectReader iterates over the members of one JSON object. The caller asks for a
// key, then either skips the value or reads it and records where it ended.
type objectReader struct {
	b     []byte
	i     int
	begun bool
	whole bool // the closing brace was read
	plain bool // the last key has no escapes
}

// readObject begins reading the object at b[i]. ok is false if there is none.
func readObject(b []byte, i int) (r objectReader, ok bool) {
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != '{' {
		return r, false
	}
	return objectReader{b: b, i: i + 1}, true
}

// passes skips text if it comes next, and reports whether it did.
func (r *objectReader) passes(text string) bool {
	if len(r.b)-r.i < len(text) || string(r.b[r.i:r.i+len(text)]) != text {
		return false
	}
	r.i += len(text)
	return true
}

// key returns the next key with its quotes; r.i is then the start of the value. ok
// is false at the end and for invalid JSON, when whole is false.
func (r *objectReader) key() (key []byte, ok bool) {
	r.i = skipSpace(r.b, r.i)
	if r.i >= len(r.b) {
		return nil, false
	}
	if r.b[r.i] == '}' {
		r.i++
		r.whole = true
		return nil, false
	}
	if r.begun {
		if r.b[r.i] != ',' {
			return nil, false
		}
		r.i = skipSpace(r.b, r.i+1)
	}
	r.begun = true
	start := r.i
	if start >= len(r.b) || r.b[start] != '"' {
		return nil, false
	}
	end := skipPlain(r.b, start+1)
	if r.plain = end < len(r.b) && r.b[end] == '"'; r.plain {
		end++
	} else if end, ok = skipString(r.b, start); !ok {
		return nil, false
	}
	r.i = skipSpace(r.b, end)
	if r.i >= len(r.b) || r.b[r.i] != ':' {
		return nil, false
	}
	r.i = skipSpace(r.b, r.i+1)
	return r.b[start:end], true
}

// name returns the text of the key that was read last. It copies only if there are
// escapes.
func (r *objectReader) name(key []byte) []byte {
	if r.plain {
		return key[1 : len(key)-1]
	}
	return []byte(unquote(key))
}

// value skips the value and returns its text; ok is false if it is not JSON.
func (r *objectReader) value() (value []byte, ok bool) {
	start := r.i
	r.i, ok = skipValue(r.b, start)
	return r.b[start:r.i], ok
}

// keyIs reports whether a quoted key is equal to a plain ASCII name.
func keyIs(key []byte, name string) bool {
	if inner := key[1 : len(key)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	return unquote(key) == name
}

// member returns the text of a member of the object raw: the last one if the key
// occurs twice, as in JSON.parse. It returns nil if there is none.
func member(raw []byte, name string) json.RawMessage {
	var found json.RawMessage
	r, ok := readObject(raw, 0)
	for ok {
		var key, value []byte
		if key, ok = r.key(); !ok {
			break
		}
		if value, ok = r.value(); ok && keyIs(key, name) {
			found = value
		}
	}
	return found
}

// memberString is member for a string; "" if it is not a string.
func memberString(raw []byte, name string) string { return stringOf(member(raw, name)) }

func stringOf(value json.RawMessage) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	return unquote(value)
}

// field is one member of an object: the key with its quotes, and the value's text.
type field struct {
	key   []byte
	name  string
	value []byte
}

// fields returns the members of an object as JavaScript keeps them: a repeated key
// has its first position and its last value.
func fields(raw []byte) []field {
	var list []field
	at := map[string]int{}
	r, ok := readObject(raw, 0)
	for ok {
		var key, value []byte
		if key, ok = r.key(); !ok {
			break
		}
		if value, ok = r.value(); !ok {
			break
		}
		name := unquote(key)
		if i, twice := at[name]; twice {
			list[i].value = value
			continue
		}
		at[name] = len(list)
		list = append(list, field{key, name, value})
	}
	return list
}

// withMember returns the object raw with one member set, in its place if it exists,
// otherwise at the end; a nil value removes the member. The other values keep their
// text.
func withMember(raw []byte, name string, value []byte) json.RawMessage {
	list := fields(raw)
	found := false
	for i := range list {
		if list[i].name == name {
			list[i].value, found = value, true
		}
	}
	if !found {
		list = append(list, field{key: appendQuoted(nil, name), name: name, value: value})
	}
	return joinFields(list)
}

func joinFields(list []field) json.RawMessage {
	out := []byte{'{'}
	for _, f := range list {
		if f.value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, f.key...), ':'), f.value...)
	}
	return append(out, '}')
}
