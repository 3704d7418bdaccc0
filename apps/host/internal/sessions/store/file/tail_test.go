package file_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
)

func entryLine(id, parent string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hi"}}`, id, parent))
}

// tailed reads behind a mark and tells how many entries came, -1 for the whole file.
func tailed(t *testing.T, p *file.Provider, mark string) (store.Tail, int) {
	t.Helper()
	tail, err := p.Tail(t.Context(), "s1", mark)
	if err != nil {
		t.Fatal(err)
	}
	if tail.File != nil {
		return tail, -1
	}
	return tail, len(tail.Entries)
}

func TestTail(t *testing.T) {
	dir := t.TempDir()
	p := file.New(dir, slog.New(slog.DiscardHandler))
	header := json.RawMessage(`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}`)
	log, err := p.Create(t.Context(), "prj_1", header, entryLine("e1", ""))
	if err != nil {
		t.Fatal(err)
	}
	first, n := tailed(t, p, "")
	if n != -1 || first.Mark == "" || len(first.File.Tree.Entries()) != 1 {
		t.Fatalf("the first reading: %+v", first)
	}
	if err := log.Append(t.Context(), entryLine("e2", "e1"), entryLine("e3", "e2")); err != nil {
		t.Fatal(err)
	}
	second, n := tailed(t, p, first.Mark)
	if n != 2 || second.Entries[1].ID != "e3" || second.Revision == first.Revision {
		t.Fatalf("%d entries: %+v", n, second)
	}
	if _, n = tailed(t, p, second.Mark); n != 0 {
		t.Errorf("%d entries though nothing was appended", n)
	}
	if _, n = tailed(t, p, first.Mark); n != 2 {
		t.Errorf("%d entries behind the old mark", n)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := p.List(t.Context()); err != nil || list[0].Revision != second.Revision {
		t.Errorf("the list has the revision %q, the tail %q (%v)", list[0].Revision, second.Revision, err)
	}
	testTailOfOddFiles(t, p, dir, second.Mark)
}

func testTailOfOddFiles(t *testing.T, p *file.Provider, dir, mark string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(string(whole))
	changed[len(changed)-4] ^= 1
	for name, test := range map[string]struct {
		content string
		want    int
		goesOn  bool // the next reading need not read all
	}{
		"as it was":       {string(whole), 0, true},
		"cut":             {string(whole[:len(whole)-9]), -1, false},
		"changed":         {string(changed), -1, false},
		"torn end":        {string(whole) + `{"type":"mess`, -1, false},
		"no line end":     {string(whole) + string(entryLine("e4", "e3")), -1, false},
		"damaged line":    {string(whole) + "nonsense\n", -1, false},
		"another header":  {string(whole) + `{"type":"session","version":3,"id":"s1"}` + "\n", -1, true},
		"of another time": {`{"type":"session","version":1,"id":"s1"}` + "\n", -1, false},
	} {
		if err := os.WriteFile(paths[0], []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if tail, n := tailed(t, p, mark); n != test.want || (tail.Mark != "") != test.goesOn {
			t.Errorf("%s: %d entries, mark %q", name, n, tail.Mark)
		}
	}
	for _, bad := range []string{"x", "-4.abc", "0.", "99999999999999999999.x", "40"} {
		if err := os.WriteFile(paths[0], whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, n := tailed(t, p, bad); n != -1 {
			t.Errorf("the mark %q was taken", bad)
		}
	}
}
