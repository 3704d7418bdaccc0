package editors

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestPlain: what editors would render as something else is code, and all else stays readable.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"Run go test ./...":                "Run go test ./...",
		"Edit src/main_test.go (12 bytes)": "Edit src/main_test.go (12 bytes)",
		"/home/ada/notes.md":               "/home/ada/notes.md",
		"修改 notes.md":                      "修改 notes.md",
		"[safe.txt](https://evil.example)": "`[safe.txt](https://evil.example)`",
		"see [it](https://evil.example)":   "`see [it](https://evil.example)`",
		"# Approved":                       "`# Approved`",
		"1. done":                          "`1. done`",
		"- done":                           "`- done`",
		"> quoted":                         "`> quoted`",
		"a <!-- hidden --> b":              "`a <!-- hidden --> b`",
		"rm &#45;rf":                       "`rm &#45;rf`",
		"__init__.py":                      "`__init__.py`",
		"edit __init__.py":                 "`edit __init__.py`",
		"a *b*":                            "`a *b*`",
		"~~not~~ this":                     "`~~not~~ this`",
		"end `code` and [a](b)":            "``` end `code` and [a](b) ```",
		"```` ends":                        "````` ```` ends `````",
		"two\n\n# lines":                   "two # lines",
		"a\u202eb":                         "`a<U+202E>b`",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTitlesOfCalls(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"path":"a.go"}`:                           "tool a.go",
		`{"path":"[a.go](https://evil.example)"}`:   "tool `[a.go](https://evil.example)`",
		`{"command":"echo hi"}`:                     "`echo hi`",
		"{\"command\":\"echo `id` [a](b)\"}":        "``` echo `id` [a](b) ```",
		`{"query":"# heading\nmore"}`:               "tool `# heading …`",
		`{"url":"https://example.org/?a=1&copy=2"}`: "tool `https://example.org/?a=1&copy=2`",
		`{"url":"https://example.org/"}`:            "tool https://example.org/",
		`{}`:                                        "tool",
	} {
		if got, _ := describeCall("tool", json.RawMessage(arguments)); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

// TestQuestionsAreText: a question of several lines, or with markup, is a block of code that it cannot
// end.
func TestQuestionsAreText(t *testing.T) {
	for question, want := range map[string]string{
		"Delete build/?":                 "Delete build/?",
		"Agree to [this](https://evil)?": "```\nAgree to [this](https://evil)?\n```",
		"First\n```\n# Second":           "````\nFirst\n```\n# Second\n````",
	} {
		if got := asked(api.Question{Question: question}); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
		if got := asked(api.Question{Question: question, Server: "[x](y)"}); !strings.HasPrefix(got, "The MCP server `[x](y)` asks") || !strings.HasSuffix(got, "\n\n"+want) {
			t.Errorf("%q of a server: %q", question, got)
		}
	}
}
