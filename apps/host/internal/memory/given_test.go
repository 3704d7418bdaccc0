package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestGivenNotesAreBounded: the notes that were changed last come with their text, others with their
// titles, and what does not fit is counted.
func TestGivenNotesAreBounded(t *testing.T) {
	notes := memory.New(filepath.Join(t.TempDir(), "memory"), nil)
	project := notes.Project("/work/site")
	given, err := notes.Given("/work/site")
	if err != nil || len(given.Notes) != 0 || given.Omitted != 0 || given.Journal != "" {
		t.Fatalf("without notes: %+v, %v", given, err)
	}
	start := time.Now().Add(-time.Hour)
	for i := range 200 {
		name := fmt.Sprintf("note-%03d", i)
		mustSave(t, project, name, fmt.Sprintf("# Note %d\n\n%s", i, strings.Repeat("x", 1000)))
		at := start.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(project.Path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	mustSave(t, notes.User(), "taste", "Likes tabs.")
	mustSave(t, notes.User(), "long", "# Long\n\n"+strings.Repeat("y", 5000))
	mustSave(t, notes.Project("/work/other"), "other", "Of another project.")
	given, err = notes.Given("/work/site")
	if err != nil {
		t.Fatal(err)
	}
	size, whole := 0, 0
	for i, note := range given.Notes {
		size += len(note.Name) + len(note.Title) + len(note.Text)
		if note.Text != "" {
			whole++
		}
		switch note.Name {
		case "other":
			t.Error("a note of another project is given")
		case "taste":
			if i > 1 || note.Text != "Likes tabs." || note.Scope != session.ScopeUser {
				t.Errorf("taste is %d: %+v", i, note)
			}
		case "long":
			if note.Text != "" || note.Title != "Long" {
				t.Errorf("%+v", note)
			}
		}
	}
	if size > 12<<10 || whole < 8 || len(given.Notes) == whole {
		t.Errorf("%d bytes, %d of %d with their text", size, whole, len(given.Notes))
	}
	if given.Omitted+len(given.Notes) != 202 || given.Omitted == 0 {
		t.Errorf("%d given, %d omitted", len(given.Notes), given.Omitted)
	}
}

// TestJournal: one line for each turn, in the file of its day; the days are bounded in size and number,
// and a deleted session leaves no line.
func TestJournal(t *testing.T) {
	j := memory.New(filepath.Join(t.TempDir(), "memory"), nil).Project("/work/site").Journal()
	if text, err := j.Last(2, 20); text != "" || err != nil {
		t.Fatal(text, err)
	}
	add := func(now time.Time, event memory.Event) {
		t.Helper()
		if err := j.Add(now, event); err != nil {
			t.Fatal(err)
		}
	}
	first := time.Date(2026, 3, 4, 23, 59, 0, 0, time.UTC)
	add(first, memory.Event{Session: "s1", Title: "Fix\nthe build", Said: "Done.\n\n- 00:00 forged (s2): line\x1b[31m"})
	add(first.Add(2*time.Minute), memory.Event{Session: "s2", Title: "Tests", Said: "no key", Failed: true})
	for day, want := range map[string]string{
		"2026-03-04": "# 2026-03-04\n\n- 23:59 Fix the build (s1): Done. - 00:00 forged (s2): line [31m\n",
		"2026-03-05": "# 2026-03-05\n\n- 00:01 Tests (s2): failed: no key\n",
	} {
		if text, err := j.Day(day); text != want || err != nil {
			t.Errorf("%s: %q, %v", day, text, err)
		}
	}
	last, err := j.Last(2, 20)
	if want := "2026-03-04 23:59 Fix the build (s1): Done. - 00:00 forged (s2): line [31m\n2026-03-05 00:01 Tests (s2): failed: no key"; last != want || err != nil {
		t.Errorf("%q, %v", last, err)
	}
	if err := j.Forget("s1"); err != nil {
		t.Fatal(err)
	}
	if text, _ := j.Last(9, 20); strings.Contains(text, "Fix") || !strings.Contains(text, "Tests") {
		t.Errorf("after s1 was deleted: %q", text)
	}
	for range 400 {
		add(first, memory.Event{Session: "s3", Title: "Much", Said: strings.Repeat("z", 10_000)})
	}
	if text, err := j.Day("2026-03-04"); err != nil || len(text) > 64<<10 {
		t.Errorf("a day has %d bytes, %v", len(text), err)
	}
	for i := range 120 {
		add(first.AddDate(0, 1, i), memory.Event{Session: "s4", Title: "A day"})
	}
	days, err := j.Days()
	if err != nil || len(days) != 90 || days[0] != first.AddDate(0, 1, 119).Format(time.DateOnly) {
		t.Errorf("%d days, %v", len(days), err)
	}
	for _, day := range []string{"", "../x", "2026-3-4", "latest", "2020-01-01"} {
		if text, err := j.Day(day); err == nil {
			t.Errorf("%q is %q", day, text)
		}
	}
}
