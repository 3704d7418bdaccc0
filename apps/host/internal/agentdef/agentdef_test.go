package agentdef_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/instructions/treetest"
)

func text(name, more string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " does\n" + more + "---\nYou are " + name + ".\n"
}

func places(root string) agentdef.Places {
	known := []string{"bash", "bash_job", "glob", "grep", "patch", "read_file", "write_file"}
	return agentdef.Places{
		Places: definition.Places{
			Cwd: filepath.Join(root, "repo", "sub"), Trusted: true, UserHome: filepath.Join(root, "user"), ScorelHome: filepath.Join(root, "scorel"),
		},
		KnownModel: func(name string) bool { return name == "small" },
		KnownTool:  func(name string) bool { return slices.Contains(known, name) },
	}
}

func TestFirstOfANameCounts(t *testing.T) {
	root := treetest.New(t, map[string]string{
		"repo/.git/HEAD":                 "",
		"repo/sub/.claude/agents/a.md":   text("a", ""),
		"repo/sub/.scorel/agents/a.md":   text("a", "model: small\n"),
		"repo/.scorel/agents/a.md":       text("a", ""),
		"repo/.agents/agents/b.md":       text("b", ""),
		"user/.claude/agents/b.md":       text("b", ""),
		"scorel/agents/c.md":             text("c", ""),
		"scorel/agents/explore.md":       text("explore", ""),
		"scorel/agents/README.txt":       "no agent",
		"scorel/agents/deep/d.md":        text("d", ""),
		"user/.scorel/agents/broken.md":  "no front matter",
		"repo/sub/.agents/agents/bad.md": "---\nname: bad\n---\nno description\n",
	})
	found := agentdef.Find(places(root))
	var got []string
	for _, a := range found.Agents {
		got = append(got, a.Name+" "+string(a.Scope))
	}
	want := []string{"a project", "b project", "c user", "explore user", "general built in"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if a, _ := found.Get("a"); a.Model != "small" || a.Body != "You are a." || !strings.HasSuffix(a.Path, "sub/.scorel/agents/a.md") {
		t.Errorf("a is %+v", a)
	}
	notes := strings.Join(found.Notes, "\n")
	for _, part := range []string{"sub/.claude/agents/a.md is left out", "repo/.scorel/agents/a.md is left out", "user/.claude/agents/b.md is left out", "broken.md is left out", "bad.md is left out"} {
		if !strings.Contains(notes, part) {
			t.Errorf("no note says that %s:\n%s", part, notes)
		}
	}
}

func TestAProjectCountsOnceItIsTrusted(t *testing.T) {
	root := treetest.New(t, map[string]string{"repo/sub/.claude/agents/a.md": text("a", "")})
	p := places(root)
	p.Trusted, p.TrustAdvice = false, "trust it so"
	found := agentdef.Find(p)
	if _, ok := found.Get("a"); ok || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "trust it so") {
		t.Errorf("found %+v", found)
	}
}

func TestALinkOutOfTheProjectIsLeftOut(t *testing.T) {
	root := treetest.New(t, map[string]string{"elsewhere/a.md": text("a", ""), "repo/sub/.claude/agents/b.md": text("b", "")})
	if err := os.Symlink(filepath.Join(root, "elsewhere", "a.md"), filepath.Join(root, "repo/sub/.claude/agents/a.md")); err != nil {
		t.Fatal(err)
	}
	found := agentdef.Find(places(root))
	if _, ok := found.Get("a"); ok || !strings.Contains(strings.Join(found.Notes, "\n"), "points outside") {
		t.Errorf("found %+v", found)
	}
}

func TestToolsAndModel(t *testing.T) {
	for name, c := range map[string]struct {
		more           string
		tools, without []string
		note           string
	}{
		"none named":          {"", nil, nil, ""},
		"ours":                {"tools: [grep, glob]\n", []string{"glob", "grep"}, nil, ""},
		"of another program":  {"tools: Read, Edit, Bash\n", []string{"bash", "bash_job", "patch", "read_file"}, nil, ""},
		"all":                 {"tools: '*'\n", nil, nil, ""},
		"of a server":         {"tools: mcp__docs, mcp__web__get\n", []string{"mcp__docs__*", "mcp__web__get"}, nil, ""},
		"of no tool here":     {"tools: Read, WebSearch\n", []string{"read_file"}, nil, `"WebSearch" is left out of the tools`},
		"not allowed":         {"disallowedTools: Write\n", nil, []string{"write_file"}, ""},
		"a model of others":   {"model: sonnet\n", nil, nil, `no model "sonnet"`},
		"the model of parent": {"model: inherit\n", nil, nil, ""},
	} {
		root := treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", c.more)})
		found := agentdef.Find(places(root))
		a, ok := found.Get("a")
		if !ok || !slices.Equal(a.Tools, c.tools) || !slices.Equal(a.Without, c.without) || a.Model != "" {
			t.Errorf("%s: %+v", name, a)
		}
		if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
	root := treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", "tools: Teleport\n")})
	if found := agentdef.Find(places(root)); len(found.Agents) != len(agentdef.Builtin()) {
		t.Errorf("an agent without any tool is offered: %+v", found.Agents)
	}
}

func TestBoth(t *testing.T) {
	for _, c := range []struct{ a, b, want []string }{
		{nil, nil, nil}, {[]string{"x"}, nil, []string{"x"}}, {nil, []string{"x"}, []string{"x"}},
		{[]string{"x", "y"}, []string{"y", "z"}, []string{"y"}}, {[]string{"x"}, []string{"y"}, []string{}},
		{[]string{}, nil, []string{}}, {nil, []string{}, []string{}}, {[]string{}, []string{"x"}, []string{}},
		{[]string{"m__*"}, []string{"m__a", "n"}, []string{"m__a"}}, {[]string{"m__a*"}, []string{"m__*"}, []string{"m__a*"}},
	} {
		if got := agentdef.Both(c.a, c.b); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("both of %q and %q are %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
