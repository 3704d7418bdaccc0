package machine

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAMachineThatDoesNotAnswerAsks: where nothing can be looked up the judge still
// answers, and its answer is to ask.
func TestAMachineThatDoesNotAnswerAsks(t *testing.T) {
	var stuck atomic.Int32
	release := make(chan struct{})
	p := &probes{stuck: &stuck}
	if got := look(p, time.Nanosecond, "unknown", func() string { <-release; return "late" }); got != "unknown" {
		t.Fatalf("it waited for %q", got)
	}
	policy := p.bound(permission.Policy{
		Mode: api.ModeAuto, Dir: "/work", Home: "/home/ann",
		Resolve: func(string) string { t.Error("it is looked up"); return "" }, List: namesIn, Exists: existing, GitRuns: gitRuns,
	})
	for _, command := range []string{"echo x > new", "cp a b", "ls *", "git checkout topic", "touch x"} {
		if v := policy.Judge(permission.Request{Tool: "bash", Writes: true, Command: command}); v.Action != permission.Ask {
			t.Errorf("%q: %+v", command, v)
		}
	}
	if why := policy.GitRuns("/work"); !strings.Contains(why, "does not answer") {
		t.Errorf("git: %q", why)
	}
	close(release)
	for stuck.Load() > 0 {
		runtime.Gosched()
	}
}
