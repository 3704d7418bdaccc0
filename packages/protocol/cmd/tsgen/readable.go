package main

import (
	"cmp"
	"go/constant"
	"maps"
	"regexp"
	"strings"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A word of a doc comment that can be a name of Go, with what qualifies it.
var goName = regexp.MustCompile(`\b(?:[A-Za-z]+\.)?[A-Z][A-Za-z0-9]*\b`)

// A word that is no value or key.
var lowerWord = regexp.MustCompile(`^[a-z]+[.,:;]?$`)

// readable rewrites the comments of all sources for readers who do not know Go: a comment does not
// begin with the name that it is about, and names of Go are those on the wire.
func (g *generator) readable() {
	everywhere := g.wireNames()
	for _, src := range g.sources {
		for typ, doc := range src.types {
			src.types[typ] = readable(doc, typ, src.keys[typ], everywhere)
		}
		for typ, fields := range src.fields {
			keys := src.keysAround(typ)
			for name, doc := range fields {
				fields[name] = readable(doc, name, keys, everywhere)
			}
		}
		for i, c := range src.consts {
			src.consts[i].doc = readable(c.doc, c.name, nil, everywhere)
		}
		for name, doc := range src.comments {
			src.comments[name] = readable(doc, name, nil, everywhere)
		}
	}
}

// keysAround returns the keys that comments of a type's fields may name: those of the type, and for a response
// also those of its request.
func (s *source) keysAround(typ string) map[string]string {
	request, ok := strings.CutSuffix(typ, "Response")
	if !ok {
		return s.keys[typ]
	}
	keys := map[string]string{}
	maps.Copy(keys, s.keys[request+"Request"])
	maps.Copy(keys, s.keys[typ])
	return keys
}

// wireNames returns names of Go that nobody takes for a word, and what they are on the wire.
func (g *generator) wireNames() map[string]string {
	names := map[string]string{}
	for _, src := range g.sources {
		for _, keys := range src.keys {
			for name, key := range keys {
				names[name] = key
			}
		}
	}
	for pkg, src := range g.sources {
		for name := range src.types {
			names[name] = name
		}
		for name := range src.comments {
			names[name] = name
		}
		for _, c := range src.consts {
			names[c.name] = wireValue(pkg, c)
		}
	}
	for name := range names {
		if strings.IndexFunc(name[1:], unicode.IsUpper) < 0 || strings.ToUpper(name) == name {
			delete(names, name)
		}
	}
	return names
}

// wireValue returns how documents name a constant: by its text, or as the tables of numbers do.
func wireValue(pkg string, c constSpec) string {
	if c.value.Kind() == constant.String {
		if text := constant.StringVal(c.value); text != "" {
			return text
		}
	} else if c.typ == "Kind" {
		return kindName(pkg, c)
	}
	return c.name
}

// kindName returns the name of a kind of error.
func kindName(pkg string, c constSpec) string {
	n, _ := constant.Int64Val(c.value)
	if pkg == "wire" {
		return wire.Kind(n).String()
	}
	return api.Kind(n).String()
}

// readable rewrites the comment on self. keys are the names of the type that it belongs to.
func readable(doc, self string, keys, everywhere map[string]string) string {
	sentence := strings.HasSuffix(doc, ".")
	doc = withoutSubject(doc, self)
	if rest, ok := strings.CutPrefix(doc, self+" "); ok && keys[self] == "" && everywhere[self] == "" {
		doc = "`" + self + "` " + rest
	}
	var text strings.Builder
	for i, part := range strings.Split(doc, "`") {
		if i > 0 {
			text.WriteByte('`')
		}
		if i%2 == 0 {
			part = goName.ReplaceAllStringFunc(part, func(word string) string { return named(word, keys, everywhere) })
		}
		text.WriteString(part)
	}
	doc = text.String()
	if first, _, _ := strings.Cut(doc, " "); sentence && lowerWord.MatchString(first) {
		doc = strings.ToUpper(doc[:1]) + doc[1:]
	}
	return doc
}

// withoutSubject drops the name that a comment begins with, and a verb that says nothing without it.
func withoutSubject(doc, self string) string {
	rest, ok := strings.CutPrefix(doc, self+" ")
	if !ok {
		return doc
	}
	for _, verb := range []string{"is ", "is, ", "are ", "means that ", "says that "} {
		if after, ok := strings.CutPrefix(rest, verb); ok {
			return after
		}
	}
	if verb, _, _ := strings.Cut(rest, " "); strings.HasSuffix(verb, "s") {
		return rest
	}
	return doc
}

// named returns a word, or if it is a name of Go, its name on the wire as code.
func named(word string, keys, everywhere map[string]string) string {
	of, name, qualified := strings.Cut(word, ".")
	switch {
	case !qualified:
		if key := cmp.Or(keys[word], everywhere[word]); key != "" && word != "URL" {
			return "`" + key + "`"
		}
	case unicode.IsUpper(rune(of[0])) && everywhere[name] != "": // a field of a type
		return "`" + of + "." + everywhere[name] + "`"
	case everywhere[name] != "": // a name of a package
		return "`" + everywhere[name] + "`"
	}
	return word
}
