package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/instructions/treetest"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/session"
)

func text(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\nThe body of %s.\n", name, description, name)
}

func find(root, cwd string, trusted bool) session.Skills {
	return skill.Find(definition.Places{
		Cwd: filepath.Join(root, cwd), Trusted: trusted, TrustAdvice: "do so",
		UserHome: filepath.Join(root, "user"), ScorelHome: filepath.Join(root, "scorel"),
	})
}

// brief returns NAME=PATH for each skill.
func brief(root string, found session.Skills) []string {
	var out []string
	for _, s := range found.Skills {
		out = append(out, s.Name+"="+strings.TrimPrefix(filepath.Dir(s.Path), root+"/"))
	}
	return out
}

func TestFindByPrecedence(t *testing.T) {
	root := treetest.New(t, map[string]string{
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
	root := treetest.New(t, map[string]string{
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
	root := treetest.New(t, map[string]string{
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
