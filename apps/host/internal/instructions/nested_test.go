package instructions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/instructions"
)

func TestNested(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"AGENTS.md": "of the root", "a/AGENTS.md": "of a", "a/b/CLAUDE.md": "of b", "a/b/AGENTS.md": "of b, nearer", "a/b/c/code.go": "x",
		"a/b/c/AGENTS.override.md": strings.Repeat("long\n", 4000), "a/b/c/AGENTS.md": "of c", "elsewhere/AGENTS.md": "no", "a/empty/AGENTS.md": "",
		"a/empty/x": "",
	} {
		path := filepath.Join(root, "work", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cwd := filepath.Join(root, "work")
	secret := filepath.Join(root, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(cwd, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(cwd, "out", "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file  string
		known []string
		want  []string
	}{
		{"AGENTS.md", nil, nil},
		{"a/x", nil, []string{"a/AGENTS.md"}},
		{"a/b/c/code.go", nil, []string{"a/AGENTS.md", "a/b/AGENTS.md", "a/b/c/AGENTS.override.md"}},
		{"a/b/c/code.go", []string{"a/AGENTS.md", "a/b/c/AGENTS.override.md"}, []string{"a/b/AGENTS.md"}},
		{"a/empty/x", nil, []string{"a/AGENTS.md"}},
		{"out/x", nil, nil},
		{"../work2/x", nil, nil},
	}
	for _, test := range tests {
		has := func(path string) bool {
			return slices.ContainsFunc(test.known, func(name string) bool { return filepath.Join(cwd, name) == path })
		}
		var got []string
		for _, file := range instructions.Nested(cwd, filepath.Join(cwd, test.file), has) {
			relative, err := filepath.Rel(cwd, file.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, relative)
			if long := strings.HasSuffix(file.Path, "override.md"); file.Truncated != long || len(file.Content) > instructions.MaxNestedBytes {
				t.Errorf("%s: %d bytes, truncated %v", relative, len(file.Content), file.Truncated)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %v known: %v, want %v", test.file, test.known, got, test.want)
		}
	}
}
