package permission

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// FuzzJudge checks that nothing panics and that no command passes if a part of it was not
// parsed, whatever is allowed.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"ls", "git status; rm -rf ~", "a=$(b) c", "f() { f|f& }; f", "echo ${x:-$(y)}", "bash -c 'x' <<E\n$(y)\nE", "[[ a ]] && ((b))", "for i in *; do eval $i; done", "ls # a \\\nrm b", "echo \"$\\\n(b)\"", "ls 'a # b' \\\n  c", "cat $'\\x{2f}' ~+$A {,$B}{c,d}", "{,}", "sh -c -- 'a' -o 'b'", "command -p declare 'a[$(b)]'"} {
		f.Add(seed, "bash(git *)")
	}
	rules, err := ParseRules([]string{"bash"}, testTools())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command, rule string) {
		p := Policy{Dir: "/work/site", Home: "/home/ann", Private: []string{"/home/ann/.scorel"}, Rules: Rules{Allow: rules}}
		if r, err := ParseRule(rule, testTools()); err == nil {
			p.Rules.Allow = append(p.Rules.Allow, r)
			if again, err := ParseRule(r.String(), testTools()); err != nil || again.String() != r.String() {
				t.Fatalf("the rule %q does not read as %q: %v", rule, r, err)
			}
		}
		s := p.readScript(command)
		for _, p.Mode = range api.Modes() {
			v := judge(p, command)
			if v.Action == Allow && (s.err != nil || len(s.opaque) > 0 && p.Mode != api.ModeBypass) {
				t.Fatalf("%s: %q passes: %v %q", p.Mode, command, s.err, s.opaque)
			}
			for _, proposal := range v.Propose {
				if _, err := ParseRule(proposal, testTools()); err != nil {
					t.Fatalf("%q proposes %q: %v", command, proposal, err)
				}
			}
		}
	})
}
