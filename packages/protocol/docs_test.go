package protocol_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// The normative text names everything that the code can put on the wire. These
// tests walk the tables of the code, so that neither can change alone.

func protocolText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
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
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/protocol.md: %s lacks the field %q", what, name)
		}
	}
}

func TestDocsNameEveryFrame(t *testing.T) {
	text := protocolText(t)
	documented := map[string]bool{}
	for _, frame := range sample(t) {
		name := frame.FrameType()
		documented[name] = true
		body, ok := section(text, name)
		if !ok {
			t.Errorf("docs/protocol.md: the frame %q has no section", name)
			continue
		}
		requireFields(t, name, body, frame)
	}
	for _, part := range []any{wire.Peer{}, wire.Limits{}} {
		body, _ := section(text, reflect.TypeOf(part).Name())
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
			t.Errorf("the frame %q is not among the samples, so nobody checks its text", method[1])
		}
	}
}

func TestDocsNameEveryKindAndReason(t *testing.T) {
	text := protocolText(t)
	body, _ := section(text, "wire.Kind")
	for kind := wire.Kind(0); !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		if !strings.Contains(body, fmt.Sprintf("\n| %d | `%s` |", kind, kind)) {
			t.Errorf("docs/protocol.md: the relay's error kind %d %s is missing", kind, kind)
		}
	}
	body, _ = section(text, "api.Kind")
	for kind := api.Kind(0); !strings.HasPrefix(kind.String(), "kind_"); kind++ {
		if !strings.Contains(body, fmt.Sprintf("\n| %d | `%s` |", kind, kind)) {
			t.Errorf("docs/protocol.md: the host's error kind %d %s is missing", kind, kind)
		}
	}
	for _, reason := range wire.Reasons() {
		if _, ok := row(text, string(reason)); !ok {
			t.Errorf("docs/protocol.md: the reason %q is missing", reason)
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

// TestDocsNameEveryType follows the fields of requests, responses and events to
// the structs that they hold.
func TestDocsNameEveryType(t *testing.T) {
	text := protocolText(t)
	seen := map[reflect.Type]bool{}
	var visit func(typ reflect.Type, nested bool)
	visit = func(typ reflect.Type, nested bool) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		known := typ == reflect.TypeFor[session.Entry]() || typ == reflect.TypeFor[ident.ID]() || typ == reflect.TypeFor[api.EventEnvelope]()
		if typ.Kind() != reflect.Struct || known || seen[typ] {
			return
		}
		seen[typ] = true
		if nested {
			body, ok := section(text, typ.Name())
			if !ok {
				t.Errorf("docs/protocol.md: the type %s has no section", typ.Name())
			}
			requireFields(t, typ.Name(), body, reflect.Zero(typ).Interface())
		}
		for f := range typ.Fields() {
			visit(f.Type, true)
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

// numbers are the constants that both ends of the wire must agree on. A time is
// written in seconds.
var numbers = map[string]int{
	"wire.Version": wire.Version, "wire.MaxPreLogin": wire.MaxPreLogin, "wire.MaxControl": wire.MaxControl,
	"wire.MaxRecordPayload": wire.MaxRecordPayload, "wire.RecordHeaderLen": wire.RecordHeaderLen,
	"wire.MaxRecord": wire.MaxRecord, "wire.MaxMessage": wire.MaxMessage, "wire.MaxLabel": wire.MaxLabel,
	"wire.MaxRequestID": wire.MaxRequestID, "wire.MaxPairBody": wire.MaxPairBody, "wire.MaxAuthority": wire.MaxAuthority, "wire.MaxInvite": wire.MaxInvite,
	"wire.NonceLen": wire.NonceLen, "wire.MaxChannelsPerEntry": wire.MaxChannelsPerEntry,
	"wire.MaxChannelsPerHost": wire.MaxChannelsPerHost, "wire.MaxBindings": wire.MaxBindings, "wire.SlotLen": wire.SlotLen,
	"wire.LoginTimeout": int(wire.LoginTimeout / time.Second), "wire.PairTimeout": int(wire.PairTimeout / time.Second),
	"wire.DeadPeerTimeout": int(wire.DeadPeerTimeout / time.Second),
	"ident.IDLen":          ident.IDLen, "ident.KeyLen": ident.KeyLen,
	"pair.SecretLen": pair.SecretLen, "pair.NonceLen": pair.NonceLen, "pair.TagLen": pair.TagLen,
	"seal.HandshakeLen": seal.HandshakeLen, "seal.MaxRecord": seal.MaxRecord, "seal.MaxMessage": seal.MaxMessage,
	"seal.Window": seal.Window, "seal.AckEvery": seal.AckEvery,
	"api.MaxPrompt": api.MaxPrompt, "api.MaxPath": api.MaxPath, "api.MaxName": api.MaxName,
	"api.MaxClientKey": api.MaxClientKey, "api.MaxFeedback": api.MaxFeedback, "api.MaxRules": api.MaxRules, "api.MaxQueue": api.MaxQueue, "api.RingBytes": api.RingBytes,
	"api.MaxQueueBytes": api.MaxQueueBytes, "api.WindowEntries": api.WindowEntries, "api.WindowBytes": api.WindowBytes,
	"api.MaxEntryBytes": api.MaxEntryBytes, "api.MaxToolTail": api.MaxToolTail,
	"api.MaxQuery": api.MaxQuery, "api.MaxHits": api.MaxHits,
	"api.MaxLabel": api.MaxLabel, "api.MaxFocus": api.MaxFocus, "api.MaxTreeNodes": api.MaxTreeNodes,
	"api.MaxSessions": api.MaxSessions, "api.MaxKeptRules": api.MaxKeptRules,
}

func TestDocsNameEveryNumber(t *testing.T) {
	text := protocolText(t)
	for name, value := range numbers {
		line, ok := row(text, name)
		if !ok || !strings.Contains(line, fmt.Sprintf("| %d |", value)) {
			t.Errorf("docs/protocol.md: no line says that %s is %d", name, value)
		}
	}
}

// TestEveryNumberIsListed finds the exported constants without a type of their
// own, which are the numbers, in the sources.
func TestEveryNumberIsListed(t *testing.T) {
	for _, folder := range []string{"ident", "wire", "pair", "seal", "api"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range numericConstants(file) {
				if _, ok := numbers[folder+"."+name]; !ok {
					t.Errorf("%s: the constant %s is not listed, so nobody checks its text", path, name)
				}
			}
		}
	}
}

func numericConstants(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type != nil || len(value.Values) != 1 || isText(value.Values[0]) {
				continue
			}
			if name := value.Names[0]; name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func isText(expr ast.Expr) bool {
	literal, ok := expr.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

// repository is the root as the tests of this package see it.
const repository = "../.."

// sources joins the text of the test files whose names end so, and tells how many
// there are.
func sources(t *testing.T, endings ...string) (string, int) {
	t.Helper()
	var all strings.Builder
	n := 0
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "dist"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(path, end) }):
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String(), n
}

// documents reads every Markdown file that a reader may open, by its path below
// the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	if len(texts) < 10 {
		t.Fatalf("only %d documents were found", len(texts))
	}
	return texts
}

// TestDocsNameRealTests: a claim that a test holds is worth as much as the test.
func TestDocsNameRealTests(t *testing.T) {
	goTests, n := sources(t, "_test.go")
	webTests, m := sources(t, ".test.ts", ".test.tsx", ".spec.ts")
	if n < 30 || m < 10 {
		t.Fatalf("only %d and %d test files were found", n, m)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`")
	quoted := regexp.MustCompile(`web: ("[^"]+"(?:, "[^"]+")*)`) // a name in quotes may hold commas
	for path, text := range documents(t) {
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(goTests, "func "+match[1]+"(") {
				t.Errorf("%s names %s, which is no test", path, match[1])
			}
		}
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			for name := range strings.SplitSeq(strings.Trim(match[1], `"`), `", "`) {
				if !strings.Contains(webTests, `"`+name+`"`) {
					t.Errorf("%s names the web test %s, which does not exist", path, name)
				}
			}
		}
	}
}

var notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors lists what a link may point to inside a document.
func anchors(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line {
			slug := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return all
}

func TestDocsLinksLead(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)]+)\)`)
	texts := documents(t)
	for path, text := range texts {
		for _, match := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := path
			if target != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, match[1])
			} else if anchor != "" && !slices.Contains(anchors(texts[to]), anchor) {
				t.Errorf("%s links to %s, which has no such heading", path, match[1])
			}
		}
	}
}
