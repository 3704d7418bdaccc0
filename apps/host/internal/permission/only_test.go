package permission

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestOnly: an agent limited to certain calls of a tool makes no others, in any mode and
// with any allow rule.
func TestOnly(t *testing.T) {
	only, err := ParseRules([]string{"bash(git log *)", "bash(git diff *)", "write_file(docs/**)", "read_file(src/**)", "fetch_url(domain:example.com)"}, testTools())
	if err != nil {
		t.Fatal(err)
	}
	bash := func(command string) Request { return Request{Tool: "bash", Writes: true, Command: command} }
	for _, c := range []struct {
		request Request
		covered bool
	}{
		{bash("git log -3"), true},
		{bash("git log"), true},
		{bash("git log && git diff HEAD~1 2>&1"), true},
		{bash("git log > /dev/null"), true},
		{bash("git log > src/a.go"), false},
		{bash("git log < src/a.go"), false},
		{bash("git log | head"), false},
		{bash("git push"), false},
		{bash("git log; rm x"), false},
		{bash("git log $(rm x)"), false},
		{bash("git log $x"), true},
		{bash("PAGER=x git log"), false},
		{bash("env git log"), false},
		{bash("bash -c 'git log'"), false},
		{bash("git() { rm x; }; git log"), false},
		{bash("git log 'unclosed"), false},
		{bash("  "), false},
		{bash("> a"), false},
		{Request{Tool: "write_file", Writes: true, Paths: []string{"docs/a.md"}}, true},
		{Request{Tool: "write_file", Writes: true, Paths: []string{"docs/a.md", "b.md"}}, false},
		{Request{Tool: "write_file", Writes: true, Paths: []string{"docs/../b.md"}}, false},
		{Request{Tool: "write_file", Writes: true}, false},
		{Request{Tool: "read_file", Paths: []string{"src/a.go"}}, true},
		{Request{Tool: "read_file", Paths: []string{"/etc/passwd"}}, false},
		{Request{Tool: "fetch_url", Writes: true, URL: "https://example.com/x"}, true},
		{Request{Tool: "fetch_url", Writes: true, URL: "https://example.org/x"}, false},
		{Request{Tool: "fetch_url", Writes: true, URL: ":"}, false},
		{Request{Tool: "mcp__mail__send", Writes: true}, true}, // no rule is about it
	} {
		for _, mode := range api.Modes() {
			p := testPolicy(t, mode, "bash", "write_file", "fetch_url")
			free := p.Judge(c.request)
			p.Only = only
			v := p.Judge(c.request)
			switch {
			case c.covered && (v.Action != free.Action || v.Reason != free.Reason):
				t.Errorf("%s %+v: %+v, and without limits %+v", mode, c.request, v, free)
			case !c.covered && (v.Action != Deny || v.Propose != nil):
				t.Errorf("%s %+v: %+v", mode, c.request, v)
			case !c.covered && free.Action != Deny && !strings.Contains(v.Reason, "for these calls only: "):
				t.Errorf("%s %+v: the reason is %q", mode, c.request, v.Reason)
			}
		}
	}
}

// TestOnlyOfEveryCall: a rule without a pattern limits nothing.
func TestOnlyOfEveryCall(t *testing.T) {
	p := testPolicy(t, api.ModeBypass)
	var err error
	if p.Only, err = ParseRules([]string{"bash(git log *)", "bash"}, testTools()); err != nil {
		t.Fatal(err)
	}
	if v := p.Judge(Request{Tool: "bash", Writes: true, Command: "make"}); v.Action != Allow {
		t.Errorf("%+v", v)
	}
}
