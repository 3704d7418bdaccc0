package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGitignoreCases: the expected results in the table are git's own.
func TestGitignoreCases(t *testing.T) {
	data, err := os.ReadFile("testdata/gitignore_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Cases []struct {
			Name, Root, Gitignore, Path string
			IsDir                       bool  `json:"is_dir"`
			Git                         *bool `json:"git_check_ignore"`
		}
	}
	if err := json.Unmarshal(data, &table); err != nil || len(table.Cases) < 50 {
		t.Fatalf("%d cases, %v", len(table.Cases), err)
	}
	for _, c := range table.Cases {
		if c.Git == nil { // git has no answer for it
			continue
		}
		rules := parseIgnore("", c.Gitignore)
		rel := strings.TrimPrefix(path.Clean(c.Path), "./")
		// A path is hidden if it, or a folder above it, is.
		got := rules.ignored(rel, c.IsDir)
		for dir := path.Dir(rel); dir != "." && dir != "/"; dir = path.Dir(dir) {
			got = got || rules.ignored(dir, true)
		}
		if got != *c.Git {
			t.Errorf("%s: %q hides %q (folder %v): %v, git says %v", c.Name, c.Gitignore, c.Path, c.IsDir, got, *c.Git)
		}
	}
}

// TestBracesDoNotHoldASearchUp: the alternatives of brace lists are tried one by one,
// without checking for cancellation. In a .gitignore braces are literal, also after a
// backslash.
func TestBracesDoNotHoldASearchUp(t *testing.T) {
	lists := strings.Repeat(`\{,\}`, 24) // a backslash, or two if these were brace lists
	name := strings.Repeat(`\`, 47)
	dir := project(t, map[string]string{name: "", ".gitignore": lists + "b\n\\{x\\}\n", "{x}": "", strings.Repeat("a", 60): ""})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if text, isError := runWith(t, t.Context(), Options{}, dir, "glob", map[string]any{"pattern": "*"}); isError || strings.Contains(text, "{x}") {
			t.Errorf("%q", text)
		}
		if text, isError := runWith(t, t.Context(), Options{}, dir, "glob", map[string]any{"pattern": strings.Repeat("{a,aa}", 30) + "b"}); !isError || !strings.Contains(text, "too many lists") {
			t.Errorf("%q", text)
		}
		if text, isError := runWith(t, t.Context(), Options{}, dir, "glob", map[string]any{"pattern": "*.{ts,tsx,js,jsx}"}); isError {
			t.Errorf("%q", text)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a search does not end")
	}
}

func FuzzParseIgnore(f *testing.F) {
	f.Add("*.log\n!/keep/**\n[a-\n\\ \n", "a/b.log")
	f.Fuzz(func(_ *testing.T, text, rel string) {
		parseIgnore("x", text).ignored("x/"+rel, true) // must not panic
	})
}

func tree(t *testing.T) string {
	return project(t, map[string]string{
		".git/config": "needle", ".gitignore": "*.log\n/build/\n", "main.go": "package main\n// needle\n", "a.log": "needle",
		"build/out.go": "needle", "src/deep/x.go": "one\ntwo needle\nthree\nfour\nfive Needle\n", "src/build/y.go": "", "src/.gitignore": "!keep.log\nz*\n",
		"src/keep.log": "needle", "src/zzz": "needle", "bin": "needle\x00", ".hidden/h.go": "",
	})
}

func TestGlob(t *testing.T) {
	dir := tree(t)
	tests := []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"pattern": "*.go"}, ".hidden/h.go main.go src/build/y.go src/deep/x.go"},
		{map[string]any{"pattern": "src/**/*.go"}, "src/build/y.go src/deep/x.go"},
		{map[string]any{"pattern": "./*/"}, ".hidden/ src/"},
		{map[string]any{"pattern": "*.log"}, "src/keep.log"},
		{map[string]any{"pattern": "{x,y}.go", "path": "src"}, "src/build/y.go src/deep/x.go"},
		{map[string]any{"pattern": "de*"}, "src/deep/"},
		{map[string]any{"pattern": "*.go", "path": "build"}, "build/out.go"}, // named explicitly
		{map[string]any{"pattern": "z*", "path": "src"}, "No file or folder matches. Files that .gitignore excludes are not searched."},
	}
	for _, test := range tests {
		text, isError := run(t, dir, "glob", test.args)
		got := strings.TrimSpace(text)
		if !strings.Contains(got, " ") {
			got = strings.Join(strings.Fields(got), " ")
		}
		if isError || filepath.ToSlash(got) != test.want {
			t.Errorf("%v: %q, want %q", test.args, got, test.want)
		}
	}
}

func TestGrep(t *testing.T) {
	dir := tree(t)
	tests := []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"pattern": "needle"}, "main.go:2:// needle\nsrc/deep/x.go:2:two needle\nsrc/keep.log:1:needle\n"},
		{map[string]any{"pattern": "needle", "glob": "*.go", "ignore_case": true}, "main.go:2:// needle\nsrc/deep/x.go:2:two needle\nsrc/deep/x.go:5:five Needle\n"},
		{map[string]any{"pattern": "^needle$", "path": "a.log"}, "a.log:1:needle\n"}, // named explicitly
		{map[string]any{"pattern": "(?i)needle", "path": "src/deep", "context": 1},
			"src/deep/x.go-1-one\nsrc/deep/x.go:2:two needle\nsrc/deep/x.go-3-three\n--\nsrc/deep/x.go-4-four\nsrc/deep/x.go:5:five Needle\n"},
		{map[string]any{"pattern": "nothing of this"}, "Nothing matches. Files that .gitignore excludes are not searched."},
	}
	for _, test := range tests {
		if text, isError := run(t, dir, "grep", test.args); isError || filepath.ToSlash(text) != test.want {
			t.Errorf("%v:\n%s\nwant\n%s", test.args, text, test.want)
		}
	}
}

func TestSearchesAreBounded(t *testing.T) {
	files := map[string]string{"many": strings.Repeat("hit\n", maxMatches+5)}
	for i := range maxFound + 5 {
		files[fmt.Sprintf("d/f%d.x", i)] = ""
	}
	dir := project(t, files)
	text, _ := run(t, dir, "grep", map[string]any{"pattern": "hit"})
	if n := strings.Count(text, ":hit\n"); n != maxMatches || !strings.HasSuffix(text, "[There are more; narrow the pattern or the path.]") {
		t.Errorf("grep: %d matches, %q", n, text[len(text)-80:])
	}
	text, _ = run(t, dir, "glob", map[string]any{"pattern": "*.x"})
	if n := strings.Count(text, ".x\n"); n != maxFound || !strings.HasSuffix(text, "[There are more; narrow the pattern or the path.]") {
		t.Errorf("glob: %d paths, %q", n, text[len(text)-80:])
	}
}

func TestSearchDoesNotFollowLinks(t *testing.T) {
	dir := project(t, map[string]string{"a/x.go": "needle"})
	if err := os.Symlink("..", filepath.Join(dir, "a", "up")); err != nil {
		t.Fatal(err)
	}
	if text, _ := run(t, dir, "grep", map[string]any{"pattern": "needle"}); filepath.ToSlash(text) != "a/x.go:1:needle\n" {
		t.Errorf("%q", text)
	}
}

func TestSearchStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, args := range map[string]map[string]any{"glob": {"pattern": "*"}, "grep": {"pattern": "x"}, "list_dir": {}} {
		text, isError := runWith(t, ctx, Options{}, tree(t), name, args)
		if !isError || !strings.HasPrefix(text, "Cancelled by the user") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
