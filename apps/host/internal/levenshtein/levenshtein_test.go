package levenshtein_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/levenshtein"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"default_modle", "default_model", 2}, {"base_url", "baseurl", 1},
		{strings.Repeat("x", 64) + "a", strings.Repeat("x", 64) + "b", 0},
	}
	for _, test := range tests {
		if got := levenshtein.Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"grep", "glob", "read_file"}
	for name, want := range map[string]string{"gerp": "grep", "raed_file": "read_file", "teleport": "", "": "", "grep": "grep"} {
		if got := levenshtein.Nearest(name, known); got != want {
			t.Errorf("the nearest to %q is %q, want %q", name, got, want)
		}
	}
}

// whole is the textbook algorithm, which computes every entry.
func whole(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func TestWithin(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []rune {
		out := make([]rune, random.IntN(200))
		for i := range out {
			out[i] = []rune("abcdé漢\n ")[random.IntN(8)]
		}
		return out
	}
	for range 500 {
		a, b := text(), text()
		if random.IntN(2) == 0 { // include near texts
			b = append([]rune{}, a...)
			for range random.IntN(5) {
				if len(b) > 0 {
					b[random.IntN(len(b))] = 'x'
				}
			}
		}
		want := whole(a, b)
		if got, ok := levenshtein.Within(a, b, 1000); !ok || got != want {
			t.Fatalf("distance of %q and %q: %d %v, want %d", string(a), string(b), got, ok, want)
		}
		limit := random.IntN(60)
		if got, ok := levenshtein.Within(a, b, limit); ok != (want <= limit) || ok && got != want {
			t.Fatalf("%q and %q within %d: %d %v, want %d", string(a), string(b), limit, got, ok, want)
		}
	}
	if got := levenshtein.Distance("kitten", "sitting"); got != whole([]rune("kitten"), []rune("sitting")) {
		t.Errorf("Distance counts %d", got)
	}
}
