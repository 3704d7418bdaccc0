package main

import (
	"fmt"
	"go/constant"
	"maps"
	"reflect"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// schemas collects JSON Schemas of Go types, each under its name.
type schemas struct {
	g       *generator
	all     object
	waiting []reflect.Type
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// of returns the schema of t and requests the schemas of the types it names.
func (s *schemas) of(t reflect.Type) object {
	if w, ok := written[t]; ok {
		if w.pkg == "" {
			return object{}
		}
		return ref(w.name)
	}
	switch {
	case t == rawMessage:
		return object{}
	case t.Implements(textMarshaler), t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return object{"type": "string"}
	case s.g.isEnum(t):
		return s.enum(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Pointer:
		return object{"anyOf": []any{s.of(t.Elem()), object{"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		s.need(t)
		return ref(t.Name())
	}
	panic(fmt.Sprintf("no JSON Schema for %s", t)) // a programming error in the protocol's own types
}

// need writes the struct, once. A name must belong to one type only.
func (s *schemas) need(t reflect.Type) {
	if _, have := s.all[t.Name()]; !have {
		s.all[t.Name()] = nil
		s.waiting = append(s.waiting, t)
	}
}

func (s *schemas) flush() {
	for len(s.waiting) > 0 {
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		if s.all[t.Name()] == nil { // it may already be written with its tag
			s.all[t.Name()] = s.fields(s.g.doc(t), s.g.fieldsOf(t))
		}
	}
}

// enum writes named constants. Numbers stay open because a newer host may send
// others.
func (s *schemas) enum(t reflect.Type) object {
	var values, names []any
	for _, c := range s.g.sources[packageOf(t)].consts {
		if c.typ != t.Name() {
			continue
		}
		if c.value.Kind() == constant.String {
			values = append(values, constant.StringVal(c.value))
			continue
		}
		n, _ := constant.Int64Val(c.value)
		names = append(names, fmt.Sprintf("%d %s", n, c.name))
	}
	schema := object{"type": "string", "enum": values}
	doc := s.g.doc(t)
	if values == nil {
		schema = object{"type": "integer"}
		doc += fmt.Sprint("\n", names)
	}
	s.all[t.Name()] = withDoc(schema, doc)
	return ref(t.Name())
}

// fields writes an object. Additional properties are allowed, because a newer host
// may send more fields.
func (s *schemas) fields(doc string, fields []field) object {
	properties, required := object{}, []any{}
	for _, f := range fields {
		properties[f.json] = s.property(f)
		if !f.optional {
			required = append(required, f.json)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return withDoc(schema, doc)
}

func (s *schemas) property(f field) object {
	if f.override == "string | Block[]" {
		return object{"anyOf": []any{object{"type": "string"}, object{"type": "array", "items": ref("Block")}}}
	}
	t := f.typ
	if f.optional && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	schema := object{}
	for key, value := range s.of(t) {
		schema[key] = value
	}
	bound(schema, f.rule)
	return withDoc(schema, f.doc)
}

// bound writes the bounds of a field. Text bounds are in bytes; a character has at
// least one, so no allowed text is longer than the schema says.
func bound(schema object, rule api.Rule) {
	words := map[any][2]string{"string": {"minLength", "maxLength"}, "array": {"minItems", "maxItems"}, "integer": {"minimum", "maximum"}}
	names, known := words[schema["type"]]
	if _, refers := schema["$ref"]; refers { // an enumeration bounds itself
		return
	}
	if rule.HasMin && known {
		schema[names[0]] = rule.Min
	}
	if rule.HasMax && known {
		schema[names[1]] = rule.Max
	}
}

func withDoc(schema object, doc string) object {
	if doc != "" {
		schema["description"] = doc
	}
	return schema
}

// unions writes the union types.
func (s *schemas) unions() {
	s.variants("Block", "type", reflect.TypeFor[session.Block](), blockVariants())
	s.variants("Message", "role", reflect.TypeFor[session.Message](), messageVariants())
	var entries, events []any
	for _, tag := range slices.Sorted(maps.Keys(typedEntries())) {
		t := typedEntries()[tag]
		s.tagged(t, "type", string(tag))
		entries = append(entries, ref(t.Name()))
	}
	for _, e := range api.Events() {
		s.tagged(reflect.TypeOf(e), "type", e.EventType())
		if !hostEvents()[e.EventType()] {
			s.add(reflect.TypeOf(e).Name(), "sessionId", object{"type": "string"})
			s.add(reflect.TypeOf(e).Name(), "seq", object{"type": "integer", "minimum": 0})
		}
		events = append(events, ref(reflect.TypeOf(e).Name()))
	}
	s.all["OtherEntry"] = open("An entry of another type, as it is on disk.", "type", "id")
	s.all["OtherEvent"] = open("An event of a newer host.", "type")
	s.all["Entry"] = object{"anyOf": append(entries, ref("OtherEntry")), "description": "Any entry of a session."}
	s.all["Event"] = object{"anyOf": append(events, ref("OtherEvent")), "description": "Any event."}
}

func open(doc string, keys ...string) object {
	properties, required := object{}, []any{}
	for _, key := range keys {
		properties[key] = object{"type": "string"}
		required = append(required, key)
	}
	return object{"type": "object", "properties": properties, "required": required, "description": doc}
}

// tagged writes a struct with the field that names its type.
func (s *schemas) tagged(t reflect.Type, key, tag string) {
	s.all[t.Name()] = s.fields(s.g.doc(t), s.g.fieldsOf(t))
	s.add(t.Name(), key, object{"type": "string", "const": tag})
}

// add adds a required property to a written object.
func (s *schemas) add(name, key string, schema object) {
	written := s.all[name].(object)
	written["properties"].(object)[key] = schema
	required, _ := written["required"].([]any)
	for _, have := range required {
		if have == key {
			return
		}
	}
	written["required"] = append([]any{key}, required...)
}

// variants writes the members of a union that is a single struct in Go.
func (s *schemas) variants(name, key string, t reflect.Type, variants []variant) {
	byKey := map[string]field{}
	for _, f := range s.g.fieldsOf(t) {
		byKey[f.json] = f
	}
	var members []any
	for _, v := range variants {
		var fields []field
		for _, spec := range v.keys {
			name, optional, override := parseKey(spec)
			f := byKey[name]
			f.optional, f.override = optional, override
			fields = append(fields, f)
		}
		s.all[v.name] = s.fields(v.doc, fields)
		s.add(v.name, key, object{"type": "string", "const": v.tag})
		members = append(members, ref(v.name))
	}
	s.all[name] = withDoc(object{"anyOf": members}, s.g.doc(t))
}
