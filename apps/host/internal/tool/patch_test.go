package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

func outcome(t *testing.T, result agent.Result) (out patchDetails) {
	t.Helper()
	if err := json.Unmarshal(result.Details, &out); err != nil {
		t.Fatalf("%s: %v", result.Content.Plain(), err)
	}
	return out
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func replace(path, old, new string) map[string]any {
	return map[string]any{"path": path, "old_string": old, "new_string": new}
}

func TestPatchReplaces(t *testing.T) {
	dir := project(t, map[string]string{"run.sh": "\ufeff#!/bin/sh\r\necho  one\r\n"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("run.sh", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	set := open(t, Options{}, Scope{})
	result := set.call(t, dir, "patch", replace("link", "echo one", "echo two\necho three"))
	out := outcome(t, result)
	if !out.OK || *out.Strategy != "whitespace_normalized" || out.Count != 1 || out.Error != nil {
		t.Fatalf("%+v", out)
	}
	if got := content(t, dir, "run.sh"); got != "\ufeff#!/bin/sh\r\necho two\r\necho three\r\n" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(out.Diff, "-echo  one\r\n+echo two\r\n") || !strings.Contains(result.Content.Plain(), out.Diff[:20]) {
		t.Errorf("diff %q", out.Diff)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("the mode changed: %v %v", info.Mode(), err)
	}
	again := outcome(t, set.call(t, dir, "patch", replace("run.sh", "echo  one", "echo two\necho three")))
	if !again.OK || !again.NoChange || again.Count != 0 || again.Strategy != nil || again.Diff != "" {
		t.Errorf("%+v", again)
	}
}

// TestPatchKeepsIndentation: files read by make must keep their tabs, however the change is
// sent.
func TestPatchKeepsIndentation(t *testing.T) {
	const before, after = "all:\n\techo hi\n\techo there\n", "all:\n\techo hi\n\techo you\n"
	for name, args := range map[string]map[string]any{
		"replace": replace("Makefile", "all:\n    echo hi\n    echo there", "all:\n    echo hi\n    echo you"),
		"patch": {"patch": "*** Begin Patch\n*** Update File: Makefile\n@@\n all:\n     echo hi\n-    echo there\n" +
			"+    echo you\n*** End Patch"},
	} {
		dir := project(t, map[string]string{"Makefile": before})
		result := open(t, Options{}, Scope{}).call(t, dir, "patch", args)
		out := outcome(t, result)
		if got := content(t, dir, "Makefile"); got != after || *out.Strategy != "line_trimmed" || !out.Reindented {
			t.Errorf("%s: %q, %+v", name, got, out)
		}
		if !strings.Contains(result.Content.Plain(), "indentation you sent was converted to that of the file. Check the diff:\n--- a/Makefile") {
			t.Errorf("%s: %s", name, result.Content.Plain())
		}
		if strings.Contains(out.Diff, "-\techo hi") {
			t.Errorf("%s: an unchanged line is in the diff: %s", name, out.Diff)
		}
	}
	dir := project(t, map[string]string{"a": "foo(a,\n    b)\n"})
	result := open(t, Options{}, Scope{}).call(t, dir, "patch", replace("a", "foo(a, b)", "foo(b)"))
	if out := outcome(t, result); content(t, dir, "a") != "foo(b)\n" || *out.Strategy != "whitespace_normalized" || out.Reindented {
		t.Errorf("%q, %+v", content(t, dir, "a"), out)
	}
}

func TestPatchObjectIsExact(t *testing.T) {
	dir := project(t, map[string]string{"a": "x\n"})
	set := open(t, Options{}, Scope{})
	for _, old := range []string{"x", "nothing of it"} {
		var object map[string]any
		if err := json.Unmarshal(Object("patch", set.call(t, dir, "patch", replace("a", old, "y"))), &object); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"ok", "strategy", "count", "diff", "error"} {
			if _, there := object[key]; !there || len(object) != 5 {
				t.Errorf("%v", object)
			}
		}
	}
}

func TestPatchSeveralFiles(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\n", "b.sh": "two\n", "c": "three\n"})
	if err := os.Chmod(filepath.Join(dir, "b.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	set := open(t, Options{}, Scope{})
	bad := "*** Update File: a\n@@\n-one\n+1\n*** Delete File: nowhere\n"
	if out := outcome(t, set.call(t, dir, "patch", map[string]any{"patch": bad})); out.OK || out.ErrorKind != "missing_file" || content(t, dir, "a") != "one\n" {
		t.Errorf("%+v", out)
	}
	good := "*** Update File: a\n@@\n-one\n+1\n*** Move File: b.sh -> new/b.sh\n*** Delete File: c\n*** Add File: d\n+four\n"
	out := outcome(t, set.call(t, dir, "patch", map[string]any{"patch": good}))
	if !out.OK || out.Count != 4 || content(t, dir, "a") != "1\n" || content(t, dir, "d") != "four\n" || content(t, dir, "new/b.sh") != "two\n" {
		t.Errorf("%+v", out)
	}
	for _, gone := range []string{"b.sh", "c"} {
		if _, err := os.Lstat(filepath.Join(dir, gone)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "new/b.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("the mode did not move along: %v %v", info.Mode(), err)
	}
}

// TestPatchIsUndone: if a file cannot be written, the files written before are restored.
func TestPatchIsUndone(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\n", "file": "x\n"})
	text := "*** Update File: a\n@@\n-one\n+1\n*** Add File: new\n+n\n*** Add File: file/below\n+no\n"
	out := outcome(t, open(t, Options{}, Scope{}).call(t, dir, "patch", map[string]any{"patch": text}))
	if out.OK || content(t, dir, "a") != "one\n" {
		t.Errorf("%+v", out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

func TestPatchKnowsStaleFiles(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\n  two\n"})
	set := open(t, Options{}, Scope{})
	set.call(t, dir, "read_file", map[string]any{"path": "a"})
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("zero\none\n  two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, set.call(t, dir, "patch", replace("a", "\ttwo", "\t2"))); out.OK || out.ErrorKind != kindStale {
		t.Errorf("similar text in a changed file: %+v", out)
	}
	result := set.call(t, dir, "patch", replace("a", "one", "1"))
	if out := outcome(t, result); !out.OK || !strings.Contains(result.Content.Plain(), "changed on disk since you read it") {
		t.Errorf("exact text in a changed file: %s", result.Content.Plain())
	}
	if out := outcome(t, set.call(t, dir, "patch", replace("a", "\ttwo", "\t2"))); !out.OK {
		t.Errorf("an edit of one's own is known: %+v", out)
	}
}

func TestWriteFileKnowsStaleFiles(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\n", "empty": ""})
	set := open(t, Options{}, Scope{})
	write := func(path string) string {
		return set.call(t, dir, "write_file", map[string]any{"path": path, "content": "new\n"}).Content.Plain()
	}
	if text := write("a"); !strings.Contains(text, "you have not read it") || content(t, dir, "a") != "one\n" {
		t.Errorf("%q", text)
	}
	set.call(t, dir, "read_file", map[string]any{"path": "a", "limit": 1})
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text := write("a"); !strings.Contains(text, "changed on disk") || content(t, dir, "a") != "other\n" {
		t.Errorf("%q", text)
	}
	set.call(t, dir, "read_file", map[string]any{"path": "a"})
	for range 2 { // a session knows the files that it wrote itself
		if text := write("a"); !strings.HasPrefix(text, "Overwrote a") {
			t.Errorf("%q", text)
		}
	}
	if text := write("empty"); !strings.HasPrefix(text, "Overwrote empty") {
		t.Errorf("%q", text)
	}
}

func TestPatchCountsFailures(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\n"})
	set := open(t, Options{}, Scope{})
	for i := range 4 {
		text := set.call(t, dir, "patch", replace("a", "not there at all", "x")).Content.Plain()
		if hinted := strings.Contains(text, fmt.Sprintf("This is failure %d in a row", i+1)); hinted != (i >= 2) {
			t.Errorf("failure %d: %q", i+1, text)
		}
	}
	set.call(t, dir, "patch", replace("a", "one", "two"))
	if text := set.call(t, dir, "patch", replace("a", "not there at all", "x")).Content.Plain(); strings.Contains(text, "in a row") {
		t.Errorf("a success did not end the row: %q", text)
	}
}

// TestPatchDoesWhatWasShown: exactly the approved change is made, or none.
func TestPatchDoesWhatWasShown(t *testing.T) {
	dir := project(t, map[string]string{"a": "one\ntwo\n"})
	set := open(t, Options{}, Scope{})
	raw, err := json.Marshal(replace("a", "two", "2"))
	if err != nil {
		t.Fatal(err)
	}
	call := agent.Call{ID: "c1", Name: "patch", Arguments: raw, Cwd: dir}
	tool := set.find(t, "patch")
	shown := tool.Describe(call)
	if shown.Title != "Change a" || !strings.Contains(shown.Detail, "-two\n+2\n") {
		t.Errorf("%+v", shown)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("secret\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := outcome(t, tool.Run(t.Context(), call, func(string) {})); out.OK || out.ErrorKind != kindStale {
		t.Errorf("%+v", out)
	}
	tool.Describe(call)
	if out := outcome(t, tool.Run(t.Context(), call, func(string) {})); !out.OK || content(t, dir, "a") != "secret\n2\n" {
		t.Errorf("%+v", out)
	}
}

func TestPatchRefuses(t *testing.T) {
	dir := project(t, map[string]string{
		"home/key": "secret\n", "latin": "caf\xe9\n", "sub/": "", "a": "alpha = 1\nbeta = 2\n", "big": strings.Repeat("x", maxPatchFile+1),
	})
	set := open(t, Options{Private: []string{filepath.Join(dir, "home")}}, Scope{})
	tests := []struct {
		path, old, new, want string
	}{
		{"home/key", "secret", "x", "bad_path: home/key belongs to scorel itself"},
		{"latin", "caf", "x", "is not UTF-8 text"},
		{"sub", "x", "y", "is a folder"},
		{"big", "x", "y", "is larger than"},
		{"a", "1|alpha = 1\n2|beta = 2", "1|alpha = 3\n2|beta = 4", "line_numbers: every line of new_string"},
		{"a", " ", "x", "empty_old: "},
	}
	for _, test := range tests {
		out := outcome(t, set.call(t, dir, "patch", replace(test.path, test.old, test.new)))
		if out.OK || !strings.Contains(*out.Error, test.want) {
			t.Errorf("%s: %+v", test.path, out)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"*** Delete File: link\n", "*** Move File: link -> b\n"} {
		out := outcome(t, set.call(t, dir, "patch", map[string]any{"patch": text}))
		if out.OK || !strings.Contains(*out.Error, "is a symbolic link") || content(t, dir, "a") == "" {
			t.Errorf("%+v", out)
		}
	}
	out := outcome(t, set.call(t, dir, "patch", map[string]any{"patch": "*** Add File: home/new\n+x\n"}))
	if out.OK || out.ErrorKind != kindBadPath && !strings.Contains(*out.Error, "closed to tools") {
		t.Errorf("%+v", out)
	}
}

// BenchmarkPatch changes a file of 10,000 lines, including read, diff and sync.
func BenchmarkPatch(b *testing.B) {
	dir := b.TempDir()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "\tcall%d(argument%d, %d)\n", i, i*31%977, i)
	}
	path := filepath.Join(dir, "big.go")
	lines := strings.SplitAfter(text.String(), "\n")
	block := strings.ReplaceAll(strings.Join(lines[5000:5040], ""), "\t", "  ")
	set := NewCatalog(Options{}).Open(Scope{})
	defer set.Close()
	for name, args := range map[string]map[string]any{
		"hit":  replace("big.go", block, strings.Replace(block, "5020", "fivethousand", 1)),
		"miss": replace("big.go", strings.NewReplacer("call", "send", "argument", "parameter").Replace(block), "x"),
	} {
		raw, err := json.Marshal(args)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
					b.Fatal(err)
				}
				set.seen.forget(path)
				b.StartTimer()
				result := patchTool{set}.Run(b.Context(), agent.Call{Arguments: raw, Cwd: dir}, func(string) {})
				if result.IsError != (name == "miss") {
					b.Fatal(result.Content.Plain())
				}
			}
		})
	}
}
