package protocol_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// The normative text names every frame, request and event that the code can put on the
// wire, and the generated references name their fields, kinds and types. These tests walk
// the tables of the code, so that neither can change alone.

func protocolText(t *testing.T) string {
	t.Helper()
	return docText(t, "protocol.md")
}

func docText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns what stands below the heading that names code, up to the next
// heading.
func section(text, code string) (string, bool) {
	lines := strings.Split(text, "\n")
	begin := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "#") && strings.Contains(line, "`"+code+"`")
	})
	if begin < 0 {
		return "", false
	}
	body := lines[begin+1:]
	if end := slices.IndexFunc(body, func(line string) bool { return strings.HasPrefix(line, "#") }); end >= 0 {
		body = body[:end]
	}
	return strings.Join(body, "\n"), true
}

// row returns the line of a table whose first cell is code.
func row(text, code string) (string, bool) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `"+code+"` |") {
			return line, true
		}
	}
	return "", false
}

// fieldNames lists the JSON keys of a struct, those of embedded ones included.
func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			names = append(names, fieldNames(f.Type)...)
		default:
			names = append(names, name)
		}
	}
	return names
}

func requireFields(t *testing.T, what, text string, v any) {
	t.Helper()
	for _, name := range fieldNames(reflect.TypeOf(v)) {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"?`") {
			t.Errorf("%s lacks the field %q", what, name)
		}
	}
}

func TestDocsNameEveryFrame(t *testing.T) {
	text, reference := protocolText(t), docText(t, "protocol-reference.md")
	documented := map[string]bool{}
	for _, frame := range sample(t) {
		name := frame.FrameType()
		documented[name] = true
		if _, ok := section(text, name); !ok {
			t.Errorf("docs/protocol.md: the frame %q has no section", name)
		}
		body, _ := section(reference, reflect.TypeOf(frame).Name())
		requireFields(t, name, body, frame)
	}
	for _, part := range []any{wire.Peer{}, wire.Limits{}} {
		body, _ := section(reference, reflect.TypeOf(part).Name())
		requireFields(t, reflect.TypeOf(part).Name(), body, part)
	}
	source, err := os.ReadFile(filepath.Join("wire", "control.go"))
	if err != nil {
		t.Fatal(err)
	}
	methods := regexp.MustCompile(`FrameType\(\) string\s*{ return "(\w+)" }`).FindAllSubmatch(source, -1)
	if len(methods) < 20 {
		t.Fatalf("only %d frame types were found in the source", len(methods))
	}
	for _, method := range methods {
		if !documented[string(method[1])] {
			t.Errorf("the frame %q is not among the samples, so its text is not checked", method[1])
		}
	}
}

func TestDocsNameEveryKindAndReason(t *testing.T) {
	relay, host := docText(t, "protocol-reference.md"), docText(t, "http-reference.md")
	body, _ := section(relay, "wire.Kind")
	for kind := wire.Kind(0); !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		if !strings.Contains(body, fmt.Sprintf("\n| %d | `%s` |", kind, kind)) {
			t.Errorf("docs/protocol-reference.md: the relay's error kind %d %s is missing", kind, kind)
		}
	}
	body, _ = section(host, "api.Kind")
	for kind := api.Kind(0); !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		if !strings.Contains(body, fmt.Sprintf("\n| %d | `%s` |", kind, kind)) {
			t.Errorf("docs/http-reference.md: the host's error kind %d %s is missing", kind, kind)
		}
	}
	for _, reason := range wire.Reasons() {
		if _, ok := row(relay, string(reason)); !ok {
			t.Errorf("docs/protocol-reference.md: the reason %q is missing", reason)
		}
	}
}

func TestDocsNameEveryRequest(t *testing.T) {
	text := protocolText(t)
	for _, spec := range api.Table() {
		line, ok := row(text, spec.Name)
		if !ok {
			t.Errorf("docs/protocol.md: the request %q is missing", spec.Name)
			continue
		}
		if !strings.Contains(line, "| `"+string(spec.Grant)+"` |") {
			t.Errorf("docs/protocol.md: %s does not name its grant %q", spec.Name, spec.Grant)
		}
		requireFields(t, spec.Name, line, spec.Request)
		requireFields(t, spec.Name, line, spec.Response)
	}
}

func TestDocsNameEveryEvent(t *testing.T) {
	text := protocolText(t)
	for _, event := range api.Events() {
		line, ok := row(text, event.EventType())
		if !ok {
			t.Errorf("docs/protocol.md: the event %q is missing", event.EventType())
			continue
		}
		requireFields(t, event.EventType(), line, event)
	}
}

// TestDocsNameEveryCustomType: docs/session-format.md says when each custom entry is written.
func TestDocsNameEveryCustomType(t *testing.T) {
	_, table, _ := strings.Cut(docText(t, "session-reference.md"), "\n## Custom types\n")
	names := regexp.MustCompile("(?m)^\\| `(scorel\\.\\w+)` \\|").FindAllStringSubmatch(table, -1)
	if len(names) < 20 {
		t.Fatalf("only %d custom types were found", len(names))
	}
	text := docText(t, "session-format.md") + protocolText(t) // entries that are only sent
	for _, name := range names {
		if !strings.Contains(text, "`"+name[1]+"`") {
			t.Errorf("docs/session-format.md does not name %s", name[1])
		}
	}
}

// TestDocsNameEveryType follows the fields of requests, responses and events to
// the structs that they hold.
func TestDocsNameEveryType(t *testing.T) {
	text := docText(t, "http-reference.md") + docText(t, "session-reference.md")
	seen := map[reflect.Type]bool{}
	var visit func(typ reflect.Type, nested bool)
	visit = func(typ reflect.Type, nested bool) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		known := typ == reflect.TypeFor[session.Entry]() || typ == reflect.TypeFor[ident.ID]() || typ == reflect.TypeFor[api.EventEnvelope]() || typ == reflect.TypeFor[session.Block]() // its kinds have sections
		if typ.Kind() != reflect.Struct || known || seen[typ] {
			return
		}
		seen[typ] = true
		if nested {
			body, ok := section(text, typ.Name())
			if !ok {
				t.Errorf("docs/http-reference.md: the type %s has no section", typ.Name())
			}
			requireFields(t, typ.Name(), body, reflect.Zero(typ).Interface())
		}
		for f := range typ.Fields() {
			visit(f.Type, !f.Anonymous) // the fields of an embedded type are those of the outer one
		}
	}
	for _, spec := range api.Table() {
		visit(reflect.TypeOf(spec.Request), false)
		visit(reflect.TypeOf(spec.Response), false)
	}
	for _, event := range api.Events() {
		visit(reflect.TypeOf(event), false)
	}
	if len(seen) < 30 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}
