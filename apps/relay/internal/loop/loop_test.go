package loop

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestFunctionsRunOneAtATime(t *testing.T) {
	l := Start()
	defer l.Stop()
	n := 0 // only the loop touches it; the race detector checks that
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := l.Do(func() { n++ }); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if err := l.Do(func() {}); err != nil || n != 50 {
		t.Errorf("%d of 50 functions ran: %v", n, err)
	}
}

func TestDoContextStopsWaiting(t *testing.T) {
	l := Start()
	defer l.Stop()
	release, running := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() { first <- l.Do(func() { close(running); <-release }) }()
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.DoContext(ctx, func() { t.Error("ran") }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestStoppedLoopRefuses(t *testing.T) {
	l := Start()
	l.Stop()
	l.Stop()
	if err := l.Do(func() { t.Error("ran") }); !errors.Is(err, ErrStopped) {
		t.Fatalf("got %v", err)
	}
}
