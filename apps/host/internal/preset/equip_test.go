package preset_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/instructions/treetest"
	"github.com/scorel/scorel/apps/host/internal/preset"
)

// checked are places with a check of rules in place of the host's.
func checked(root string) preset.Places {
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
		"of no tool":             {"tools: Read, Teleport(home)\n", []string{"read_file"}, nil, nil, nil, `no tool "Teleport"`},
		"forbidden":              {"disallowedTools: Bash(rm:*), Read(.env)\n", nil, nil, nil, []string{"bash(rm *)", "read_file(.env)"}, ""},
		"forbidden, cannot read": {"disallowedTools: Bash(bad)\n", nil, nil, []string{"bash", "bash_job"}, nil, "forbids the whole tool"},
		"forbidden, not closed":  {"disallowedTools: Bash(rm *\n", nil, nil, []string{"bash", "bash_job"}, nil, "not closed"},
	} {
		root := treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", c.more)})
		found := preset.Find(checked(root))
		a, ok := found.Get("a")
		if !ok || !slices.Equal(a.Tools, c.tools) || !slices.Equal(a.Only, c.only) || !slices.Equal(a.Without, c.without) || !slices.Equal(a.Deny, c.deny) {
			t.Errorf("%s: %+v", name, a)
		}
		if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
}

// TestAgentsWhoseToolsCannotBeRead: what names tools in a way that cannot be read gives none.
func TestAgentsWhoseToolsCannotBeRead(t *testing.T) {
	for more, note := range map[string]string{
		"tools: Bash(bad)\n":           "none of the tools",
		"tools: []\n":                  "none of the tools",
		"tools: {bash: git}\n":         "neither a text nor a list",
		"tools: 5\n":                   "neither a text nor a list",
		"disallowedTools: {bash: 1}\n": "neither a text nor a list",
	} {
		found := preset.Find(checked(treetest.New(t, map[string]string{"scorel/agents/a.md": text("a", more)})))
		if a, ok := found.Get("a"); ok || !strings.Contains(strings.Join(found.Notes, "\n"), note) {
			t.Errorf("%q: %+v, notes %q", more, a, found.Notes)
		}
	}
}

func TestUses(t *testing.T) {
	a := preset.Agent{Tools: []string{"bash", "bash_job", "read_file"}, Only: []string{"bash(git log *)", "bash(ls)"}}
	if got := strings.Join(a.Uses(), " | "); got != "bash(git log *) | bash(ls) | bash_job | read_file" {
		t.Error(got)
	}
}

// FuzzTools: a list of tools never gives a tool without a pattern that it names with one only.
func FuzzTools(f *testing.F) {
	for _, seed := range []string{"Read, Bash(git *)", "Bash(", "Bash(a)(b)", "Bash)(", "Bash(git:*) Read(x", "((", "Bash (ls)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, names string) {
		a, ok := preset.ReadTools(names, func(rule string) error {
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
