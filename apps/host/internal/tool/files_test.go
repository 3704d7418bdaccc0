package tool

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

func TestReadFile(t *testing.T) {
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	dir := project(t, map[string]string{
		"a.txt": "one\ntwo\r\nthree", "empty": "", "long": long.String(), "wide": strings.Repeat("é", 5000) + "\nnext\n",
		"heavy": strings.Repeat(strings.Repeat("x", 1000)+"\n", 100), "zero": "a\x00b", "latin": "caf\xe9 au lait", "main.go": "x", "sub/": "",
		"edge": strings.Repeat("x", sniffBytes-1) + "é and on\n",
	})
	tests := []struct {
		name    string
		args    map[string]any
		want    string // substring of the result
		isError bool
	}{
		{"numbered", map[string]any{"path": "a.txt"}, "1|one\n2|two\n3|three\n", false},
		{"absolute", map[string]any{"path": filepath.Join(dir, "a.txt")}, "1|one\n", false},
		{"from the middle", map[string]any{"path": "a.txt", "offset": 2, "limit": 1}, "2|two\n[The file continues. Read more with offset=3.]", false},
		{"the last line", map[string]any{"path": "a.txt", "offset": 3, "limit": 1}, "3|three\n", false},
		{"past the end", map[string]any{"path": "a.txt", "offset": 9}, "the file has 3 lines; line 9 is past its end", false},
		{"empty", map[string]any{"path": "empty"}, "(the file is empty)", false},
		{"2000 lines", map[string]any{"path": "long"}, "2000|line 2000\n[The file continues. Read more with offset=2001.]", false},
		{"never more than 2000", map[string]any{"path": "long", "limit": 2999}, "offset=2001.]", false},
		{"the rest", map[string]any{"path": "long", "offset": 2001}, "3000|line 3000\n", false},
		{"50 KB", map[string]any{"path": "heavy"}, "[The file continues. Read more with offset=52.]", false},
		{"a long line is cut", map[string]any{"path": "wide"}, strings.Repeat("é", 2000) + " [line cut]\n2|next\n", false},
		{"a character on the edge", map[string]any{"path": "edge"}, "1|xxx", false},
		{"binary", map[string]any{"path": "zero"}, "zero is not UTF-8 text", true},
		{"other encodings", map[string]any{"path": "latin"}, "latin is not UTF-8 text", true},
		{"folder", map[string]any{"path": "sub"}, "is a folder; use list_dir", true},
		{"device", map[string]any{"path": "/dev/null"}, "is a device, pipe or socket", true},
		{"miss", map[string]any{"path": "mian.go"}, "Similar names: main.go.", true},
		{"miss without a hint", map[string]any{"path": "qqqqqqqq"}, "Use list_dir or glob", true},
		{"the folder is missing too", map[string]any{"path": "x/y/z"}, "does not exist either", true},
		{"home", map[string]any{"path": "~/x"}, "~ is not expanded", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, isError := run(t, dir, "read_file", test.args)
			if isError != test.isError || !strings.Contains(text, test.want) {
				t.Errorf("isError %v, text %.300q, want %.300q", isError, text, test.want)
			}
			if len(text) > MaxBytes+200 || strings.Count(text, "\n") > MaxLines+1 {
				t.Errorf("%d bytes in %d lines", len(text), strings.Count(text, "\n"))
			}
		})
	}
}

func TestReadPipeDoesNotWait(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no named pipes in folders on this system
	}
	dir := t.TempDir()
	makePipe(t, filepath.Join(dir, "pipe"))
	if text, isError := run(t, dir, "read_file", map[string]any{"path": "pipe"}); !isError || !strings.Contains(text, "pipe") {
		t.Errorf("%v %q", isError, text)
	}
	if text, _ := run(t, dir, "grep", map[string]any{"pattern": "x"}); !strings.Contains(text, "Nothing matches") {
		t.Errorf("grep: %q", text)
	}
	if text, isError := run(t, dir, "write_file", map[string]any{"path": "pipe", "content": "x"}); !isError || !strings.Contains(text, "pipe") {
		t.Errorf("write: %q", text)
	}
}

func TestWriteFile(t *testing.T) {
	dir := project(t, map[string]string{"old.sh": "#!/bin/sh\n", "sub/": "", "target": "t"})
	if err := os.Chmod(filepath.Join(dir, "old.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path, content, want string
		isError                   bool
	}{
		{"a new file with folders", "x/y/new.txt", "a\nb\n", "Created x/y/new.txt: 2 lines, 4 bytes.", false},
		{"over an old one", "old.sh", "echo\n", "Overwrote old.sh", false},
		{"through a link", "link", "new", "Overwrote link", false},
		{"empty", "empty", "", "Created empty: 0 lines, 0 bytes.", false},
		{"over a folder", "sub", "x", "is a folder", true},
		{"numbered text", "n", "12|a\n13|b\n", "without them", true},
		{"a table is no numbered text", "table", "1|a\n1|b\n", "Created table", false},
		{"below a file", "target/x", "x", "write_file:", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, isError := runWith(t, t.Context(), Options{ByHand: true}, dir, "write_file", map[string]any{"path": test.path, "content": test.content})
			if isError != test.isError || !strings.Contains(text, test.want) {
				t.Fatalf("%v %q, want %q", isError, text, test.want)
			}
			if got, err := os.ReadFile(filepath.Join(dir, test.path)); !test.isError && (err != nil || string(got) != test.content) {
				t.Errorf("content %q, error %v", got, err)
			}
		})
	}
	if info, err := os.Stat(filepath.Join(dir, "old.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("the mode changed: %v %v", info.Mode(), err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}

func TestWriteFileIsDescribed(t *testing.T) {
	dir := project(t, map[string]string{"a": "x", "p/": ""})
	tests := []struct{ cwd, path, title string }{
		{dir, "a", "Overwrite a (3 bytes)"},
		{dir, "b", "Create b (3 bytes)"},
		{filepath.Join(dir, "p"), "../a", "Overwrite ../a (3 bytes), outside the project folder: "},
	}
	for _, test := range tests {
		raw, _ := json.Marshal(map[string]string{"path": test.path, "content": "new"})
		got := open(t, Options{}, Scope{}).find(t, "write_file").Describe(agent.Call{Arguments: raw, Cwd: test.cwd})
		if !strings.HasPrefix(got.Title, test.title) || got.Detail != "new" {
			t.Errorf("%+v, want %q", got, test.title)
		}
	}
}

func TestListDir(t *testing.T) {
	dir := project(t, map[string]string{"b.txt": "12345", "a/": "", ".hidden": "", "void/": ""})
	if err := os.Symlink("b.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if text, _ := run(t, dir, "list_dir", `{}`); text != ".hidden (0 bytes)\na/\nb.txt (5 bytes)\nlink -> b.txt\nvoid/\n" {
		t.Errorf("%q", text)
	}
	if text, _ := run(t, dir, "list_dir", `{"path":"void"}`); text != "(the folder is empty)" {
		t.Errorf("%q", text)
	}
	if text, isError := run(t, dir, "list_dir", `{"path":"b.txt"}`); !isError || !strings.Contains(text, "use read_file") {
		t.Errorf("%q", text)
	}
	if text, isError := run(t, dir, "list_dir", `{"path":"nowhere"}`); !isError || !strings.Contains(text, "does not exist") {
		t.Errorf("%q", text)
	}
}

func TestListDirIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range MaxLines + 7 {
		files[fmt.Sprintf("f%05d", i)] = ""
	}
	text, _ := run(t, project(t, files), "list_dir", `{}`)
	if !strings.HasSuffix(text, "[7 more entries are not shown; use glob to look for names.]") {
		t.Errorf("%q", text[len(text)-100:])
	}
}

// TestPrivateFolders: the host's keys and logs are closed to every file tool, also through
// links.
func TestPrivateFolders(t *testing.T) {
	dir := project(t, map[string]string{"home/identity.json": "secret-key", "work/a": "secret-key"})
	if err := os.Symlink("../home", filepath.Join(dir, "work", "door")); err != nil {
		t.Fatal(err)
	}
	options := Options{Private: []string{filepath.Join(dir, "home")}}
	for name, args := range map[string]map[string]any{
		"read_file": {"path": "home/identity.json"}, "list_dir": {"path": "home"}, "glob": {"pattern": "*", "path": "home"},
		"grep": {"pattern": "secret", "path": "home"}, "write_file": {"path": "home/new", "content": "x"},
	} {
		for _, prefix := range []string{"", "work/../", "work/door/../"} {
			path := args["path"].(string)
			changed := map[string]any{}
			for key, value := range args {
				changed[key] = value
			}
			changed["path"] = prefix + path
			if prefix == "work/door/../" {
				changed["path"] = "work/door" + strings.TrimPrefix(path, "home")
			}
			text, isError := runWith(t, t.Context(), options, dir, name, changed)
			if !isError || !strings.Contains(text, "closed to tools") {
				t.Errorf("%s %v: %q", name, changed, text)
			}
		}
	}
	// On a file system that ignores case these name the same file.
	for _, path := range []string{"HOME/identity.json", "work/../Home/identity.json"} {
		if text, isError := runWith(t, t.Context(), options, dir, "read_file", map[string]any{"path": path}); !isError || !strings.Contains(text, "closed to tools") {
			t.Errorf("%s: %q", path, text)
		}
	}
	if text, _ := runWith(t, t.Context(), options, dir, "grep", map[string]any{"pattern": "secret"}); text != filepath.Join("work", "a")+":1:secret-key\n" {
		t.Errorf("grep from above: %q", text)
	}
}
