package backend_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ruled are permissions with rules about the files of a project.
type ruled struct{ permission.Rules }

var ruledTools = permission.Tools{"bash": "command", "patch": "path", "write_file": "path", "read_file": "path"}

func (ruled) Tools() permission.Tools      { return ruledTools }
func (ruled) Allow(string, []string) error { return nil }
func (r ruled) Policy(p api.Project, _ string) permission.Policy {
	return permission.Policy{Dir: p.Path, Rules: r.Rules, Home: "/home/u", Private: []string{"/home/u/.scorel"}}
}

func rulesOf(t *testing.T, texts ...string) []permission.Rule {
	t.Helper()
	rules, err := permission.ParseRules(texts, ruledTools)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestRulesAboutEditsOfAnotherAgent: rules about files that scorel's own tools change are about the
// same changes by another program, whichever of the tools they name.
func TestRulesAboutEditsOfAnotherAgent(t *testing.T) {
	w := newWorld(t)
	w.rules = ruled{permission.Rules{
		Deny:  rulesOf(t, "patch(migrations/**)", "write_file(vendor/**)", "read_file(secret/**)"),
		Ask:   rulesOf(t, "patch(api/**)", "write_file(web/**)"),
		Allow: rulesOf(t, "patch(docs/**)", "write_file(docs/**)", "patch(half/**)"),
	}}
	w.restart()
	s := w.session("fake")
	const once, no, asked = "chose selected opt-once", "chose selected opt-no", ""
	for _, c := range []struct{ call, path, ask, edits, bypass string }{
		{"edit", "migrations/1.sql", no, no, no},
		{"edit", "vendor/x.go", no, no, no},
		{"edit", "api/x.go", asked, asked, once},
		{"edit", "web/x.ts", asked, asked, once},
		{"edit", "docs/x.md", once, once, once},
		{"edit", "half/x.md", asked, once, once},
		{"edit", "src/x.go", asked, once, once},
		{"edit", ".git/hooks/pre-commit", no, no, no},
		{"edit", "/home/u/.scorel/config.toml", no, no, no},
		{"delete", "migrations/1.sql", no, no, no},
		{"move", "vendor/x.go", no, no, no},
		{"delete", "src/x.go", asked, asked, once},
		{"move", "src/x.go", asked, asked, once},
		{"read", "secret/key", no, no, no},
		{"read", "src/x.go", asked, once, once},
	} {
		for mode, want := range map[api.Mode]string{api.ModeAsk: c.ask, api.ModeAcceptEdits: c.edits, api.ModeBypass: c.bypass} {
			if err := s.SetMode(t.Context(), "host", mode); err != nil {
				t.Fatal(err)
			}
			if got := s.answered(c.call, c.path); got != want {
				t.Errorf("%s %s in %s: %q, want %q", c.call, c.path, mode, got, want)
			}
		}
	}
}

// answered has the agent ask for a call that is about a file. It returns what the host answered, or ""
// if it asked people, who deny.
func (o *opened) answered(kind, path string) (answer string) {
	o.w.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = o.w.project.Path + "/" + path
	}
	begin := "edit c " + path
	if kind != "edit" {
		begin = "file c " + kind + " " + path
	}
	o.mu.Lock()
	before := len(o.ended)
	o.mu.Unlock()
	said := len(o.said())
	o.send(begin + "\nask c\ndone c ok")
	o.until("asked or ended", func() bool { return len(o.live.Approvals) == 1 || len(o.ended) > before })
	if len(o.live.Approvals) == 1 {
		waits := o.live.Approvals[0]
		if _, err := o.AnswerApproval(o.w.t.Context(), "cli_x", api.AnswerApprovalRequest{SessionID: o.id, ApprovalID: waits.ID, Decision: api.DecisionDeny, Shown: waits.Shown}); err != nil {
			o.w.t.Fatal(err)
		}
		o.until("ended", func() bool { return len(o.ended) > before })
		return ""
	}
	return strings.TrimSpace(o.said()[said:])
}
