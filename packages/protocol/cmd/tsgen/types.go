package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// field is one JSON property of a struct.
type field struct {
	json     string // key
	typ      reflect.Type
	optional bool
	doc      string
	override string // TypeScript type that replaces that of typ
	rule     api.Rule
}

// fieldsOf flattens embedded structs, as encoding/json does.
func (g *generator) fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, has := sf.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		rule := api.RuleOf(sf)
		switch {
		case name == "-" || !sf.IsExported():
			continue
		case sf.Anonymous && !has:
			inner := g.fieldsOf(sf.Type)
			for i := range inner {
				inner[i].optional = inner[i].optional || api.RuleOf(sf).Optional
			}
			out = append(out, inner...)
			continue
		case name == "":
			name = sf.Name
		}
		out = append(out, field{
			json: name, typ: sf.Type, optional: rule.Optional, doc: g.fieldDoc(t, sf.Name), rule: rule,
		})
	}
	return out
}

func (g *generator) fieldDoc(t reflect.Type, name string) string {
	if src := g.sources[packageOf(t)]; src != nil {
		return src.fields[t.Name()][name]
	}
	return ""
}

func packageOf(t reflect.Type) string { return path.Base(t.PkgPath()) }

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	rawMessage    = reflect.TypeFor[json.RawMessage]()
	// Types with their own JSON encoding, and their TypeScript types.
	written = map[reflect.Type]struct{ pkg, name string }{
		reflect.TypeFor[session.Entry]():     {"session", "Entry"},
		reflect.TypeFor[session.Message]():   {"session", "Message"},
		reflect.TypeFor[session.Block]():     {"session", "Block"},
		reflect.TypeFor[api.EventEnvelope](): {"api", "Event"},
		reflect.TypeFor[api.UnknownEvent]():  {"", "unknown"},
	}
)

// tsType returns the TypeScript name of t in a file of package pkg and requests the
// type that it names.
func (g *generator) tsType(t reflect.Type, pkg string) string {
	if w, ok := written[t]; ok {
		return g.name(w.pkg, w.name, pkg)
	}
	switch {
	case t == rawMessage:
		return "unknown"
	case t.Implements(textMarshaler), t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		if g.isEnum(t) {
			return g.name(packageOf(t), t.Name(), pkg)
		}
		return "string"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64:
		if g.isEnum(t) {
			return g.name(packageOf(t), t.Name(), pkg)
		}
		return "number"
	case reflect.Pointer:
		return g.tsType(t.Elem(), pkg) + " | null"
	case reflect.Slice:
		return g.tsType(t.Elem(), pkg) + "[]"
	case reflect.Map:
		return "Record<" + g.tsType(t.Key(), pkg) + ", " + g.tsType(t.Elem(), pkg) + ">"
	case reflect.Struct:
		g.need(t)
		return g.name(packageOf(t), t.Name(), pkg)
	}
	panic(fmt.Sprintf("no TypeScript for %s", t)) // a programming error in the protocol's own types
}

func (g *generator) isEnum(t reflect.Type) bool {
	src := g.sources[packageOf(t)]
	if src == nil {
		return false
	}
	for _, c := range src.consts {
		if c.typ == t.Name() {
			return true
		}
	}
	return false
}

// property writes one line of an interface, with its comment.
func (g *generator) property(f field, pkg string) string {
	ts, mark := f.override, ""
	if ts == "" {
		ts = g.tsType(f.typ, pkg)
	}
	if f.optional {
		ts, mark = strings.TrimSuffix(ts, " | null"), "?"
	}
	return comment(f.doc, "  ") + fmt.Sprintf("  %s%s: %s;\n", f.json, mark, ts)
}

// comment writes doc as a JSDoc block.
func comment(doc, indent string) string {
	if doc == "" {
		return ""
	}
	lines := strings.Split(strings.ReplaceAll(doc, "*/", "* /"), "\n")
	if len(lines) == 1 {
		return fmt.Sprintf("%s/** %s */\n", indent, lines[0])
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}
