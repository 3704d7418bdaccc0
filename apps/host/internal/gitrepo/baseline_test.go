package gitrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

func none(string) bool { return false }

// folder is a folder with some files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func bash(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", script, err, out)
	}
}

// compared lists what changed in a folder since a baseline.
func compared(t *testing.T, record, dir string) (rows []string) {
	t.Helper()
	b, err := LoadBaseline(record)
	if err != nil || b == nil || b.Reason != "" {
		t.Fatalf("%+v, %v", b, err)
	}
	v, between, err := b.View(t.Context(), t.TempDir(), dir, Find(dir, none))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.IncludeUntracked(t.Context(), func(path string) bool { return slices.Contains(b.Skipped, path) }); err != nil {
		t.Fatal(err)
	}
	files, _, err := v.List(t.Context(), between, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rows = append(rows, fmt.Sprintf("%s %s%s", file.Status, file.Path, file.From))
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestBaselinesOfRepositories: states of a repository in which a baseline is taken.
func TestBaselinesOfRepositories(t *testing.T) {
	for name, prepare := range map[string]string{
		"one commit":            "",
		"uncommitted work":      "echo x >> a.txt; echo y > new.txt",
		"staged work":           "echo x >> a.txt; git add -A; echo z >> a.txt",
		"no commit yet":         "rm -rf .git; git init -q .",
		"a split index":         "git update-index --split-index; echo x >> a.txt; git add a.txt",
		"a commit of no branch": "git checkout -q --detach",
		"packed objects":        "git gc -q",
		"sha256":                "rm -rf .git; git init -q --object-format=sha256 . && git add . && git commit -qm x",
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.txt": "a\n", "b/c.txt": "c\n", "b/d.txt": strings.Repeat("long line\n", 20), ".gitignore": "ignored\n"})
			bash(t, dir, "git init -q -b main . && git add . && git commit -qm x; "+prepare)
			for _, work := range []string{dir, filepath.Join(dir, "b")} {
				record := filepath.Join(t.TempDir(), "record")
				if err := TakeBaseline(t.Context(), record, work, Find(work, none), none); err != nil {
					t.Fatal(err)
				}
				if rows := compared(t, record, work); len(rows) > 0 {
					t.Errorf("nothing has changed in %s, but %q", work, rows)
				}
				write(t, filepath.Join(work, "made.txt"), "made\n")
				if rows := compared(t, record, work); !slices.Equal(rows, []string{"added made.txt"}) {
					t.Errorf("%s: %q", work, rows)
				}
				bash(t, work, "rm made.txt")
			}
			record := filepath.Join(t.TempDir(), "record")
			if err := TakeBaseline(t.Context(), record, dir, Find(dir, none), none); err != nil {
				t.Fatal(err)
			}
			bash(t, dir, "mv b/d.txt b/e.txt; echo x > ignored; git add -A && git commit -qm later")
			if rows := compared(t, record, dir); !slices.Equal(rows, []string{"renamed b/e.txtb/d.txt"}) {
				t.Errorf("renamed: %q", rows)
			}
		})
	}
}

// TestLargeFolders: what would take too much room is not recorded, and the record says so.
func TestLargeFolders(t *testing.T) {
	dir := folder(t, map[string]string{"small.txt": "x\n", "nested/x": "x\n", "secret": "x\n"})
	write(t, filepath.Join(dir, "large"), strings.Repeat("x", maxFile+1))
	bash(t, dir, "git init -q nested && mkfifo pipe")
	record := filepath.Join(t.TempDir(), "record")
	if err := TakeBaseline(t.Context(), record, dir, nil, func(path string) bool { return path == "secret" }); err != nil {
		t.Fatal(err)
	}
	b, err := LoadBaseline(record)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(b.Skipped)
	if want := []string{"large", "nested/", "secret"}; !slices.Equal(b.Skipped, want) {
		t.Errorf("skipped are %q, want %q", b.Skipped, want)
	}
	write(t, filepath.Join(dir, "large"), "now small\n")
	if rows := compared(t, record, dir); len(rows) > 0 {
		t.Errorf("%q", rows)
	}
	many := folder(t, nil)
	for i := range maxFiles + 1 {
		write(t, filepath.Join(many, fmt.Sprint(i)), "")
	}
	record = filepath.Join(t.TempDir(), "record")
	_ = TakeBaseline(t.Context(), record, many, nil, none) // the record says why
	if b, err := LoadBaseline(record); err != nil || b.Reason == "" {
		t.Errorf("%+v, %v", b, err)
	}
	before, err := os.ReadFile(filepath.Join(record, baselineName))
	if err != nil {
		t.Fatal(err)
	}
	if err := TakeBaseline(t.Context(), record, many, nil, none); err != nil {
		t.Errorf("again: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(record, baselineName)); err != nil || string(after) != string(before) {
		t.Errorf("a record was replaced: %s %v", after, err)
	}
}

// FuzzParseList: whatever git prints, reading it does not fail.
func FuzzParseList(f *testing.F) {
	f.Add(":100644 100644 abc def M\x00a.txt\x001\t2\ta.txt\x00")
	f.Add(":100644 100644 abc def R100\x00a\x00b\x00-\t-\t\x00a\x00b\x00")
	f.Add(":\x00:\x00\t\t\x00")
	f.Fuzz(func(t *testing.T, out string) {
		for _, file := range parseList(strings.Split(out, "\x00")) {
			if file.Status == "" || file.Status == api.FileUnknown {
				t.Errorf("%+v", file)
			}
		}
	})
}
