package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// expected is what Pi 1.5.2 says of a fixture.
type expected struct {
	Version         any                        `json:"version"`
	SessionID       string                     `json:"sessionId"`
	Cwd             string                     `json:"cwd"`
	IDsGenerated    bool                       `json:"idsGenerated"`
	EntryCount      float64                    `json:"entryCount"`
	LeafID          any                        `json:"leafId"`
	EntryIDs        []any                      `json:"entryIds"`
	ParentIDs       []any                      `json:"parentIds"`
	EntryTypes      []string                   `json:"entryTypes"`
	Labels          map[string]any             `json:"labels"`
	LabelTimestamps map[string]string          `json:"labelTimestamps"`
	Name            any                        `json:"name"`
	Tree            any                        `json:"tree"`
	Paths           map[string][]string        `json:"paths"`
	Contexts        map[string]json.RawMessage `json:"contexts"`
	FileAfterOpen   string                     `json:"fileAfterOpen"`
}

func piFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/pi/*.expected-1.5.2.json")
	if err != nil || len(files) < 17 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".expected-1.5.2.json")
	}
	return files
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/pi", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPiFixtures holds every answer to Pi's own.
func TestPiFixtures(t *testing.T) {
	for _, name := range piFiles(t) {
		t.Run(name, func(t *testing.T) {
			f, err := session.ReadFile(read(t, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			want := readExpected(t, name, f)
			checkFile(t, f, want)
			checkTree(t, f.Tree, want)
			for leaf, context := range want.Contexts {
				checkContext(t, f, leaf, context)
			}
			empty, err := f.Tree.Context("")
			if err != nil || len(empty.Messages) != 0 || empty.ThinkingLevel != "off" || empty.Model != nil {
				t.Errorf("before the first entry: %+v, %v", empty, err)
			}
		})
	}
}

// readExpected reads Pi's answers. Where Pi made up ids, ours take their place.
func readExpected(t *testing.T, name string, f *session.File) expected {
	t.Helper()
	text := string(read(t, name+".expected-1.5.2.json"))
	var want expected
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if !want.IDsGenerated {
		return want
	}
	for i, e := range f.Tree.Entries() {
		text = strings.ReplaceAll(text, `"`+want.EntryIDs[i].(string)+`"`, `"`+e.ID+`"`)
	}
	want = expected{}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	return want
}

func checkFile(t *testing.T, f *session.File, want expected) {
	t.Helper()
	got := inspect(t, f, "")
	for key, value := range map[string]any{
		"sessionId": want.SessionID, "version": want.Version, "entryCount": want.EntryCount, "leafId": want.LeafID,
		"entryIds": want.EntryIDs, "parentIds": want.ParentIDs, "labels": want.Labels, "name": want.Name, "tree": want.Tree,
	} {
		if !reflect.DeepEqual(got[key], value) {
			t.Errorf("%s is %v, want %v", key, got[key], value)
		}
	}
	if f.Header.Cwd != want.Cwd || len(f.Damage) > 0 || f.Torn {
		t.Errorf("cwd %s, damage %v, torn %v", f.Header.Cwd, f.Damage, f.Torn)
	}
	if f.Migrated != (want.FileAfterOpen != "unchanged") {
		t.Errorf("migrated: %v, and after Pi opened it the file is %s", f.Migrated, want.FileAfterOpen)
	}
}

func checkTree(t *testing.T, tree *session.Tree, want expected) {
	t.Helper()
	stamps := map[string]string{}
	for _, l := range tree.Labels() {
		stamps[l.TargetID] = l.Timestamp
		if one, ok := tree.Label(l.TargetID); !ok || one != l {
			t.Errorf("the label of %s is %+v, want %+v", l.TargetID, one, l)
		}
	}
	if !reflect.DeepEqual(stamps, want.LabelTimestamps) {
		t.Errorf("label timestamps are %v, want %v", stamps, want.LabelTimestamps)
	}
	for i, e := range tree.Entries() {
		if string(e.Type) != want.EntryTypes[i] {
			t.Errorf("entry %d is a %s, want %s", i, e.Type, want.EntryTypes[i])
		}
	}
	for leaf, ids := range want.Paths {
		path, err := tree.Path(leaf)
		var got []string
		for _, e := range path {
			got = append(got, e.ID)
		}
		if err != nil || !reflect.DeepEqual(got, ids) {
			t.Errorf("the path to %s is %v, want %v (%v)", leaf, got, ids, err)
		}
	}
}

func checkContext(t *testing.T, f *session.File, leaf string, want json.RawMessage) {
	t.Helper()
	var value any
	if err := json.Unmarshal(want, &value); err != nil {
		t.Fatal(err)
	}
	if got := inspect(t, f, leaf)["context"]; !reflect.DeepEqual(got, value) {
		text, _ := json.Marshal(got)
		t.Errorf("the context at %s is\n%s\nwant\n%s", leaf, text, want)
	}
}

func inspect(t testing.TB, f *session.File, leaf string) map[string]any {
	t.Helper()
	in, err := f.Inspect(leaf)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(in.JSON(), &got); err != nil {
		t.Fatalf("%v: %s", err, in.JSON())
	}
	return got
}

// TestMigratedFileIsPis writes a migrated file as it would stand on disk: but for
// the ids, which Pi draws at random, it is Pi's to the byte.
func TestMigratedFileIsPis(t *testing.T) {
	f, err := session.ReadFile(read(t, "v1-simple.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := string(read(t, "v1-simple.after-open-1.5.2.jsonl"))
	pis, err := session.ReadFile([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	got := string(f.Bytes())
	for i, e := range f.Tree.Entries() {
		got = strings.ReplaceAll(got, `"`+e.ID+`"`, `"`+pis.Tree.Entries()[i].ID+`"`)
	}
	if got != want {
		t.Errorf("migrated to\n%s\nwant\n%s", got, want)
	}
	again, err := session.ReadFile(f.Bytes())
	if err != nil || again.Migrated || !reflect.DeepEqual(inspect(t, again, ""), inspect(t, f, "")) {
		t.Errorf("the migrated file reads otherwise: %v", err)
	}
}
