package permission

import (
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestRiskOfCommandsThatPrint: a command that only prints is not said to change something.
func TestRiskOfCommandsThatPrint(t *testing.T) {
	for _, c := range []struct {
		name, command string
		level         api.RiskLevel
		reasons       string
	}{
		{"a known word", "echo hi", api.RiskLow, ""},
		{"a variable", "echo $X", api.RiskLow, ""},
		{"options and quotes", `echo -n "$HOME" '$Y'`, api.RiskLow, ""},
		{"a pattern", "echo *", api.RiskLow, ""},
		{"after a test", "true && echo $X || false", api.RiskLow, ""},
		{"in a condition", "if true; then echo $X; fi", api.RiskLow, ""},
		{"printf", `printf '%s\n' $X`, api.RiskLow, ""},
		{"pwd, whoami, id", "pwd; whoami; id", api.RiskLow, ""},
		{"date", "date -u -d yesterday +%F", api.RiskLow, ""},
		{"date of a standard", "date --iso-8601=seconds", api.RiskLow, ""},
		{"hostname", "hostname", api.RiskLow, ""},
		{"a pipe", "echo $X | wc -l", api.RiskLow, ""},

		{"redirected", "echo $X > a.txt", api.RiskMedium, "it writes a.txt"},
		{"appended outside", "echo $X >> ../a.txt", api.RiskHigh, "it writes outside the project: /work/a.txt"},
		{"to a program", "echo $X | sh", api.RiskHigh, "sh runs what another command writes"},
		{"a command inside", "echo $(touch x)", api.RiskMedium, "touch may change something"},
		{"an expression inside", "echo $((1+2))", api.RiskHigh, "an expression that can run commands"},
		{"a program of that name", "./echo hi", api.RiskMedium, "echo may change something"},
		{"a function of that name", "echo() { touch x; }; echo", api.RiskHigh, "a function is declared, which can replace a command; touch may change something"},
		{"a name from a variable", "$E hi", api.RiskHigh, "the name of a command is known only when it runs; part of it is known only when it runs"},
		{"printf into a variable", "printf -v x hi", api.RiskHigh, "printf can change what later words mean; printf may change something"},
		{"printf with an unknown format", "printf $X", api.RiskMedium, "printf may change something"},
		{"printf without arguments", "printf", api.RiskMedium, "printf may change something"},
		{"date sets the clock", "date -s now", api.RiskMedium, "date may change something"},
		{"date sets the clock in other words", "date --set=now", api.RiskMedium, "date may change something"},
		{"date sets the clock by a number", "date 01020304", api.RiskMedium, "date may change something"},
		{"date with something unknown", "date $X", api.RiskMedium, "date may change something"},
		{"date without its value", "date -d", api.RiskMedium, "date may change something"},
		{"hostname is set", "hostname evil", api.RiskMedium, "hostname may change something"},
		{"a variable for it", "LD_PRELOAD=./x.so whoami", api.RiskHigh, "variables are set for whoami"},
	} {
		t.Run(c.name, func(t *testing.T) {
			risk := judge(testPolicy(t, api.ModeAsk), c.command).Risk
			if got := strings.Join(risk.Reasons, "; "); risk.Level != c.level || got != c.reasons {
				t.Errorf("%q: %s risk, %q; want %s, %q", c.command, risk.Level, got, c.level, c.reasons)
			}
		})
	}
}

// TestWriteHasOneReason: the reason to ask for a write is its risk, in the same words.
func TestWriteHasOneReason(t *testing.T) {
	p := testPolicy(t, api.ModeAsk)
	for path, level := range map[string]api.RiskLevel{
		"a.txt": api.RiskMedium, "../a.txt": api.RiskHigh, ".git/config": api.RiskHigh,
	} {
		v := p.Judge(Request{Tool: "write_file", Writes: true, Paths: []string{path}})
		if v.Action != Ask || v.Risk.Level != level || !slices.Equal(v.Risk.Reasons, []string{v.Reason}) {
			t.Errorf("%s: %+v", path, v)
		}
	}
}

// TestRiskSaysEverythingOnce: a general reason gives way to one that says more, and commands
// with the same risk share a line.
func TestRiskSaysEverythingOnce(t *testing.T) {
	for command, want := range map[string]string{
		"touch a && touch b && make":        "touch and make may change something",
		"touch a; make; mv a b":             "touch, make and mv may change something",
		"a; b; c; d; e; f; g":               "a, b, c, d, e and other commands may change something",
		"git push --force":                  "git push discards work or history",
		"git commit -m x && git push -f":    "git changes the repository; git push discards work or history",
		"find . -delete":                    "find deletes or writes files that the command line does not name",
		"X=1 make":                          "variables are set for make",
		"X=1":                               "a variable is set",
		"npm install && npm run build":      "npm installs or publishes software; npm may change something",
		"rm -rf build && rm -rf dist":       "rm deletes files",
		"kill 5; kill 6; chmod +x a; ./a b": "kill acts on other processes; chmod changes permissions; a may change something",
	} {
		risk := judge(testPolicy(t, api.ModeAsk), command).Risk
		if got := strings.Join(risk.Reasons, "; "); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
