package fuzzy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// testCase is one row of testdata/cases.json.
type testCase struct {
	Name       string
	Content    string
	ContentGen []struct {
		Repeat   int
		Template string
		Text     string
		Times    *int
	} `json:"content_gen"`
	Old, New   string
	ReplaceAll bool `json:"replace_all"`
	Expect     expectation
	Proposed   *expectation
}

type expectation struct {
	OK        bool
	Count     int
	Strategy  *Strategy
	Result    string
	SHA256    string `json:"result_sha256"`
	ErrorKind Kind
	Matches   int
	NoChange  bool `json:"no_change"`
}

func (c testCase) content() string {
	var b strings.Builder
	b.WriteString(c.Content)
	for _, g := range c.ContentGen {
		for i := range g.Repeat {
			b.WriteString(strings.ReplaceAll(g.Template, "{i}", strconv.Itoa(i)) + "\n")
		}
		times := 1
		if g.Times != nil {
			times = *g.Times
		}
		b.WriteString(strings.Repeat(g.Text, times))
	}
	return b.String()
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func loadCases(t testing.TB) []testCase {
	var table, indent struct{ Cases []testCase }
	readJSON(t, "testdata/cases.json", &table)
	readJSON(t, "testdata/indent_cases.json", &indent)
	if len(table.Cases) < 90 || len(indent.Cases) < 12 {
		t.Fatalf("only %d and %d cases", len(table.Cases), len(indent.Cases))
	}
	return append(table.Cases, indent.Cases...)
}

// caseDifferences are rows of the table that contain what we do differently.
var caseDifferences = map[string]expectation{
	// Runs of white space are collapsed, including line breaks.
	"ws_newline_not_collapsed": {OK: true, Count: 1, Strategy: new(WhitespaceNormalized), Result: "bar(a)\n"},
}

// TestCases: the table contains the results of another matcher and, as "proposed", ours
// where its result loses data. No row is left out.
func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			want := c.Expect
			if c.Proposed != nil {
				want = *c.Proposed
			}
			if other, known := caseDifferences[c.Name]; known {
				want = other
			}
			file := Read(c.content())
			plan, err := Find(file.Text(), c.Old, c.New, c.ReplaceAll)
			var failure *Error
			switch {
			case errors.As(err, &failure):
				if want.OK || failure.Kind != want.ErrorKind || failure.Matches != want.Matches {
					t.Fatalf("%s with %d matches: %v", failure.Kind, failure.Matches, err)
				}
				return
			case err != nil || !want.OK:
				t.Fatalf("plan %+v, error %v, want %+v", plan, err, want)
			}
			if want.Strategy != nil && plan.Strategy != *want.Strategy || want.Strategy == nil && plan.Strategy != "" {
				t.Errorf("strategy %q, want %v", plan.Strategy, want.Strategy)
			}
			if len(plan.Edits) != want.Count || plan.NoChange != want.NoChange {
				t.Errorf("%d edits, no change %v", len(plan.Edits), plan.NoChange)
			}
			checkResult(t, file.Apply(plan.Edits), want)
		})
	}
}

func checkResult(t *testing.T, got string, want expectation) {
	t.Helper()
	if want.SHA256 != "" {
		if sum := sha256.Sum256([]byte(got)); hex.EncodeToString(sum[:]) != want.SHA256 {
			t.Errorf("another result: %d bytes", len(got))
		}
		return
	}
	if got != want.Result {
		t.Errorf("result %q, want %q", got, want.Result)
	}
}

// spanDifferences are differences from the table of single levels, with their reasons.
var spanDifferences = map[string]string{
	"context_aware aaaaaaaaab\nzzzzzzzzzz": "half of the lines suffice to find the place; the change of lines that are not alike is refused later",
	"whitespace_normalized foo(a, b)":      "the span begins with the text; the indentation before it is added when it is rewritten",
	"block_anchor s\nabx\ne":               "one threshold of 60 % for any number of candidates: two places are told as ambiguous, not as missing",
}

func TestEachLevelAlone(t *testing.T) {
	var table []struct {
		Strategy, Content, Old string
		Spans                  [][2]int // characters
	}
	readJSON(t, "testdata/strategy_spans.json", &table)
	different := 0
	for _, c := range table {
		level := Strategy(c.Strategy)
		if c.Strategy == "indentation_flexible" {
			level = IndentFlexible
		}
		var got [][2]int
		for _, span := range Spans(level, c.Content, c.Old) {
			got = append(got, [2]int{utf8.RuneCountInString(c.Content[:span.Start]), utf8.RuneCountInString(c.Content[:span.End])})
		}
		if len(got) == len(c.Spans) && equalSpans(got, c.Spans) {
			continue
		}
		if _, known := spanDifferences[c.Strategy+" "+c.Old]; known {
			different++
			continue
		}
		t.Errorf("%s finds %q in %q at %v, want %v", c.Strategy, c.Old, c.Content, got, c.Spans)
	}
	if len(table) < 35 || different != len(spanDifferences) {
		t.Errorf("%d rows, %d known differences", len(table), different)
	}
}

func equalSpans(a, b [][2]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
