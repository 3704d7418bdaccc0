package mcp

import (
	"strings"
	"testing"
	"time"
)

// TestAFenceHolds: no text ends its fence, and none takes long to put into one.
func TestAFenceHolds(t *testing.T) {
	for _, text := range []string{
		"", "`", "a ``` b", "\n```\n", strings.Repeat("`", 63), strings.Repeat("`", 64) + "x" + strings.Repeat("`", 200), strings.Repeat("`", 300<<10), strings.Repeat("`` ``` ", 60_000),
	} {
		begun := time.Now()
		got := fenced(text)
		first, rest, _ := strings.Cut(got, "\n")
		if strings.Trim(first, "`") != "" || len(first) < 3 || !strings.HasSuffix(rest, "\n"+first) || strings.Count(got, first) != 2 {
			t.Errorf("%.20q of %d bytes: fence %q, %d times", text, len(text), first, strings.Count(got, first))
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%d bytes took %v", len(text), took)
		}
	}
}
