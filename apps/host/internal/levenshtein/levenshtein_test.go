package levenshtein_test

import (
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
