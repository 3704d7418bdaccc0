package subagent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestARuleThatComesLateHoldsForAChild: a new deny rule applies from the next call on, also
// in a running child, and also for a tool that only reads.
func TestARuleThatComesLateHoldsForAChild(t *testing.T) {
	first, then := make(chan struct{}), make(chan struct{})
	child := modeltest.New(modeltest.Calls(
		modeltest.Call("r1", "read_file", `{"path":"secret.txt"}`), modeltest.Call("r2", "grep", `{"pattern":"the-secret"}`), modeltest.Call("w1", "write_file", `{"path":"made","content":"x"}`),
	), modeltest.Say("the report"))
	w := newWorld(t, casting{"go": goes(), "one": &meeting{Model: child, here: first, there: then}})
	if err := os.WriteFile(filepath.Join(w.project.Path, "secret.txt"), []byte("the-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go", AllowAll: true})
	<-first // its turn has begun
	w.denyNow(t, permission.Tools{"read_file": "path", "grep": "path", "write_file": "path"}, "read_file(secret.txt)", "grep", "write_file")
	close(then)
	watch.waitEnd(1)
	_, kid := open(t, m, lastSubagents(t, watch).Members[0].SessionID)
	for _, id := range []string{"r1", "r2", "w1"} {
		if result := oneResult(t, kid, id); !*result.IsError || strings.Contains(result.Content.Plain(), "the-secret") {
			t.Errorf("%s was let do it: %s", id, result.Content.Plain())
		}
	}
	if w.made(t) {
		t.Error("it wrote a file")
	}
}

// TestATaskCallsNoSkill: a model cannot invoke a skill reserved for people by giving its
// child a task in that form.
func TestATaskCallsNoSkill(t *testing.T) {
	child := modeltest.New(modeltest.Say("the report"))
	parent := modeltest.New(modeltest.Calls(delegate("c1", "/deploy now")), modeltest.Say("done"))
	w := newWorld(t, casting{"go": parent, "/deploy now": child})
	path := filepath.Join(t.TempDir(), "deploy", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("---\nname: deploy\ndescription: Deploys.\n---\nPush it to production.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.skills = []session.SkillInfo{{Name: "deploy", Path: path, Scope: session.ScopeUser, Manual: true}}
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	for _, message := range child.Requests()[0].Messages {
		if text := message.Content.Plain(); strings.Contains(text, "production") || strings.Contains(text, "The user called") {
			t.Errorf("the child received %s", text)
		}
	}
}
