package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// fileCase is a session file, and all that is said of it: once, and from each entry
// that has an id. Messages are listed once and named by their place.
type fileCase struct {
	Name     string            `json:"name"`
	File     []byte            `json:"file"`
	Refused  bool              `json:"refused,omitempty"` // it does not begin with a header
	Summary  *fileSummary      `json:"summary,omitempty"`
	Messages []json.RawMessage `json:"messages,omitempty"`
	Contexts []leafContext     `json:"contexts,omitempty"`
}

// fileSummary is what Inspect says, whatever the leaf.
type fileSummary struct {
	SessionID  json.RawMessage `json:"sessionId"`
	Version    json.RawMessage `json:"version"`
	EntryCount int             `json:"entryCount"`
	LeafID     json.RawMessage `json:"leafId"`
	EntryIDs   json.RawMessage `json:"entryIds"`
	ParentIDs  json.RawMessage `json:"parentIds"`
	Labels     json.RawMessage `json:"labels"`
	Name       json.RawMessage `json:"name"`
	Tree       json.RawMessage `json:"tree"`
	Migrated   bool            `json:"migrated"`
	Torn       bool            `json:"torn"`
	Damage     []int           `json:"damage"` // numbers of lines
}

type leafContext struct {
	Leaf          json.RawMessage `json:"leaf"` // null: no leaf is named
	Messages      []int           `json:"messages"`
	Sources       []int           `json:"sources"` // places of entries; -1: one without an id
	ThinkingLevel json.RawMessage `json:"thinkingLevel,omitempty"`
	Model         json.RawMessage `json:"model"`
	Hole          *hole           `json:"hole"`
}

type hole struct {
	Why string `json:"why"`
	ID  string `json:"id"`
}

// TestVectorsContexts is every session file of the test data, seen from every entry.
func TestVectorsContexts(t *testing.T) {
	var content struct {
		Cases []fileCase `json:"cases"`
	}
	for _, folder := range []string{"pi", "odd"} {
		files, err := filepath.Glob(filepath.Join("session", "testdata", folder, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content.Cases = append(content.Cases, describe(t, folder+"/"+strings.TrimSuffix(filepath.Base(path), ".jsonl"), data))
		}
	}
	checkFile(t, "contexts.json", content)
}

func describe(t *testing.T, name string, data []byte) fileCase {
	t.Helper()
	c := fileCase{Name: name, File: data}
	f, err := session.ReadFile(data)
	switch {
	case errors.Is(err, session.ErrNotSession):
		c.Refused = true
		return c
	case errors.Is(err, session.ErrEmpty):
		f = session.EmptyFile()
	case err != nil:
		t.Fatal(err)
	}
	c.Summary = &fileSummary{Migrated: f.Migrated, Torn: f.Torn, Damage: []int{}}
	if err := json.Unmarshal(inspectAt(t, f, ""), c.Summary); err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Damage {
		c.Summary.Damage = append(c.Summary.Damage, d.Line)
	}
	c.Contexts = append(c.Contexts, c.context(t, f, "", json.RawMessage("null")))
	var ids []json.RawMessage
	if err := json.Unmarshal(c.Summary.EntryIDs, &ids); err != nil {
		t.Fatal(err)
	}
	for i, e := range f.Tree.Entries() {
		if e.ID != "" && place(f, e.ID) == i {
			c.Contexts = append(c.Contexts, c.context(t, f, e.ID, ids[i]))
		}
	}
	return c
}

// place returns where the entry stands that an id names.
func place(f *session.File, id string) int {
	entries := f.Tree.Entries()
	for i := len(entries) - 1; i >= 0 && id != ""; i-- {
		if entries[i].ID == id {
			return i
		}
	}
	return -1
}

func inspectAt(t *testing.T, f *session.File, leaf string) json.RawMessage {
	t.Helper()
	in, err := f.Inspect(leaf)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := in.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (c *fileCase) context(t *testing.T, f *session.File, leaf string, leafID json.RawMessage) leafContext {
	t.Helper()
	built := f.Tree.LeafContext()
	if leaf != "" {
		var err error
		if built, err = f.Tree.Context(leaf); err != nil {
			t.Fatal(err)
		}
	}
	var said struct {
		Context struct{ ThinkingLevel, Model json.RawMessage }
	}
	if err := json.Unmarshal(inspectAt(t, f, leaf), &said); err != nil {
		t.Fatal(err)
	}
	out := leafContext{Leaf: leafID, Messages: []int{}, Sources: []int{}, ThinkingLevel: said.Context.ThinkingLevel, Model: said.Context.Model, Hole: holeOf(built.Hole)}
	for _, message := range built.Messages {
		at := slices.IndexFunc(c.Messages, func(m json.RawMessage) bool { return bytes.Equal(m, message) })
		if at < 0 {
			at = len(c.Messages)
			c.Messages = append(c.Messages, message)
		}
		out.Messages = append(out.Messages, at)
	}
	for _, id := range built.Sources {
		out.Sources = append(out.Sources, place(f, id))
	}
	return out
}

func holeOf(err error) *hole {
	var why *session.PathError
	switch {
	case !errors.As(err, &why):
		return nil
	case errors.Is(err, session.ErrCycle):
		return &hole{"cycle", why.ID}
	case errors.Is(err, session.ErrMissingParent):
		return &hole{"missing_parent", why.ID}
	}
	return &hole{"missing_leaf", why.ID}
}
