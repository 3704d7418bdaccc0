package store_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/"}`

// TestNames: an id becomes part of a file name or a key of a database.
func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"s1": true, "prj_0-A.b": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, ".hidden": false, "a/b": false, `a\b`: false, "a b": false, "ä": false, "a\x00": false, strings.Repeat("x", 129): false,
	} {
		if err := store.CheckName(name); (err == nil) != ok || err != nil && !errors.Is(err, store.ErrBadName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWhatASessionIsCreatedWith(t *testing.T) {
	entry := `{"type":"custom","customType":"x","id":"e1","parentId":null,"timestamp":"2026-01-02T03:04:05.678Z"}`
	for name, c := range map[string]struct {
		project, header string
		lines           []string
		err             error // nil if it is valid
	}{
		"valid":                  {"prj_1", header, []string{entry, entry}, nil},
		"no lines":               {"prj_1", header, nil, nil},
		"a project with a path":  {"../prj", header, nil, store.ErrBadName},
		"an id with a path":      {"prj_1", strings.Replace(header, "s1", "../s1", 1), nil, store.ErrBadName},
		"a header of two lines":  {"prj_1", strings.Replace(header, ",", ",\n", 1), nil, store.ErrBadLine},
		"an old header":          {"prj_1", strings.Replace(header, `:3`, `:2`, 1), nil, store.ErrBadLine},
		"an entry as the header": {"prj_1", entry, nil, store.ErrBadLine},
		"a line of two lines":    {"prj_1", header, []string{entry, strings.Replace(entry, ",", ",\n", 1)}, store.ErrBadLine},
		"a line that is a list":  {"prj_1", header, []string{"[]"}, store.ErrBadLine},
		"a line cut short":       {"prj_1", header, []string{entry[:20]}, store.ErrBadLine},
	} {
		var lines []json.RawMessage
		for _, line := range c.lines {
			lines = append(lines, json.RawMessage(line))
		}
		got, err := store.CheckCreate(t.Context(), c.project, json.RawMessage(c.header), lines)
		if !errors.Is(err, c.err) || c.err == nil && (err != nil || got.ID != "s1") {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.err)
		}
	}
}
