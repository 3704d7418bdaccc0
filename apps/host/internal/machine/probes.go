package machine

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/host/internal/permission"
)

// Bounds of what the permission judge looks up on the machine: a file system that does not
// answer must not block the session that asks.
const (
	probeTimeout = 2 * time.Second
	gitWait      = gitTimeout + probeTimeout // git ends by itself before
	maxStuck     = 64                        // look-ups that were left behind and have not ended
)

// Lookups counts the look-ups of a host that have not ended. Its zero value is ready to use,
// from any goroutine.
type Lookups struct{ stuck atomic.Int32 }

// Fill sets the functions of a policy that look at the machine. Each takes a bounded time.
// The policy is for one judgement.
func (l *Lookups) Fill(policy permission.Policy) permission.Policy {
	policy.Resolve, policy.List, policy.Exists, policy.GitRuns = ResolveLinks, namesIn, existing, gitRuns
	policy.HomeOf, policy.Env = homeOf, os.Getenv
	policy.FoldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	return (&probes{stuck: &l.stuck}).bound(policy)
}

// probes are the look-ups for one judgement. After one that took too long no other begins:
// nothing is known about the machine then, and the judge asks.
type probes struct {
	stuck *atomic.Int32 // of the host
	slow  atomic.Bool
}

// look returns the result of a look-up, or unknown if that takes too long.
func look[T any](p *probes, wait time.Duration, unknown T, lookUp func() T) T {
	if p.slow.Load() || p.stuck.Load() >= maxStuck {
		return unknown
	}
	done := make(chan T, 1)
	p.stuck.Add(1)
	go func() {
		defer p.stuck.Add(-1)
		done <- lookUp()
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case out := <-done:
		return out
	case <-timer.C:
		p.slow.Store(true)
		return unknown
	}
}

// unreachable stands for a path whose target is unknown. It is in no project.
const unreachable = "/unreachable"

// bound limits the time of the look-ups of a policy.
func (p *probes) bound(policy permission.Policy) permission.Policy {
	resolve, list, exists, git := policy.Resolve, policy.List, policy.Exists, policy.GitRuns
	policy.Resolve = func(path string) string {
		return look(p, probeTimeout, unreachable+path, func() string { return resolve(path) })
	}
	type listed struct {
		names    []string
		complete bool
	}
	policy.List = func(folder string) ([]string, bool) {
		l := look(p, probeTimeout, listed{}, func() listed {
			names, complete := list(folder)
			return listed{names, complete}
		})
		return l.names, l.complete
	}
	type found struct{ there, folder bool }
	policy.Exists = func(path string) (bool, bool) {
		f := look(p, probeTimeout, found{there: true}, func() found {
			there, folder := exists(path)
			return found{there, folder}
		})
		return f.there, f.folder
	}
	policy.GitRuns = func(folder string) string {
		return look(p, gitWait, "git does not answer in this folder", func() string { return git(folder) })
	}
	return policy
}
