// Package exactjson decodes JSON by the exact names of its keys. encoding/json also
// accepts "SessionID" for "sessionId", which no other decoder of the protocol does:
// two programs that read one text would see two different things.
//
// It also limits how deep external JSON may nest. Decoders give up at very
// different depths, and what one stored another could not open.
package exactjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest in external values: a request,
// the arguments and result of a tool call, the progress of an operation. It leaves
// room for the lines, answers and events that contain such values, far below the
// limit of every decoder that reads those: MySQL stops at 100, others later.
const MaxDepth = 64

// Unmarshal is json.Unmarshal, except that a key that differs from a field name in
// case is treated as an unknown key and ignored.
func Unmarshal(data []byte, v any) error {
	var odd []int
	s := scanner{data: data, found: func(at int, _, _ string) { odd = append(odd, at) }}
	s.value(reflect.TypeOf(v))
	if len(odd) > 0 {
		data = slices.Clone(data)
		for _, at := range odd {
			data[at+1] = 0x7f // no field name begins with it
		}
	}
	return json.Unmarshal(data, v)
}

// Strict is Unmarshal for scorel's own files. A key with the wrong case, which is
// then a mistake, is an error, and so is null.
func Strict(data []byte, v any) error {
	var wrong error
	s := scanner{data: data, found: func(_ int, got, want string) {
		if wrong == nil {
			wrong = fmt.Errorf("the key %.80q must be written %q", got, want)
		}
	}}
	if s.skipSpace(); strings.HasPrefix(string(data[s.i:]), "null") {
		return fmt.Errorf("found null instead of %s", kindName(reflect.TypeOf(v)))
	}
	s.value(reflect.TypeOf(v))
	if wrong != nil {
		return wrong
	}
	return json.Unmarshal(data, v)
}

func kindName(t reflect.Type) string {
	if inner := elem(t); inner != nil && inner.Kind() == reflect.Slice {
		return "a list"
	}
	return "an object"
}

// DeeperThan reports whether arrays and objects nest more than limit deep in data.
// Malformed JSON is measured as far as it resembles JSON.
func DeeperThan(data []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfString(data, i) - 1
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// endOfString returns the index after the string that begins at data[i].
func endOfString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// scanner walks JSON alongside the type that it will be decoded into. It does not
// check syntax: json.Unmarshal rejects what the scanner does not understand.
type scanner struct {
	data  []byte
	i     int
	found func(at int, got, want string) // at is the index of the key's opening quote
}

// value skips the value at s.i, which has type t; nil means an unknown type.
func (s *scanner) value(t reflect.Type) {
	if s.skipSpace(); s.i >= len(s.data) {
		return
	}
	c := s.data[s.i]
	if c == '{' || c == '[' {
		t = elem(t) // scalars have no keys
	}
	switch {
	case c == '"':
		s.i = endOfString(s.data, s.i)
	case t != nil && c == '{' && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		s.object(t)
	case t != nil && c == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		s.array(t.Elem())
	case c == '{' || c == '[':
		s.skipContainer()
	default:
		for s.i < len(s.data) && s.data[s.i] != ',' && s.data[s.i] != ']' && s.data[s.i] != '}' {
			s.i++
		}
	}
}

// elem returns the type that a value is decoded into, or nil if the type decodes
// itself.
func elem(t reflect.Type) reflect.Type {
	for t != nil {
		if selfmade(t) || selfmade(reflect.PointerTo(t)) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}

func selfmade(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (s *scanner) array(t reflect.Type) {
	for s.i++; ; {
		if s.skipSpace(); s.i >= len(s.data) {
			return
		}
		switch s.data[s.i] {
		case ']':
			s.i++
			return
		case ',':
			s.i++
			continue
		case '}':
			s.i = len(s.data)
			return
		}
		s.value(t)
	}
}

func (s *scanner) object(t reflect.Type) {
	for s.i++; ; {
		if s.skipSpace(); s.i >= len(s.data) {
			return
		}
		switch s.data[s.i] {
		case '}':
			s.i++
			return
		case ',':
			s.i++
		case '"':
			s.member(t)
		default:
			s.i = len(s.data)
			return
		}
	}
}

func (s *scanner) member(t reflect.Type) {
	at := s.i
	s.i = endOfString(s.data, s.i)
	key, ok := textOf(s.data[at:s.i])
	if !ok {
		s.i = len(s.data)
		return
	}
	if s.skipSpace(); s.i >= len(s.data) || s.data[s.i] != ':' {
		s.i = len(s.data)
		return
	}
	s.i++
	if t.Kind() == reflect.Map {
		s.value(t.Elem())
		return
	}
	name, field := fieldOf(t, key)
	if name != "" && name != string(key) {
		s.found(at, string(key), name)
		field = nil
	}
	s.value(field)
}

// textOf returns the text of a quoted key.
func textOf(quoted []byte) (key []byte, ok bool) {
	if len(quoted) < 2 || quoted[len(quoted)-1] != '"' {
		return nil, false
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	var text string
	err := json.Unmarshal(quoted, &text)
	return []byte(text), err == nil
}

// fieldOf returns the field that encoding/json decodes key into, and its name. An
// exact match takes precedence over one in another case.
func fieldOf(t reflect.Type, key []byte) (name string, field reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		own, _, _ := strings.Cut(tag, ",")
		if f.Anonymous && own == "" {
			if inner := elem(f.Type); inner != nil && inner.Kind() == reflect.Struct {
				if n, found := fieldOf(inner, key); n != "" && (name == "" || n == string(key)) {
					name, field = n, found
				}
				continue
			}
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		if own == "" {
			own = f.Name
		}
		if own == string(key) {
			return own, f.Type
		}
		if name == "" && mayFold(own, key) && strings.EqualFold(own, string(key)) {
			name, field = own, f.Type
		}
	}
	return name, field
}

// mayFold quickly rules out names that differ in more than case: names that fold to
// each other have equal lengths if all is ASCII.
func mayFold(own string, key []byte) bool {
	if len(own) == len(key) {
		return true
	}
	for _, c := range key {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func (s *scanner) skipSpace() {
	for s.i < len(s.data) && strings.IndexByte(" \t\r\n", s.data[s.i]) >= 0 {
		s.i++
	}
}

func (s *scanner) skipContainer() {
	for depth := 0; s.i < len(s.data); {
		switch s.data[s.i] {
		case '"':
			s.i = endOfString(s.data, s.i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if s.i++; depth == 0 {
			return
		}
	}
}
