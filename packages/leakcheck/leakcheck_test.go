package leakcheck

import (
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestGoroutinesSeesALeak(t *testing.T) {
	before := make(map[string]bool)
	for _, stack := range goroutines() {
		before[name(stack)] = true
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		<-stop
	}()
	found := false
	for _, stack := range goroutines() {
		found = found || !before[name(stack)] && strings.Contains(stack, "TestGoroutinesSeesALeak")
	}
	close(stop)
	<-stopped
	if !found {
		t.Fatal("the goroutine that waits was not seen")
	}
	if left := waitForNone(before); len(left) != 0 {
		t.Fatalf("left after it ended: %v", left)
	}
}

func TestCheckPassesWhenAllEnd(t *testing.T) {
	Check(t)
	done := make(chan struct{})
	go close(done)
	<-done
}
