package tool

import (
	"context"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// Bounds of calls that access files. A remote or broken file system can block a system call
// forever, and nothing can interrupt it.
const (
	fileTimeout     = 10 * time.Minute // for one call
	describeTimeout = 10 * time.Second // for reading files to describe a call to a person
	cancelGrace     = 2 * time.Second  // in which a canceled call may still return its result
	maxLost         = 32               // abandoned calls that have not ended
)

// lost counts abandoned calls: they did not end when they should have. Each is a goroutine
// blocked in a system call; it ends with that call or with the host.
type lost struct {
	mu    sync.Mutex
	calls int
}

// full reports whether so many calls are abandoned that no other may start.
func (l *lost) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls >= maxLost
}

func (l *lost) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls += n
}

// detach runs work and returns its result. If work has not ended within grace after ctx
// ended, it is abandoned, and ended is false.
func detach[T any](ctx context.Context, l *lost, grace time.Duration, work func(context.Context) T) (out T, ended bool) {
	type outcome struct {
		value T
		fault any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.fault = recover()
			done <- o
		}()
		o.value = work(ctx)
	}()
	settle := func(o outcome) (T, bool) {
		if o.fault != nil {
			panic(o.fault) // the caller handles it
		}
		return o.value, true
	}
	select {
	case o := <-done:
		return settle(o)
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return settle(o)
	case <-timer.C:
	}
	l.add(1)
	go func() {
		<-done
		l.add(-1)
	}()
	return out, false
}

// onFiles wraps a tool so that its calls wait for a file system only for a limited time.
type onFiles struct {
	agent.Tool
	lost  *lost
	grace time.Duration
}

func (s *Set) onFiles(t agent.Tool) agent.Tool { return onFiles{t, &s.Catalog.lost, cancelGrace} }

func (t onFiles) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	name := t.Spec().Name
	if t.lost.full() {
		return agent.Failure("%s: %d earlier calls are still waiting for a file system that does not respond; tell the user, who can check the mounts of this machine.", name, maxLost)
	}
	limited, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	result, ended := detach(limited, t.lost, t.grace, func(ctx context.Context) agent.Result { return t.Tool.Run(ctx, call, progress) })
	switch {
	case ended:
		return result
	case t.Risk() == agent.RiskRead:
		return agent.Failure("%s: the file system does not respond; the call was abandoned.", name)
	}
	return agent.Failure("%s: the file system does not respond; the call was abandoned, and it is unknown whether it changed anything. Check before you repeat it.", name)
}

// Describe implements agent.Tool. If the file system does not respond, the description says
// so.
func (t onFiles) Describe(call agent.Call) agent.Description {
	ctx, cancel := context.WithTimeout(context.Background(), describeTimeout)
	defer cancel()
	blind := agent.Description{Title: t.Spec().Name + " (the file system does not respond)", Detail: string(call.Arguments), Insist: true}
	if t.lost.full() {
		return blind
	}
	what, ended := detach(ctx, t.lost, 0, func(context.Context) agent.Description { return t.Tool.Describe(call) })
	if !ended {
		return blind
	}
	return what
}
