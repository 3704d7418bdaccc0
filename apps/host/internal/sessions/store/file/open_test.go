package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
)

// put makes a session file of any content.
func put(t testing.TB, content string) (p *file.Provider, path string, log *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "prj", "x_s.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	return file.New(dir, slog.New(slog.NewTextHandler(log, nil))), path, log
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWhatACrashLeftIsCutOff: only data that was never announced is removed, with a note in the log.
func TestWhatACrashLeftIsCutOff(t *testing.T) {
	whole := newHeader("s") + "\n" + string(line("a")) + "\n"
	next := string(line("b"))
	for name, c := range map[string]struct {
		tail, want string
		note       bool
	}{
		"nothing":      {"", "", false},
		"half a line":  {next[:len(next)/2], "", true},
		"one byte":     {"{", "", true},
		"zeros":        {"\x00\x00\x00", "", true},
		"only its end": {next, next + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, path, notes := put(t, whole+c.tail)
			if f, err := p.Read(t.Context(), "s"); err != nil || content(t, path) != whole+c.tail {
				t.Fatalf("reading changed the file, or failed: %+v %v", f, err)
			}
			log, err := p.Open(t.Context(), "s")
			check(t, err)
			if got := content(t, path); got != whole+c.want {
				t.Fatalf("the file holds %q behind its whole lines", strings.TrimPrefix(got, whole))
			}
			if noted := strings.Contains(notes.String(), "removed an incomplete line"); noted != c.note {
				t.Errorf("the note is %q", notes)
			}
			check(t, log.Append(t.Context(), line("c")))
			check(t, log.Close())
			if got := content(t, path); got != whole+c.want+string(line("c"))+"\n" {
				t.Errorf("after the next append the file holds %q", got)
			}
		})
	}
}

// TestDamageIsReportedAndKept: the session can be read, nothing is written, and not
// a byte changes, whatever else there would be to mend.
func TestDamageIsReportedAndKept(t *testing.T) {
	h, a := newHeader("s")+"\n", string(line("a"))+"\n"
	for name, c := range map[string]struct{ content, says string }{
		"garbage":              {h + a + "{garbage\n" + a, "line 3"},
		"garbage and a tear":   {h + "{garbage\n" + a + `{"type":"tor`, "line 2"},
		"no object":            {h + a + "[1]\n", "line 3"},
		"zeros inside":         {h + "\x00\x00\n" + a, "line 2"},
		"a newer version":      {`{"type":"session","version":4,"id":"s"}` + "\n" + a, "version 4"},
		"a last line of no id": {h + a + `{"type":"custom"}` + "\n", "no id"},
	} {
		t.Run(name, func(t *testing.T) {
			p, path, _ := put(t, c.content)
			log, err := p.Open(t.Context(), "s")
			check(t, err)
			err = log.Append(t.Context(), line("b"))
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("append: %v, want ErrDamaged with %q", err, c.says)
			}
			check(t, log.Close())
			if got := content(t, path); got != c.content {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

// TestOldVersions: a file of version 1 or 2 is brought to version 3 when it is
// opened to write, and kept as it was beside.
func TestOldVersions(t *testing.T) {
	for version, old := range map[string]string{
		"1": strings.ReplaceAll(oldFile, `"old"`, `"s"`),
		"2": `{"type":"session","version":2,"id":"s","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/x","mine":1}` + "\n" +
			`{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-02T03:04:06.000Z","message":{"role":"hookMessage","content":"x"}}` + "\n",
		"2, torn": `{"type":"session","version":2,"id":"s"}` + "\n" + string(line("a")) + "\n" + `{"type":"mess`,
	} {
		t.Run(version, func(t *testing.T) {
			p, path, _ := put(t, old)
			before, err := p.Read(t.Context(), "s")
			check(t, err)
			log, err := p.Open(t.Context(), "s")
			check(t, err)
			if content(t, path+".bak") != old {
				t.Error("the old file was not kept")
			}
			if now := log.File(); now.Migrated || now.Header.Version != 3 || content(t, path) != string(before.Bytes()) {
				t.Errorf("opened as %+v: %s", now.Header, content(t, path))
			}
			if _, err := p.Open(t.Context(), "s"); !errors.Is(err, store.ErrInUse) {
				t.Errorf("the new file is not locked: %v", err)
			}
			check(t, log.Append(t.Context(), line("b")))
			check(t, log.Close())
			check(t, p.Delete(t.Context(), "s"))
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) > 0 {
				t.Errorf("after deleting there are %v, %v", left, err)
			}
		})
	}
}

// TestADamagedOldVersion: what reads of a damaged file of version 1 or 2 is migrated,
// what cannot be parsed is reported and stays at its place, and the old file is kept. A file that
// may only be read is left alone.
func TestADamagedOldVersion(t *testing.T) {
	header := `{"type":"session","id":"s","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/x"}` + "\n"
	entries := strings.SplitAfter(strings.ReplaceAll(oldFile, `"old"`, `"s"`), "\n")[1:3]
	compaction := `{"type":"compaction","timestamp":"2025-01-02T03:04:08.000Z","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":9}` + "\n"
	damaged := "{garbage\nnull\n"
	old := "\x00junk\n" + header + entries[0] + damaged + "\n" + entries[1] + header + "[1]\n" + compaction + `{"type":"mess`
	p, path, _ := put(t, old)
	before, err := p.Read(t.Context(), "s")
	check(t, err)
	log, err := p.Open(t.Context(), "s")
	check(t, err)
	if content(t, path+".bak") != old {
		t.Error("the old file was not kept")
	}
	now := log.File()
	if now.Migrated || now.Header.Version != 3 || !slices.Equal(entryLines(now), entryLines(before)) {
		t.Errorf("opened as %+v: %s", now.Header, content(t, path))
	}
	if got, want := len(now.Tree.LeafContext().Messages), len(before.Tree.LeafContext().Messages); got != want || want != 2 {
		t.Errorf("the context has %d messages, want %d", got, want)
	}
	if got := content(t, path); !strings.HasPrefix(got, "\x00junk\n") || !strings.Contains(got, "\n"+damaged) || len(now.Damage) != len(before.Damage)-1 {
		t.Errorf("damage was %v, is %v: %s", before.Damage, now.Damage, got)
	}
	if err := log.Append(t.Context(), line("b")); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("append: %v, want ErrDamaged", err)
	}
	check(t, log.Close())
	migrated := content(t, path)
	log, err = p.Open(t.Context(), "s")
	check(t, err)
	check(t, log.Close())
	if content(t, path) != migrated {
		t.Error("opening it again changed it")
	}
}

// TestAnEarlierBackupIsKept: a file may be migrated twice, when an old one was put
// back in its place.
func TestAnEarlierBackupIsKept(t *testing.T) {
	old := strings.ReplaceAll(oldFile, `"old"`, `"s"`)
	p, path, _ := put(t, old)
	check(t, os.WriteFile(path+".bak", []byte("another\n"), 0o600))
	log, err := p.Open(t.Context(), "s")
	check(t, err)
	check(t, log.Close())
	if content(t, path+".bak") != "another\n" || content(t, path+".bak1") != old {
		t.Error("a backup was written over")
	}
}

// TestOddNames: what is in the folder is found by what it holds, not by its name.
func TestOddNames(t *testing.T) {
	p, path, notes := put(t, newHeader("s")+"\n")
	folder := filepath.Dir(path)
	for name, data := range map[string]string{
		"named by hand.jsonl": newHeader("other id") + "\n",
		"x_wrong.jsonl":       newHeader("right") + "\n",
		"empty.jsonl":         "",
		"notes.jsonl":         "{\"type\":\"note\"}\n",
		"y_s.jsonl":           newHeader("s") + "\n" + string(line("a")) + "\n",
		"no session.txt":      "x",
		"late header.jsonl":   "\n \n{broken\n" + newHeader("late") + "\n",
		"x_no line end.jsonl": newHeader("unended"),
	} {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte(data), 0o600))
	}
	list, err := p.List(t.Context())
	check(t, err)
	ids := map[string]bool{}
	for _, info := range list {
		ids[info.Header.ID] = true
	}
	for _, id := range []string{"s", "other id", "right", "late", "unended"} {
		if !ids[id] {
			t.Errorf("%q is not listed", id)
		}
		if _, err := p.Read(t.Context(), id); err != nil {
			t.Errorf("reading %q: %v", id, err)
		}
	}
	if len(list) != 5 || strings.Count(notes.String(), "cannot be listed") < 2 || !strings.Contains(notes.String(), "same id") {
		t.Errorf("listed are %v, noted is %s", ids, notes)
	}
	if _, err := p.Read(t.Context(), "wrong"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a name that lies: %v", err)
	}
}

// FuzzOpen opens whatever is in a file: it never panics, never loses a whole
// line, and what it leaves behind opens again as the same.
func FuzzOpen(f *testing.F) {
	h := newHeader("s") + "\n"
	for _, seed := range []string{
		"", "\n", "{}", h, h + `{"type":"message"`, h + "null\n", h + "[1]\n\n", h + h + "\xff\xfe\n",
		h + `{"type":"custom","customType":"x","id":"a","parentId":null,"seq":18446744073709551615}` + "\n",
		h + `{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":"x"}}` + "\n",
		strings.ReplaceAll(oldFile, `"old"`, `"s"`), h + " ", h + "{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, path, _ := put(t, string(data))
		log, err := p.Open(t.Context(), "s")
		if err != nil {
			return
		}
		appendErr := log.Append(t.Context(), json.RawMessage(`{"type":"custom","id":"fuzzed-in","parentId":null}`))
		check(t, log.Close())
		after := []byte(content(t, path))
		old, err := os.ReadFile(path + ".bak")
		migrated := err == nil // to a file of its own, which TestADamagedOldVersion looks at
		if migrated && !bytes.Equal(old, data) {
			t.Fatalf("the backup of %q is %q", data, old)
		}
		if whole := data[:bytes.LastIndexByte(data, '\n')+1]; !migrated && !bytes.HasPrefix(after, whole) {
			t.Fatalf("opening made %q of %q", after, data)
		}
		if appendErr != nil && !migrated && !bytes.Equal(after, data) {
			t.Fatalf("a file that may not be written to was changed: %q to %q", data, after)
		}
		again, err := p.Read(t.Context(), "s")
		if err != nil || appendErr == nil && again.Tree.Leaf() != "fuzzed-in" {
			t.Fatalf("after %q the file reads as %+v, %v", data, again, err)
		}
	})
}
