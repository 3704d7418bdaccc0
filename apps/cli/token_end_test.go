package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

func TestTokenEnd(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		left time.Duration
		want string // its expiry
	}{
		{30 * 24 * time.Hour, formatMillis(now.Add(30 * 24 * time.Hour).UnixMilli())},
		{6*24*time.Hour + time.Hour, " (in 6 days)"},
		{47 * time.Hour, " (in 47 h)"},
		{59 * time.Minute, " (within the hour)"},
		{0, "expired " + formatMillis(now.UnixMilli())},
	} {
		if got := tokenEnd(api.Token{ExpiresAt: now.Add(c.left).UnixMilli()}, now); !strings.HasSuffix(got, c.want) {
			t.Errorf("with %s left: %q", c.left, got)
		}
	}
	if got := tokenEnd(api.Token{}, now); got != "never" {
		t.Errorf("without an end: %q", got)
	}
}
