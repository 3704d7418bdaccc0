package agentdef_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/instructions/treetest"
)

// checked returns places whose rule check replaces the host's.
func checked(root string) agentdef.Places {
	p := places(root)
	p.CheckRule = func(rule string) error {
		if strings.Contains(rule, "(bad") || strings.HasSuffix(rule, "()") || strings.HasPrefix(rule, "mcp__") {
			return errors.New("it cannot be read")
		}
		return nil
	}
	return p
}

func TestPatternsOfTools(t *testing.T) {
	for name, c := range map[string]struct {
		more                       string
		tools, only, without, deny []string
		note                       string
	}{
		"of a command":           {"tools: Read, Bash(git log *)\n", []string{"bash", "bash_job", "read_file"}, []string{"bash(git log *)"}, nil, nil, ""},
		"as others write it":     {"tools: Bash(git diff:*) Bash(npm run test:unit)\n", []string{"bash", "bash_job"}, []string{"bash(git diff *)", "bash(npm run test:unit)"}, nil, nil, ""},
		"of paths":               {"tools: [\"Edit(src/**, docs/**)\", Edit(*.md)]\n", []string{"patch"}, []string{"patch(*.md)", "patch(src/**, docs/**)"}, nil, nil, ""},
		"of every call":          {"tools: Bash(*), Read( * )\n", []string{"bash", "bash_job", "read_file"}, nil, nil, nil, ""},
		"beside the whole tool":  {"tools: Bash(git *), Bash, Read(docs/**)\n", []string{"bash", "bash_job", "read_file"}, []string{"read_file(docs/**)"}, nil, nil, ""},
		"beside all tools":       {"tools: \"Bash(git *), *\"\n", nil, nil, nil, nil, ""},
		"that cannot be read":    {"tools: Read, Bash(bad)\n", []string{"read_file"}, nil, nil, nil, `"Bash(bad)" is left out of the tools: it cannot be read`},
		"that is empty":          {"tools: Read, Bash()\n", []string{"read_file"}, nil, nil, nil, "cannot be read"},
		"that is not closed":     {"tools: Read, Bash(git log, Grep\n", []string{"read_file"}, nil, nil, nil, "not closed"},
		"of a server":            {"tools: Read, mcp__docs__find(x)\n", []string{"read_file"}, nil, nil, nil, "cannot be read"},
		"of a foreign tool":      {"tools: Read, WebSearch(home)\n", []string{"read_file"}, nil, nil, nil, `a.md:4: "WebSearch(home)" is left out of the tools: scorel has no such tool`},
		"forbidden":              {"disallowedTools: Bash(rm:*), Read(.env)\n", nil, nil, nil, []string{"bash(rm *)", "read_file(.env)"}, ""},
		"forbidden, cannot read": {"disallowedTools: Bash(bad)\n", nil, nil, []string{"bash", "bash_job"}, nil, "forbids the whole tool"},
		"forbidden, not closed":  {"disallowedTools: Bash(rm *\n", nil, nil, []string{"bash", "bash_job"}, nil, "not closed"},
	} {
		root := treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", c.more)})
		found := agentdef.Find(checked(root))
		a, ok := found.Get("a")
		if !ok || !slices.Equal(a.Tools, c.tools) || !slices.Equal(a.Only, c.only) || !slices.Equal(a.Without, c.without) || !slices.Equal(a.Deny, c.deny) {
			t.Errorf("%s: %+v", name, a)
		}
		if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
}

// TestAgentsWhoseToolsCannotBeRead: an invalid tool list permits no tools.
func TestAgentsWhoseToolsCannotBeRead(t *testing.T) {
	for more, note := range map[string]string{
		"tools: Bash(bad)\n":            "none of its tools",
		"tools: Read, Teleport(home)\n": `a.md:4: the agent is left out: tools: there is no tool "Teleport"`,
		"tools:\n- Read\n- Gerp\n":      `a.md:6: the agent is left out: tools: there is no tool "Gerp"`,
		"disallowedTools: [Wriet]\n":    `a.md:4: the agent is left out: disallowedTools: there is no tool "Wriet"`,
		"tools: WebSearch\n":            "none of its tools",
		"tools: {bash: git}\n":          "neither a string nor a list",
		"tools: 5\n":                    "neither a string nor a list",
		"disallowedTools: {bash: 1}\n":  "neither a string nor a list",
	} {
		found := agentdef.Find(checked(treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", more)})))
		if a, ok := found.Get("a"); ok || !strings.Contains(strings.Join(found.Notes, "\n"), note) {
			t.Errorf("%q: %+v, notes %q", more, a, found.Notes)
		}
	}
}

// TestAnEmptyListOfToolsIsNone: an empty list permits no tools, unlike a missing list.
func TestAnEmptyListOfToolsIsNone(t *testing.T) {
	for more, want := range map[string][]string{"": nil, "tools: []\n": {}, "tools:\n": nil, "tools: \"\"\n": {}} {
		found := agentdef.Find(checked(treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", more)})))
		a, ok := found.Get("a")
		if !ok || len(a.Tools) != 0 || (a.Tools == nil) != (want == nil) || len(found.Notes) > 0 {
			t.Errorf("%q: %t, tools %#v, notes %q", more, ok, a.Tools, found.Notes)
		}
	}
	for _, c := range []struct {
		list []string
		want bool
	}{{nil, true}, {[]string{}, false}, {[]string{"grep"}, true}, {[]string{"glob"}, false}} {
		if got := agentdef.Permits(c.list, "grep"); got != c.want {
			t.Errorf("%#v permits grep: %t", c.list, got)
		}
	}
}

func TestUses(t *testing.T) {
	a := agentdef.Agent{Tools: []string{"bash", "bash_job", "read_file"}, Only: []string{"bash(git log *)", "bash(ls)"}}
	if got := strings.Join(a.Uses(), " | "); got != "bash(git log *) | bash(ls) | bash_job | read_file" {
		t.Error(got)
	}
}

// FuzzTools: a tool that a list names only with a pattern is never permitted without one.
func FuzzTools(f *testing.F) {
	for _, seed := range []string{"Read, Bash(git *)", "Bash(", "Bash(a)(b)", "Bash)(", "Bash(git:*) Read(x", "((", "Bash (ls)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, names string) {
		a, ok := agentdef.ReadTools(names, func(rule string) error {
			if !strings.HasSuffix(rule, ")") {
				return errors.New("no rule")
			}
			return nil
		})
		if !ok || !slices.Contains(a.Tools, "bash") {
			return
		}
		bare := slices.ContainsFunc(strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }), func(word string) bool {
			return word == "Bash" || word == "bash" || strings.HasSuffix(word, "*)")
		})
		if !bare && !slices.ContainsFunc(a.Only, func(rule string) bool { return strings.HasPrefix(rule, "bash(") }) {
			t.Errorf("%q gives all of bash: %+v", names, a)
		}
	})
}
