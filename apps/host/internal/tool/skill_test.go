package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// withSkill opens a session that has the skill "greet" and one that only people invoke.
func withSkill(t *testing.T) (set *Set, cwd string) {
	t.Helper()
	cwd = project(t, map[string]string{
		"skills/greet/SKILL.md":         "---\nname: greet\ndescription: Greets.\n---\nSay hello with scripts/hello.sh.",
		"skills/greet/scripts/hello.sh": "echo \"hello $1 from $PWD\"; exit ${2:-0}\n",
		"skills/greet/data.txt":         "not to be run\n",
		"secret.txt":                    "secret\n",
	})
	if err := os.Symlink(filepath.Join(cwd, "secret.txt"), filepath.Join(cwd, "skills", "greet", "link.txt")); err != nil {
		t.Fatal(err)
	}
	set = open(t, Options{}, Scope{})
	path := filepath.Join(cwd, "skills", "greet", "SKILL.md")
	set.UseSkills(session.Skills{Skills: []session.SkillInfo{
		{Name: "greet", Description: "Greets.", Path: path, Scope: session.ScopeUser},
		{Name: "manual", Description: "By hand.", Path: path, Manual: true},
	}})
	return set, cwd
}

func TestNoSkillsNoTools(t *testing.T) {
	set := open(t, Options{}, Scope{})
	set.UseSkills(session.Skills{Skills: []session.SkillInfo{{Name: "manual", Manual: true}}})
	for _, tool := range set.Tools() {
		if name := tool.Spec().Name; strings.Contains(name, "skill") {
			t.Errorf("the session has %s without a skill", name)
		}
	}
	prompt := agent.SystemPrompt(set.Tools(), "/work", agent.ProjectContext{})
	if strings.Contains(strings.ToLower(prompt), "skill") {
		t.Errorf("the prompt speaks of skills:\n%s", prompt)
	}
}

func TestReadSkill(t *testing.T) {
	set, cwd := withSkill(t)
	cases := []struct {
		args   map[string]string
		want   []string
		failed bool
	}{
		{map[string]string{"name": "greet"}, []string{"<skill_content name=\"greet\">\nSay hello", "- scripts/hello.sh", "- data.txt"}, false},
		{map[string]string{"name": "greet", "file": "data.txt"}, []string{"not to be run"}, false},
		{map[string]string{"name": "greet", "file": filepath.Join(cwd, "skills/greet/data.txt")}, []string{"not to be run"}, false},
		{map[string]string{"name": "manual"}, []string{`there is no skill "manual"; the skills are: greet`}, true},
		{map[string]string{"name": "greet", "file": "../../secret.txt"}, []string{"not in the folder of the skill"}, true},
		{map[string]string{"name": "greet", "file": "/etc/passwd"}, []string{"not in the folder of the skill"}, true},
		{map[string]string{"name": "greet", "file": "link.txt"}, []string{"not in the folder of the skill"}, true},
		{map[string]string{"name": "greet", "file": "scripts"}, []string{"is not a file"}, true},
		{map[string]string{"name": "greet", "file": "nowhere"}, []string{"read_skill lists its files"}, true},
	}
	for _, c := range cases {
		result := set.call(t, cwd, "read_skill", c.args)
		for _, want := range c.want {
			if text := result.Content.Plain(); result.IsError != c.failed || !strings.Contains(text, want) {
				t.Errorf("%v: error %v, %q; want %q", c.args, result.IsError, text, want)
			}
		}
	}
	if schema := string(set.find(t, "read_skill").Spec().Parameters); !strings.Contains(schema, `"enum":["greet"]`) {
		t.Errorf("the schema does not name the skills: %s", schema)
	}
}

func TestExecuteSkill(t *testing.T) {
	set, cwd := withSkill(t)
	cases := []struct {
		args   string
		want   string
		failed bool
	}{
		{`{"name":"greet","script":"scripts/hello.sh","arguments":["a b'$(id)"]}`, "hello a b'$(id) from " + resolved(cwd), false},
		{`{"name":"greet","script":"scripts/hello.sh","arguments":["x","3"]}`, "[exit code 3]", true},
		{`{"name":"greet","script":"data.txt"}`, "not executable", true},
		{`{"name":"greet","script":"../../secret.txt"}`, "not in the folder of the skill", true},
		{`{"name":"other","script":"scripts/hello.sh"}`, "there is no skill", true},
		{`{"name":"greet"}`, `the argument "script" is missing`, true},
	}
	for _, c := range cases {
		result := set.callWith(t, context.Background(), resolved(cwd), "execute_skill", c.args)
		if text := result.Content.Plain(); result.IsError != c.failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: error %v, %q; want %q", c.args, result.IsError, text, c.want)
		}
	}
	call := agent.Call{Arguments: []byte(cases[0].args), Cwd: cwd}
	if what := set.find(t, "execute_skill").Describe(call); !strings.Contains(what.Detail, `'a b'\''$(id)'`) || !strings.Contains(what.Detail, `echo "hello $1`) {
		t.Errorf("the approval shows neither command nor script: %+v", what)
	}
}

// TestALongScriptIsApprovedAsAWhole: an approval shows the beginning of a long script, and changes with
// what follows.
func TestALongScriptIsApprovedAsAWhole(t *testing.T) {
	set, cwd := withSkill(t)
	call := agent.Call{Arguments: []byte(`{"name":"greet","script":"scripts/hello.sh"}`), Cwd: cwd}
	path := filepath.Join(cwd, "skills", "greet", "scripts", "hello.sh")
	var shown []string
	for _, end := range []string{"echo one", "echo two"} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Repeat("# long\n", 5000)+end), 0o700); err != nil {
			t.Fatal(err)
		}
		what := set.find(t, "execute_skill").Describe(call)
		if !strings.Contains(what.Detail, "more bytes are not shown; SHA-256 of all: ") || strings.Contains(what.Detail, end) {
			t.Errorf("the approval ends with %q", what.Detail[max(0, len(what.Detail)-200):])
		}
		shown = append(shown, what.Detail)
	}
	if shown[0] == shown[1] {
		t.Error("the approval is the same for another end of the script")
	}
}
