package instructions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/apps/host/internal/instructions/treetest"
)

func TestLoad(t *testing.T) {
	cases := []struct {
		name  string
		files map[string]string
		cwd   string
		want  []string // FILE=CONTENT, relative to the root
	}{
		{"nothing", map[string]string{"work/.git/HEAD": "x"}, "work", nil},
		{"root to working folder", map[string]string{
			"AGENTS.md": "outside", "work/.git/HEAD": "x", "work/AGENTS.md": "root\n", "work/a/b/AGENTS.md": "deep",
		}, "work/a/b", []string{"work/AGENTS.md=root", "work/a/b/AGENTS.md=deep"}},
		{"one per folder, in order", map[string]string{
			"work/.git": "gitdir: elsewhere", "work/CLAUDE.md": "c", "work/AGENTS.md": "a", "work/AGENTS.override.md": "o",
			"work/x/CLAUDE.md": "xc", "work/x/AGENTS.md": "xa",
		}, "work/x", []string{"work/AGENTS.override.md=o", "work/x/AGENTS.md=xa"}},
		{"an empty one does not hide the next", map[string]string{
			"work/.git/HEAD": "x", "work/AGENTS.md": " \n", "work/CLAUDE.md": "c",
		}, "work", []string{"work/CLAUDE.md=c"}},
		{"without a repository only the folder itself", map[string]string{
			"AGENTS.md": "outside", "work/AGENTS.md": "mine",
		}, "work", []string{"work/AGENTS.md=mine"}},
		{"the user's come first", map[string]string{
			"home/AGENTS.md": "user", "work/.git/HEAD": "x", "work/AGENTS.md": "\uFEFFproject",
		}, "work", []string{"home/AGENTS.md=user", "work/AGENTS.md=project"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := treetest.New(t, c.files)
			var got []string
			for _, f := range instructions.Load(filepath.Join(root, c.cwd), filepath.Join(root, "home", "AGENTS.md"), "").Files {
				got = append(got, strings.TrimPrefix(f.Path, root+"/")+"="+f.Content)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheNearestStayWhole(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 1500) // 24000 bytes
	root := treetest.New(t, map[string]string{"work/.git/HEAD": "x", "work/AGENTS.md": long, "work/in/AGENTS.md": long})
	got := instructions.Load(filepath.Join(root, "work", "in"), "", "")
	if len(got.Files) != 2 || len(got.Notes) != 1 {
		t.Fatalf("%d files, notes %q", len(got.Files), got.Notes)
	}
	outer, inner := got.Files[0], got.Files[1]
	if inner.Truncated || inner.Content != strings.TrimSpace(long) {
		t.Error("the file of the working folder was cut")
	}
	if !outer.Truncated || len(outer.Content)+len(inner.Content) > instructions.MaxBytes || !strings.HasSuffix(outer.Content, "abcde") {
		t.Errorf("the outer file has %d bytes and ends in %q", len(outer.Content), outer.Content[len(outer.Content)-8:])
	}
}

// TestALinkDoesNotLeadOut: a repository must not cause other files of the user to be sent
// to a provider.
func TestALinkDoesNotLeadOut(t *testing.T) {
	root := treetest.New(t, map[string]string{"secret": "key", "work/.git/HEAD": "x", "work/AGENTS.md": "real", "work/in/x": ""})
	for from, to := range map[string]string{"work/in/AGENTS.md": "secret", "work/in/CLAUDE.md": "work/AGENTS.md"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	got := instructions.Load(filepath.Join(root, "work", "in"), "", "")
	if len(got.Files) != 2 || got.Files[1].Content != "real" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "points outside") {
		t.Errorf("got %+v", got)
	}
}

// TestLoadUpToHome: outside a repository, the folders up to the user's home count, and
// none above it.
func TestLoadUpToHome(t *testing.T) {
	root := t.TempDir()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	home := filepath.Join(root, "home")
	for name, text := range map[string]string{"AGENTS.md": "above", "home/AGENTS.md": "home", "home/work/CLAUDE.md": "work", "home/work/in/AGENTS.md": "in", "else/AGENTS.md": "else"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for cwd, want := range map[string]string{"home/work/in": "home work in", "home": "home", "else": "else"} {
		var got []string
		for _, f := range instructions.Load(filepath.Join(root, cwd), "", home).Files {
			got = append(got, f.Content)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("in %s: %v, want %s", cwd, got, want)
		}
	}
}
