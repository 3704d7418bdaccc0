package main

import (
	"bytes"
	"go/constant"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, "ts", "src", "gen", name))
		if err != nil {
			t.Fatalf("%v; run: go run ./cmd/tsgen", err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("ts/src/gen/%s is stale; run: go run ./cmd/tsgen", name)
		}
	}
	onDisk, err := filepath.Glob(filepath.Join(root, "ts", "src", "gen", "*.ts"))
	if err != nil || len(onDisk) != len(files) {
		t.Errorf("ts/src/gen holds %d files, want %d (%v)", len(onDisk), len(files), err)
	}
}

func TestOpenAPIIsFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := generateOpenAPI(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range openapiFiles() {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale; run: go run ./cmd/tsgen (%v)", name, err)
		}
	}
}

func TestReferencesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	references, err := generateReferences(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range references {
		if got, err := os.ReadFile(referencePath(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is stale; run: go run ./cmd/tsgen (%v)", name, err)
		}
	}
	text := string(references["http-reference.md"])
	for _, spec := range api.Table() {
		if !strings.Contains(text, "\n### `"+spec.Name+"`\n") {
			t.Errorf("docs/http-reference.md has no section of %s", spec.Name)
		}
	}
}

// TestHostEvents: the types and docs/protocol.md agree on which events are of no session.
func TestHostEvents(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range api.Events() {
		name := event.EventType()
		_, row, found := strings.Cut(string(text), "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if documented := strings.Contains(row, "| host event:"); !found || documented != hostEvents()[name] {
			t.Errorf("%s is documented, %t, as a host event, %t; the types say %t", name, found, documented, hostEvents()[name])
		}
	}
}

func TestGenerateIsStable(t *testing.T) {
	root := filepath.Join("..", "..")
	first, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := generate(root)
		if err != nil {
			t.Fatal(err)
		}
		for name := range first {
			if !bytes.Equal(first[name], again[name]) {
				t.Fatalf("%s differs from run to run", name)
			}
		}
	}
}

func TestScreaming(t *testing.T) {
	for name, want := range map[string]string{
		"MaxControl": "MAX_CONTROL", "MaxRequestID": "MAX_REQUEST_ID", "Version": "VERSION",
		"IDLen": "ID_LEN", "NonceLen": "NONCE_LEN", "MaxRecordPayload": "MAX_RECORD_PAYLOAD",
	} {
		if got := screaming(name); got != want {
			t.Errorf("screaming(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCommentCannotEndEarly(t *testing.T) {
	if got := comment("a */ b", ""); strings.Count(got, "*/") != 1 {
		t.Errorf("comment = %q", got)
	}
}

// The lists that packages keep by hand hold every constant of their type.
func TestListsAreComplete(t *testing.T) {
	src, err := readSource(filepath.Join("..", "..", "wire"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, r := range wire.Reasons() {
		listed[string(r)] = true
	}
	for _, c := range src.consts {
		if c.typ == "Reason" && !listed[constant.StringVal(c.value)] {
			t.Errorf("wire.Reasons lacks %s", c.name)
		}
	}
}

func TestUnionRefusesForgottenKeys(t *testing.T) {
	g := newGenerator()
	src, err := readSource(filepath.Join("..", "..", "session"))
	if err != nil {
		t.Fatal(err)
	}
	g.sources["session"] = src
	block := reflect.TypeFor[session.Block]()
	if err := g.union(block, "type", blockVariants()[:2]); err == nil {
		t.Error("a union without all keys was written")
	}
	if err := g.union(block, "type", []variant{{name: "X", keys: []string{"nothing"}}}); err == nil {
		t.Error("a union with a key that is not there was written")
	}
}
