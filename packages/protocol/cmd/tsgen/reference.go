package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// shown is a type as the references show it.
type shown struct {
	name, doc, head string
	fields          []shownField
}

type shownField struct{ name, typ, doc string }

// show keeps an interface for the references.
func (g *generator) show(pkg, name, doc, head string, fields []field) {
	one := shown{name: name, doc: doc, head: head}
	for _, f := range fields {
		typ, mark := f.override, ""
		if typ == "" {
			typ = g.tsType(f.typ, pkg)
		}
		if f.optional {
			typ, mark = strings.TrimSuffix(typ, " | null"), "?"
		}
		one.fields = append(one.fields, shownField{f.json + mark, typ, f.doc})
	}
	g.shown[pkg] = append(g.shown[pkg], one)
}

// referencePath returns the path of a reference below the root of the module.
func referencePath(root, name string) string { return filepath.Join(root, "..", "..", "docs", name) }

// generateReferences returns the text of the references by name.
func generateReferences(root string) (map[string][]byte, error) {
	g, err := readGenerator(root)
	if err != nil {
		return nil, err
	}
	for _, emit := range []func() error{g.wire, g.session, g.api} {
		if err := emit(); err != nil {
			return nil, err
		}
	}
	return map[string][]byte{
		"protocol-reference.md": g.reference("wire", "Frames of the relay", "This page lists the control frames between a relay and its peers, for authors of clients.", "protocol.md", ""),
		"session-reference.md":  g.reference("session", "Entries of session files", "This page lists what the lines of a session file hold, for authors of programs that read them.", "session-format.md", ""),
		"http-reference.md":     g.reference("api", "Requests of a host", "This page lists the requests, events and types of a host, over HTTP and within a sealed channel.", "http.md", requestList()),
	}, nil
}

func (g *generator) reference(pkg, title, about, more, list string) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s\nIt is generated from the types of the program; [%s](%s) explains how they are used. A field with `?` may be absent.\n%s", title, about, more, more, list)
	if list != "" {
		text.WriteString("\n## Types\n")
	}
	heading := "##"
	if list != "" {
		heading = "###"
	}
	all := slices.Clone(g.shown[pkg])
	slices.SortFunc(all, func(a, b shown) int { return strings.Compare(a.name, b.name) })
	for _, each := range all {
		fmt.Fprintf(&text, "\n%s `%s`\n", heading, each.name)
		if each.doc != "" {
			fmt.Fprintf(&text, "\n%s\n", prose(each.doc))
		}
		rows := headRows(each.head)
		for _, f := range each.fields {
			rows = append(rows, []string{f.name, f.typ, prose(f.doc)})
		}
		if len(rows) > 0 {
			text.WriteString("\n| field | type | meaning |\n|---|---|---|\n")
		}
		for _, row := range rows {
			fmt.Fprintf(&text, "| `%s` | `%s` | %s |\n", row[0], strings.ReplaceAll(row[1], "|", `\|`), strings.ReplaceAll(row[2], "|", `\|`))
		}
	}
	return []byte(text.String())
}

// headRows returns the fields of the preformatted first lines of an interface.
func headRows(head string) [][]string {
	var rows [][]string
	for line := range strings.Lines(head) {
		if name, typ, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), ": "); ok {
			rows = append(rows, []string{name, typ, ""})
		}
	}
	return rows
}

// requestList returns the section about the requests.
func requestList() string {
	var text strings.Builder
	text.WriteString("\n## Requests\n\nOver HTTP, each is `POST /v1/NAME`.\n")
	for _, spec := range api.Table() {
		fmt.Fprintf(&text, "\n### `%s`\n\n%s It needs the grant `%s`.\n", spec.Name, prose(spec.Doc), spec.Grant)
		fmt.Fprintf(&text, "Fields: %s. Answer: %s.\n", typeLink(spec.Request), typeLink(spec.Response))
	}
	return text.String()
}

// typeLink names a type and links to its section.
func typeLink(of any) string {
	t := reflect.TypeOf(of)
	if t.Name() == "" || t.NumField() == 0 {
		return "none"
	}
	return fmt.Sprintf("[`%s`](#%s)", t.Name(), strings.ToLower(t.Name()))
}

// prose makes a doc comment one line of Markdown.
func prose(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`).Replace(text)
}
