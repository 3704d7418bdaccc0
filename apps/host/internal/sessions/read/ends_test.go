package read

import (
	"fmt"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

func TestEndOf(t *testing.T) {
	prompt := func(key, turn string) string {
		return fmt.Sprintf(`{"type":"message","clientKey":%q,"turnId":%q,"message":{"role":"user","content":"do it"}`, key, turn)
	}
	answer := func(turn, reason string) string {
		return fmt.Sprintf(`{"type":"message","turnId":%q,"message":{"role":"assistant","content":[{"type":"text","text":"x"}],"stopReason":%q}`, turn, reason)
	}
	record := func(turn string) string {
		return fmt.Sprintf(`{"type":"custom","customType":"scorel.turn","data":{"turnId":%q,"stopReason":"error","error":"it broke"}`, turn)
	}
	for name, c := range map[string]struct {
		lines       []string
		ended       bool
		reason      session.StopReason
		interrupted string
	}{
		"it ended":            {[]string{prompt("k", "t1"), answer("t1", "stop")}, true, session.StopEnd, ""},
		"it failed":           {[]string{prompt("k", "t1"), record("t1")}, true, session.StopError, ""},
		"it runs":             {[]string{prompt("k", "t1")}, false, "", "t1"},
		"it runs after calls": {[]string{prompt("k", "t1"), answer("t1", "toolUse")}, false, session.StopToolUse, ""},
		"an older host":       {[]string{prompt("j", "t0"), answer("t0", "stop"), prompt("k", "t1"), record("interrupted")}, true, session.StopError, ""},
		"of an earlier one":   {[]string{prompt("j", "t0"), record("interrupted"), prompt("k", "t1")}, false, "", "t1"},
		"of a later one":      {[]string{prompt("k", "t1"), prompt("l", "t2"), record("interrupted")}, false, "", ""},
		"another's record":    {[]string{prompt("k", "t1"), prompt("l", "t2"), record("t2")}, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := treeOf(t, c.lines)
			if end, ended := EndOf(tree, "k"); ended != c.ended || end.StopReason != c.reason {
				t.Errorf("%v, %+v", ended, end)
			}
			if got := InterruptedTurn(tree); got != c.interrupted {
				t.Errorf("interrupted is %q, want %q", got, c.interrupted)
			}
		})
	}
}
