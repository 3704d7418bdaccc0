package tool

import (
	"context"
	"testing"
)

// TestBashCancelEndsGroupsOfTheirOwn: timeout creates its own process group, and a shell
// with job control creates them for its children.
func TestBashCancelEndsGroupsOfTheirOwn(t *testing.T) {
	for name, command := range map[string]string{
		"timeout":     `timeout 300 bash -c 'echo $$ > a; sleep 100 & echo $! > b; wait'; echo never`,
		"job control": `set -m; sleep 100 & echo $! > b; bash -c 'echo $$ > a; exec sleep 100'; echo never`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.line = make(chan string, 10)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-s.line; cancel() }()
			if _, info := s.run(ctx, `(until [ -s a ] && [ -s b ]; do sleep 0.01; done; echo started) & `+command, 0); !info.Cancelled {
				t.Errorf("%+v", info)
			}
			mustDie(t, s.dir, "a", "b")
		})
	}
}
