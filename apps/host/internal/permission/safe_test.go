package permission

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/scorel/scorel/packages/protocol/api"
)

func testTools() Tools {
	return Tools{
		"bash": subjectCommand, "write_file": subjectPath, "patch": subjectPath, "read_file": subjectPath, "fetch_url": subjectURL,
		"memory_save": "",
	}
}

func testPolicy(t *testing.T, mode api.Mode, allow ...string) Policy {
	t.Helper()
	rules, err := ParseRules(allow, testTools())
	if err != nil {
		t.Fatal(err)
	}
	return Policy{
		Mode: mode, Rules: Rules{Allow: rules}, Dir: "/work/site", Home: "/home/ann",
		Private: []string{"/home/ann/.scorel"}, Open: []string{"/home/ann/.scorel/scratch/s1"},
		Readable: []string{"/home/ann/.scorel/skills", "/home/ann/.scorel/memory", "/home/ann/.scorel/AGENTS.md"},
	}
}

func judge(p Policy, command string) Verdict {
	return p.Judge(Request{Tool: "bash", Writes: true, Command: command})
}

// TestSafeCommandCases checks the table of safe commands against recorded cases.
func TestSafeCommandCases(t *testing.T) {
	data, err := os.ReadFile("testdata/safe_command_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Argv []struct {
			Argv []string `json:"argv"`
			Safe bool     `json:"safe"`
		} `json:"argv_cases"`
		Scripts []struct {
			Command  string `json:"command"`
			ReadOnly bool   `json:"read_only"`
		} `json:"script_cases"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases.Argv) < 80 || len(cases.Scripts) < 40 {
		t.Fatalf("only %d and %d cases", len(cases.Argv), len(cases.Scripts))
	}
	p := testPolicy(t, api.ModeAsk)
	p.PrivateHidden = true // recorded with a sandbox that hides the keys
	for _, c := range cases.Scripts {
		if got := judge(p, c.Command).Action == Allow; got != c.ReadOnly {
			t.Errorf("%q: passes %v, want %v", c.Command, got, c.ReadOnly)
		}
	}
	for _, c := range cases.Argv {
		if got := judge(p, commandLine(t, c.Argv)).Action == Allow; got != c.Safe {
			t.Errorf("%q: passes %v, want %v", c.Argv, got, c.Safe)
		}
	}
}

// commandLine returns what the shell runs: bash -lc SCRIPT is only how the script is
// started.
func commandLine(t *testing.T, argv []string) string {
	t.Helper()
	if len(argv) == 3 && argv[1] == "-lc" {
		return argv[2]
	}
	words := make([]string, 0, len(argv))
	for _, a := range argv {
		quoted, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " ")
}
