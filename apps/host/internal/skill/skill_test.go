package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/session"
)

func text(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\nThe body of %s.\n", name, description, name)
}

// tree makes files below a new folder and returns it without symbolic links.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func find(root, cwd string, trusted bool) session.Skills {
	return skill.Find(skill.Places{
		Cwd: filepath.Join(root, cwd), Trusted: trusted, TrustAdvice: "do so",
		UserHome: filepath.Join(root, "user"), ScorelHome: filepath.Join(root, "scorel"),
	})
}

// brief is NAME=PATH of each skill.
func brief(root string, found session.Skills) []string {
	var out []string
	for _, s := range found.Skills {
		out = append(out, s.Name+"="+strings.TrimPrefix(filepath.Dir(s.Path), root+"/"))
	}
	return out
}

func TestFindByPrecedence(t *testing.T) {
	root := tree(t, map[string]string{
		"outside/.scorel/skills/no/SKILL.md":          text("no", "outside of the repository"),
		"outside/repo/.git/HEAD":                      "x",
		"outside/repo/.claude/skills/a/SKILL.md":      text("a", "root, claude"),
		"outside/repo/.agents/skills/a/SKILL.md":      text("a", "root, agents"),
		"outside/repo/.agents/skills/b/SKILL.md":      text("b", "root, agents"),
		"outside/repo/in/.claude/skills/a/SKILL.md":   text("a", "inner, claude"),
		"scorel/skills/b/SKILL.md":                    text("b", "user, scorel"),
		"scorel/skills/group/c/SKILL.md":              text("c", "user, scorel"),
		"user/.claude/skills/c/SKILL.md":              text("c", "user, claude"),
		"user/.agents/skills/d/SKILL.md":              text("d", "user, agents"),
		"user/.agents/skills/node_modules/e/SKILL.md": text("e", "not ours"),
		"user/.agents/skills/d/inner/SKILL.md":        text("inner", "part of d"),
	})
	found := find(root, "outside/repo/in", true)
	want := []string{"a=outside/repo/in/.claude/skills/a", "b=outside/repo/.agents/skills/b", "c=scorel/skills/group/c", "d=user/.agents/skills/d"}
	if got := brief(root, found); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if found.Skills[0].Scope != session.ScopeProject || found.Skills[3].Scope != session.ScopeUser {
		t.Errorf("the scopes are wrong: %+v", found.Skills)
	}
	if len(found.Notes) != 4 { // a twice, b once, c once are hidden
		t.Errorf("notes: %q", found.Notes)
	}
}

func TestSkillsOfAnUntrustedFolderDoNotCount(t *testing.T) {
	root := tree(t, map[string]string{
		"repo/.git/HEAD": "x", "repo/.agents/skills/a/SKILL.md": text("a", "theirs"), "scorel/skills/b/SKILL.md": text("b", "mine"),
	})
	found := find(root, "repo", false)
	if got := brief(root, found); !slices.Equal(got, []string{"b=scorel/skills/b"}) {
		t.Errorf("got %q", got)
	}
	if len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "not trusted: do so") {
		t.Errorf("notes: %q", found.Notes)
	}
}

func TestLinksOfAProjectStayInIt(t *testing.T) {
	root := tree(t, map[string]string{
		"repo/.git/HEAD": "x", "repo/shared/good/SKILL.md": text("good", "inside"), "elsewhere/bad/SKILL.md": text("bad", "outside"),
		"repo/.agents/skills/file/x": "", "repo/.agents/skills/loop/x": "",
	})
	for from, to := range map[string]string{
		"repo/.agents/skills/good": "repo/shared/good", "repo/.agents/skills/bad": "elsewhere/bad",
		"repo/.agents/skills/file/SKILL.md": "elsewhere/bad/SKILL.md", "repo/.agents/skills/loop/up": "repo/.agents/skills",
	} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	if got := brief(root, find(root, "repo", true)); !slices.Equal(got, []string{"good=repo/.agents/skills/good"}) {
		t.Errorf("got %q", got)
	}
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, text    string
		want          skill.Document // Body and Warnings are compared apart
		warning, fail string
	}{
		{name: "plain", text: "---\nname: pdf\ndescription: Reads PDFs.\nlicense: MIT\nmetadata:\n  a: b\n---\nBody\n", want: skill.Document{Name: "pdf", Description: "Reads PDFs."}},
		{name: "windows", text: "\uFEFF---\r\nname: pdf\r\ndescription: Reads.\r\n---\r\nBody\r\n", want: skill.Document{Name: "pdf", Description: "Reads."}},
		{name: "manual", text: "---\nname: pdf\ndescription: d\ndisable-model-invocation: true\n---\nBody", want: skill.Document{Name: "pdf", Description: "d", Manual: true}},
		{name: "colon in a value", text: "---\nname: pdf\ndescription: Use when: it's a PDF\n---\nBody", want: skill.Document{Name: "pdf", Description: "Use when: it's a PDF"}, warning: "no YAML"},
		{name: "block text", text: "---\nname: pdf\ndescription: >\n  one\n  two\n---\nBody", want: skill.Document{Name: "pdf", Description: "one two"}},
		{name: "no name", text: "---\ndescription: d\n---\nBody", want: skill.Document{Name: "pdf", Description: "d"}, warning: "has no name"},
		{name: "bad name", text: "---\nname: My PDF__Tool\ndescription: d\n---\nBody", want: skill.Document{Name: "my-pdf-tool", Description: "d"}, warning: "used as my-pdf-tool"},
		{name: "other name", text: "---\nname: other\ndescription: d\n---\nBody", want: skill.Document{Name: "other", Description: "d"}, warning: "not that of its folder"},
		{name: "number as name", text: "---\nname: 7\ndescription: d\n---\nBody", want: skill.Document{Name: "7", Description: "d"}, warning: "not that of its folder"},
		{name: "long description", text: "---\nname: pdf\ndescription: " + strings.Repeat("ä", 2000) + "\n---\nBody", want: skill.Document{Name: "pdf", Description: strings.Repeat("ä", 1024)}, warning: "cut to 1024"},
		{name: "no description", text: "---\nname: pdf\n---\nBody", fail: "no description"},
		{name: "empty front matter", text: "---\n---\nBody", fail: "no description"},
		{name: "no front matter", text: "# Title\n", fail: "does not begin with"},
		{name: "no end", text: "---\nname: pdf\n", fail: "no line --- at its end"},
		{name: "broken", text: "---\nname: [a\n  b: {\n---\nBody", fail: "is no YAML"},
		{name: "nothing to name", text: "---\nname: ???\ndescription: d\n---\nBody", fail: "no letters or digits"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := skill.Parse([]byte(c.text), "pdf")
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error %v, want one with %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if warnings := strings.Join(got.Warnings, "\n"); (warnings == "") != (c.warning == "") || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
			if got.Name != c.want.Name || got.Description != c.want.Description || got.Manual != c.want.Manual || got.Body != "Body" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: pdf\ndescription: Use when: x\n---\nBody")
	f.Add("---\n---\n---\n")
	f.Add("---\na: &a [*a]\ndescription: '\n---")
	f.Add("---\ndescription: |\n  x\nname: ä\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := skill.Parse([]byte(text), "folder")
		if err != nil {
			return
		}
		if d.Name == "" || len(d.Name) > 64 || strings.ContainsAny(d.Name, "/\\ \n<>\"") {
			t.Errorf("the name is %q", d.Name)
		}
		if d.Description == "" || strings.ContainsAny(d.Description, "\n\x1b") {
			t.Errorf("the description is %q", d.Description)
		}
	})
}
