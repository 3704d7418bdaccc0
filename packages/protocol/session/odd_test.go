package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// oddCase is what Pi 1.5.2 says of a file that no one would write. A value that is
// {"hangs": true} or {"throws": "..."} is no answer.
type oddCase struct {
	About    string                     `json:"about"`
	Refused  string                     `json:"refused"`
	Contexts map[string]json.RawMessage `json:"contexts"` // by leaf
	answers  map[string]any
}

func (c *oddCase) UnmarshalJSON(data []byte) error {
	type plain oddCase
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	return json.Unmarshal(data, &c.answers)
}

// unlikePi are the answers that differ from Pi's. docs/session-format.md says why
// ("Differences from Pi").
var unlikePi = map[string][]string{
	"labels-odd": {"labels"},
	"times":      {"tree"},            // Pi and scorel write none of its forms
	"times-odd":  {"tree", "context"}, // the timestamps are numbers
	// A version that is not a number counts as the current one.
	"version-text-2": {"version", "context"},
	"version-true":   {"version", "leafId", "entryIds", "parentIds", "tree", "context"},
	"version-list":   {"version", "leafId", "entryIds", "parentIds", "tree", "context"},
	"v1-list-line":   {"entryIds", "parentIds", "tree"},
}

// TestOddFiles holds what is said of odd files to what Pi says of them, wherever it
// has an answer. Where it has none, there is one here.
func TestOddFiles(t *testing.T) {
	data, err := os.ReadFile("testdata/odd/pi-1.5.2.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]oddCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob("testdata/odd/*.jsonl"); err != nil || len(files) != len(cases) || len(cases) < 90 {
		t.Fatalf("%d files, %d answers, %v", len(files), len(cases), err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/odd", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			f, err := session.ReadFile(data)
			switch {
			case errors.Is(err, session.ErrEmpty): // Pi begins a session in it
			case strings.HasPrefix(c.Refused, "Session file is not"):
				if !errors.Is(err, session.ErrNotSession) {
					t.Errorf("Pi refuses it: %v", err)
				}
			case err != nil:
				t.Fatal(err)
			case c.Refused == "":
				c.check(t, name, f)
			}
		})
	}
}

func (c *oddCase) check(t *testing.T, name string, f *session.File) {
	t.Helper()
	ids := renamed(f, c.answers["entryIds"].([]any))
	got := inspect(t, f, "")
	for _, key := range []string{"sessionId", "version", "entryCount", "leafId", "entryIds", "parentIds", "labels", "name", "tree", "context"} {
		want := rename(ids, c.answers[key])
		same := noAnswer(want) || reflect.DeepEqual(got[key], want)
		if differs := slices.Contains(unlikePi[name], key); same == differs {
			t.Errorf("%s\n%s is %v\nPi says %v", c.About, key, got[key], want)
		}
	}
	for leaf, text := range c.Contexts {
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if id, ok := ids[leaf]; ok {
			leaf = id
		}
		if _, ok := f.Tree.Get(leaf); !ok {
			continue // half of a surrogate pair, which Go's JSON does not keep; the vectors have it
		}
		if slices.Contains(unlikePi[name], "context") {
			continue // the vectors have what is said of it
		}
		if got := inspect(t, f, leaf)["context"]; !noAnswer(want) && !reflect.DeepEqual(got, rename(ids, want)) {
			t.Errorf("%s\nat %s it is %v\nPi says %v", c.About, leaf, got, want)
		}
	}
}

func noAnswer(value any) bool {
	m, ok := value.(map[string]any)
	return ok && (m["hangs"] != nil || m["throws"] != nil)
}

// renamed tells which of Pi's ids stand for which of ours, where it drew them.
func renamed(f *session.File, pis []any) map[string]string {
	ids := map[string]string{}
	for i, e := range f.Tree.Entries() {
		if id, ok := pis[i].(string); ok && f.Migrated && e.ID != "" {
			ids[id] = e.ID
		}
	}
	return ids
}

func rename(ids map[string]string, value any) any {
	switch v := value.(type) {
	case string:
		if id, ok := ids[v]; ok {
			return id
		}
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, rename(ids, x))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			out[rename(ids, key).(string)] = rename(ids, x)
		}
		return out
	}
	return value
}

// TestHugeFiles reads what is long or deep. Where the work grew with the square of
// it, the test would not end in its time.
func TestHugeFiles(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	deep := strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18)
	for name, lines := range map[string][]string{
		"a line of 10 MB":           {said("a", "null", long), said("b", "a", "y")},
		"a key of 10 MB":            {`{"` + long + `":1,"type":"custom","id":"a","parentId":null}`, said("b", "a", "y")},
		"deep":                      {`{"type":"custom","id":"a","parentId":null,"data":` + deep + `}`, said("b", "a", "y")},
		"deep in a message":         {`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":null,"x":` + deep + `}}`, said("b", "a", "y")},
		"never closed":              {strings.Repeat(`{"a":`, 1<<18), said("a", "null", "x"), said("b", "a", "y")},
		"many keys":                 {`{"type":"message","id":"a","parentId":null,"message":{` + strings.Repeat(`"k":1,`, 1<<18) + `"role":"user"}}`, said("b", "a", "y")},
		"50 000 lines of nothing":   append(slices.Repeat([]string{"{}"}, 50_000), said("b", "a", "y")),
		"50 000 lines of an id":     append(slices.Repeat([]string{said("a", "a", "x")}, 50_000), said("b", "a", "y")),
		"50 000 lines of no JSON":   append(slices.Repeat([]string{"{"}, 50_000), said("b", "a", "y")),
		"50 000 edits of one entry": append(slices.Repeat([]string{`{"type":"context_edit","targetId":"a","replacement":null}`}, 50_000), said("b", "a", "y")),
	} {
		f := file(t, lines...)
		in, err := f.Inspect("b")
		if err != nil || len(in.JSON()) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
