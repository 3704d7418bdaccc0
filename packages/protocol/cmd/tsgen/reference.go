package main

import (
	"fmt"
	"go/constant"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var dataType = regexp.MustCompile("(?:data|details): `?(\\w+)")

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
	for _, record := range records() {
		g.need(record)
	}
	g.flush()
	relay, err := g.numberTable(relayNumbers())
	if err != nil {
		return nil, err
	}
	host, err := g.numberTable(hostNumbers())
	if err != nil {
		return nil, err
	}
	custom, err := g.customTable()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"protocol-reference.md": append(g.reference("wire", "Frames of the relay", "This page lists the control frames between a relay and its peers, their numbers and kinds of errors, for authors of clients.", "protocol.md", ""),
			g.kindTable("wire")+g.reasonTable()+relay...),
		"session-reference.md": append(g.reference("session", "Entries of session files", "This page lists what the lines of a session file hold, for authors of programs that read them.", "session-format.md", ""),
			custom...),
		"http-reference.md": append(g.reference("api", "Requests of a host", "This page lists the requests, events and types of a host, over HTTP and within a sealed channel.", "http.md", requestList()),
			g.kindTable("api")+host...),
	}, nil
}

// records are the types of data in session files for which there are no TypeScript types.
func records() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[session.BackendRecord](), reflect.TypeFor[session.HookRecord](), reflect.TypeFor[session.MovedRecord](), reflect.TypeFor[session.ScheduleRecord](),
		reflect.TypeFor[session.ImportRecord](), reflect.TypeFor[session.ForeignRecord](), reflect.TypeFor[session.AgentRecord](), reflect.TypeFor[session.NoteRecord](),
		reflect.TypeFor[session.Instructions](), reflect.TypeFor[session.Skills](), reflect.TypeFor[session.Memory](), reflect.TypeFor[session.Environment](),
	}
}

// customTable returns the table of custom types, with the type of their data as their comments
// name it.
func (g *generator) customTable() (string, error) {
	var text strings.Builder
	text.WriteString("\n## Custom types\n\nThe value of `customType`, and the type of `data`, or of `details` of a `custom_message`.\n\n| custom type | data |\n|---|---|\n")
	for _, c := range g.sources["session"].consts {
		if c.value.Kind() != constant.String || !strings.HasPrefix(constant.StringVal(c.value), "scorel.") {
			continue
		}
		data := dataType.FindStringSubmatch(c.doc)
		if data == nil {
			return "", fmt.Errorf("the comment of %s does not say which type its data has", c.name)
		}
		link := strings.ToLower(data[1])
		if data[1] == "Block" {
			link = "imageblock"
		}
		fmt.Fprintf(&text, "| `%s` | [`%s`](#%s) |\n", constant.StringVal(c.value), data[1], link)
	}
	return text.String(), nil
}

// kindTable returns the table of the kinds of errors of a package.
func (g *generator) kindTable(pkg string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n## Kinds of errors: `%s.Kind`\n\n[troubleshooting.md](troubleshooting.md) says what to do about each.\n\n| number | name | meaning |\n|---|---|---|\n", pkg)
	for _, c := range g.sources[pkg].consts {
		if c.typ == "Kind" {
			fmt.Fprintf(&text, "| %s | `%s` | %s |\n", c.value, kindName(pkg, c), cell(c.doc))
		}
	}
	return text.String()
}

// reasonTable returns the table of the reasons why a channel or a connection ends.
func (g *generator) reasonTable() string {
	var text strings.Builder
	text.WriteString("\n## Reasons: `wire.Reason`\n\n| reason | meaning |\n|---|---|\n")
	for _, c := range g.sources["wire"].consts {
		if c.typ == "Reason" {
			fmt.Fprintf(&text, "| `%s` | %s |\n", constant.StringVal(c.value), cell(c.doc))
		}
	}
	return text.String()
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
			rows = append(rows, []string{f.name, f.typ, cell(f.doc)})
		}
		if len(rows) > 0 {
			text.WriteString("\n| field | type | meaning |\n|---|---|---|\n")
		}
		for _, row := range rows {
			fmt.Fprintf(&text, "| `%s` | `%s` | %s |\n", row[0], strings.ReplaceAll(row[1], "|", `\|`), row[2])
		}
	}
	text.WriteString(g.enumTables(pkg, heading))
	return []byte(text.String())
}

// enumTables returns a section for each type whose values are texts. Reasons have a table of
// their own.
func (g *generator) enumTables(pkg, heading string) string {
	values := map[string][]constSpec{}
	for _, c := range g.sources[pkg].consts {
		if c.value.Kind() == constant.String && c.typ != "" && c.typ != "Reason" {
			values[c.typ] = append(values[c.typ], c)
		}
	}
	var text strings.Builder
	for _, typ := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&text, "\n%s `%s`\n", heading, typ)
		if doc := g.sources[pkg].types[typ]; doc != "" {
			fmt.Fprintf(&text, "\n%s\n", prose(doc))
		}
		text.WriteString("\n| value | meaning |\n|---|---|\n")
		for _, c := range values[typ] {
			fmt.Fprintf(&text, "| `%s` | %s |\n", constant.StringVal(c.value), cell(c.doc))
		}
	}
	return text.String()
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

// cell makes a doc comment the cell of a table.
func cell(doc string) string { return strings.ReplaceAll(prose(doc), "|", `\|`) }

// prose makes a doc comment one line of Markdown.
func prose(doc string) string {
	escape := strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`)
	parts := strings.Split(strings.Join(strings.Fields(doc), " "), "`")
	for i := 0; i < len(parts); i += 2 { // the others are code
		parts[i] = escape.Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
