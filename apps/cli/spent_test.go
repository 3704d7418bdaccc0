package cli

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestSpent(t *testing.T) {
	for _, test := range []struct {
		s                  api.SessionSummary
		tokens, cost, line string
	}{
		{api.SessionSummary{}, "-", "-", ""},
		{api.SessionSummary{Usage: api.TokenUsage{Input: 900, Output: 50}}, "950", "-", "\n(tokens: 900 in, 50 out)\n"},
		{
			api.SessionSummary{
				Usage:     api.TokenUsage{Input: 1000, Output: 250, CacheRead: 50_000, CacheWrite: 700, Cost: 0.0312},
				Auxiliary: api.TokenUsage{Input: 2_000_000, Output: 1, Cost: 2},
			}, "2.1M", "$2.03",
			"\n(tokens: 1000 in, 250 out, 50000 read from and 700 written to a cache, $0.0312; titles and summaries: tokens: 2000000 in, 1 out, $2.00; total: $2.03)\n",
		},
		{
			api.SessionSummary{Inherited: api.TokenUsage{Input: 5, Output: 1, Cost: 1}}, "-", "-",
			"\n(inherited from the original (not counted): tokens: 5 in, 1 out, $1.00)\n",
		},
		{
			api.SessionSummary{
				Usage: api.TokenUsage{Input: 1, Output: 1, Cost: 0.5}, Delegated: api.TokenUsage{Input: 7, Output: 1, Cost: 1}, Uncounted: 2,
			}, "10", "$1.50",
			"\n(tokens: 1 in, 1 out, $0.5000; subagents: tokens: 7 in, 1 out, $1.00; total: $1.50; interrupted calls (usage unknown): 2)\n",
		},
		{api.SessionSummary{Uncounted: 1}, "-", "-", "\n(interrupted calls (usage unknown): 1)\n"},
	} {
		if tokensOf(test.s) != test.tokens || costOf(test.s) != test.cost || spentLine(test.s) != test.line {
			t.Errorf("%q %q %q", tokensOf(test.s), costOf(test.s), spentLine(test.s))
		}
	}
}

func TestNotesAreShown(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"custom_message","customType":"scorel.note","content":"job1\nended","display":true,"details":{"kind":"jobs"},"id":"a"}`:              "\n(note to the agent, jobs: job1 ended)\n",
		`{"type":"custom_message","customType":"scorel.note","content":"x","display":true,"details":{"kind":"instructions","paths":["/a"]},"id":"a"}`: "\n(note to the agent, instructions: /a)\n",
		`{"type":"custom_message","customType":"other","content":"x","display":true,"id":"a"}`:                                                        "",
	} {
		entry, err := session.ParseEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if writeNote(&b, entry); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}
