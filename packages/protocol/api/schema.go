package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Schema describes the JSON of a request: its fields, which of them are required,
// their types and their bounds. It is derived from the request's Go type, as is the
// OpenAPI document, so the two agree.
//
// A field is required unless its json tag has omitempty. A req tag refines that:
// "optional" makes it, or all fields of an embedded struct, optional; "min=N" and
// "max=N" bound the bytes of a text, the elements of a list, or a number.
type Schema struct {
	name string // of the request
	root *shape
}

// Rule holds what the tags of a field add to its name and type.
type Rule struct {
	Optional       bool
	Min, Max       int64
	HasMin, HasMax bool
	ignored        bool
}

// RuleOf reads the tags of a field.
func RuleOf(field reflect.StructField) Rule {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	r := Rule{ignored: name == "-" || !field.IsExported(), Optional: strings.Contains(options, "omit")}
	for part := range strings.SplitSeq(field.Tag.Get("req"), ",") {
		key, value, _ := strings.Cut(part, "=")
		number, err := strconv.ParseInt(value, 10, 64)
		switch {
		case part == "":
		case part == "optional":
			r.Optional = true
		case key == "min" && err == nil:
			r.Min, r.HasMin = number, true
		case key == "max" && err == nil:
			r.Max, r.HasMax = number, true
		default:
			panic("api: unknown req tag " + part) // a programming error in the protocol's own types
		}
	}
	return r
}

// shape describes one value.
type shape struct {
	kind     reflect.Kind // Struct, Slice, String, Bool, Int64, Uint64, Float64; Invalid is anything
	text     reflect.Type // of a String with its own UnmarshalText
	bits     int          // of a number
	nullable bool
	fields   []shapeField // of a Struct
	elem     *shape       // of a Slice
	rule     Rule
}

type shapeField struct {
	name string
	*shape
}

// Schemas returns the schema of every request of Table, by name.
func Schemas() map[string]*Schema {
	out := map[string]*Schema{}
	for _, spec := range Table() {
		out[spec.Name] = schemaOf(spec)
	}
	return out
}

// SchemaOf returns the schema of one request.
func SchemaOf[Request, Response any](d Definition[Request, Response]) *Schema {
	return schemaOf(d.spec)
}

func schemaOf(spec Spec) *Schema {
	return &Schema{spec.Name, shapeOf(reflect.TypeOf(spec.Request), Rule{})}
}

func shapeOf(t reflect.Type, rule Rule) *shape {
	s := &shape{rule: rule}
	if t.Kind() == reflect.Pointer {
		s.nullable, t = true, t.Elem()
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		s.kind, s.text = reflect.String, t
		return s
	case pointer.Implements(reflect.TypeFor[json.Unmarshaler]()), t.Kind() == reflect.Interface:
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		s.kind, s.fields = reflect.Struct, fieldsOf(t, rule.Optional)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // base64
			s.kind = reflect.String
			break
		}
		// Go encodes a nil slice as null.
		s.kind, s.nullable, s.elem = reflect.Slice, true, shapeOf(t.Elem(), Rule{})
	case reflect.Map:
		s.kind, s.nullable, s.elem = reflect.Map, true, shapeOf(t.Elem(), Rule{})
	case reflect.String, reflect.Bool:
		s.kind = t.Kind()
	case reflect.Int, reflect.Int32, reflect.Int64:
		s.kind, s.bits = reflect.Int64, t.Bits()
	case reflect.Uint32, reflect.Uint64:
		s.kind, s.bits = reflect.Uint64, t.Bits()
	case reflect.Float64:
		s.kind, s.bits = reflect.Float64, t.Bits()
	default:
		panic(fmt.Sprintf("api: no schema for %s", t)) // a programming error in the protocol's own types
	}
	return s
}

// fieldsOf flattens embedded structs, as encoding/json does.
func fieldsOf(t reflect.Type, optional bool) []shapeField {
	var out []shapeField
	for i := range t.NumField() {
		field := t.Field(i)
		rule := RuleOf(field)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case rule.ignored:
			continue
		case field.Anonymous && name == "":
			out = append(out, fieldsOf(field.Type, optional || rule.Optional)...)
			continue
		}
		rule.Optional = rule.Optional || optional
		inner := shapeOf(field.Type, Rule{})
		inner.rule = rule
		out = append(out, shapeField{name, inner})
	}
	return out
}

// Check returns what is wrong with the JSON of a request, or nil. The error names
// the field. With strict, unknown fields are errors; otherwise they are taken to be
// those of a newer client and ignored. type and requestId belong to the message and
// do not count as fields when strict is true.
func (s *Schema) Check(message []byte, strict bool) *Error {
	if exactjson.DeeperThan(message, exactjson.MaxDepth) {
		return Errorf(KindBadRequest, "%s: the request nests more than %d deep", s.name, exactjson.MaxDepth)
	}
	if err := s.root.check("", message, strict); err != nil {
		err.Message = s.name + ": " + err.Message
		return err
	}
	return nil
}

func (s *shape) check(path string, value json.RawMessage, strict bool) *Error {
	value = bytes.Trim(value, " \t\r\n") // what JSON calls white space; bytes.TrimSpace takes more
	if string(value) == "null" {
		if s.nullable || s.kind == reflect.Invalid {
			return nil
		}
		return s.wrongType(path)
	}
	switch s.kind {
	case reflect.Struct:
		return s.checkObject(path, value, strict)
	case reflect.Slice:
		return s.checkList(path, value, strict)
	case reflect.Map:
		return s.checkMap(path, value, strict)
	case reflect.String:
		return s.checkText(path, value)
	case reflect.Bool:
		if text := string(value); text != "true" && text != "false" {
			return s.wrongType(path)
		}
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return s.checkNumber(path, string(value))
	}
	return nil
}

// checkMap checks the values of an object with arbitrary keys.
func (s *shape) checkMap(path string, value json.RawMessage, strict bool) *Error {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return s.wrongType(path)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if err := s.elem.check(join(path, key), members[key], strict); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) checkObject(path string, value json.RawMessage, strict bool) *Error {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return s.wrongType(path)
	}
	for _, field := range s.fields {
		at := join(path, field.name)
		member, given := members[field.name]
		delete(members, field.name)
		switch {
		case !given && field.rule.Optional:
		case !given:
			return Errorf(KindBadRequest, "the field %q is missing", at)
		default:
			if err := field.check(at, member, strict); err != nil {
				return err
			}
		}
	}
	if !strict || len(members) == 0 {
		return nil
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	return Errorf(KindBadRequest, "unknown field %.80q: %s", join(path, slices.Min(names)), s.known())
}

// known lists the fields as a sentence.
func (s *shape) known() string {
	if len(s.fields) == 0 {
		return "this request has no fields"
	}
	names := make([]string, len(s.fields))
	for i, field := range s.fields {
		names[i] = field.name
	}
	return "the fields are " + strings.Join(names, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (s *shape) checkList(path string, value json.RawMessage, strict bool) *Error {
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) != nil {
		return s.wrongType(path)
	}
	if err := s.bounds(path, int64(len(elements)), "elements"); err != nil {
		return err
	}
	for i, element := range elements {
		if err := s.elem.check(fmt.Sprintf("%s[%d]", path, i), element, strict); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) checkText(path string, value json.RawMessage) *Error {
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return s.wrongType(path)
	}
	if s.text != nil {
		if err := reflect.New(s.text).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			return Errorf(KindBadRequest, "the field %q is invalid: %v", path, err)
		}
	}
	return s.bounds(path, int64(len(text)), "bytes")
}

func (s *shape) checkNumber(path, text string) *Error {
	var number int64
	var err error
	switch s.kind {
	case reflect.Int64:
		number, err = strconv.ParseInt(text, 10, s.bits)
	case reflect.Uint64:
		_, err = strconv.ParseUint(text, 10, s.bits)
	case reflect.Float64:
		_, err = strconv.ParseFloat(text, s.bits)
	}
	if err != nil {
		return s.wrongType(path)
	}
	if s.kind != reflect.Int64 {
		return nil
	}
	return s.bounds(path, number, "")
}

// bounds checks n against the rule; unit is "" for a number itself.
func (s *shape) bounds(path string, n int64, unit string) *Error {
	if n == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch r := s.rule; {
	case r.HasMin && n < r.Min && unit == "":
		return Errorf(KindBadRequest, "the field %q must be at least %d", path, r.Min)
	case r.HasMin && n < r.Min && n == 0:
		return Errorf(KindBadRequest, "the field %q is empty", path)
	case r.HasMin && n < r.Min:
		return Errorf(KindBadRequest, "the field %q has %d %s, and must have at least %d", path, n, unit, r.Min)
	case r.HasMax && n > r.Max && unit == "":
		return Errorf(KindBadRequest, "the field %q must be at most %d", path, r.Max)
	case r.HasMax && n > r.Max:
		return Errorf(KindTooLarge, "the field %q has %d %s, the limit is %d", path, n, unit, r.Max)
	}
	return nil
}

func (s *shape) wrongType(path string) *Error {
	want := map[reflect.Kind]string{
		reflect.Struct: "a JSON object", reflect.Map: "a JSON object", reflect.Slice: "an array", reflect.String: "a string", reflect.Bool: "true or false",
		reflect.Int64: "a whole number", reflect.Uint64: "a whole number of at least 0", reflect.Float64: "a number",
	}[s.kind]
	if path == "" {
		return Errorf(KindBadRequest, "the request must be %s", want)
	}
	return Errorf(KindBadRequest, "the field %q must be %s", path, want)
}

// Assumed sizes of fields without a bound, in bytes of JSON.
const (
	looseText = 4 << 10
	looseList = 64 // elements
	leastRoom = 64 << 10
)

// MaxBytes is the maximum length of a request's JSON within its bounds, with room
// for white space and for fields of newer clients.
func (s *Schema) MaxBytes() int { return max(leastRoom, 2*s.root.maxBytes()) }

func (s *shape) maxBytes() int {
	n := 8 // quotes, comma and so on
	switch s.kind {
	case reflect.Struct:
		for _, field := range s.fields {
			n += len(field.name) + field.maxBytes()
		}
	case reflect.Slice:
		count := looseList
		if s.rule.HasMax {
			count = int(s.rule.Max)
		}
		n += count * s.elem.maxBytes()
	case reflect.String:
		size := looseText
		if s.rule.HasMax {
			size = int(s.rule.Max)
		}
		n += 3 * size // a byte is escaped to at most six; allow half of that
	default:
		n += 24
	}
	return n
}
