// Package leakcheck fails a test run that leaves goroutines behind. Call Main from
// TestMain, or Check at the start of one test that does not run in parallel.
//
// Goroutines of the testing package and of the runtime are not counted. Goroutines
// that are about to end get Grace to finish.
package leakcheck

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Grace is how long goroutines may take to end.
const Grace = 30 * time.Second

// Main runs the tests and exits with their code, or with 1 and a list of stacks on
// standard error if goroutines are left.
func Main(m *testing.M) {
	code := m.Run()
	if left := waitForNone(nil); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "leakcheck: %d goroutines are still running:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// Check fails t at its end if there are goroutines that did not exist when Check
// was called.
func Check(t testing.TB) {
	t.Helper()
	before := make(map[string]bool)
	for _, stack := range goroutines() {
		before[name(stack)] = true
	}
	t.Cleanup(func() {
		if left := waitForNone(before); len(left) > 0 {
			t.Errorf("leakcheck: %d goroutines are still running:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	})
}

// waitForNone polls, because one cannot wait for another's goroutine to end.
func waitForNone(before map[string]bool) []string {
	for pause, waited := time.Millisecond, time.Duration(0); ; pause *= 2 {
		var left []string
		for _, stack := range goroutines() {
			if !before[name(stack)] {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || waited > Grace {
			return left
		}
		<-time.After(pause)
		waited += pause
	}
}

// name returns "goroutine 12", which is never reused.
func name(stack string) string {
	head, _, _ := strings.Cut(stack, " [")
	return head
}

// goroutines returns the stacks of all goroutines but the caller's and those
// that belong to the test machinery.
func goroutines() []string {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	var out []string
	for i, stack := range strings.Split(string(buf), "\n\n") {
		if i > 0 && !machinery(stack) { // the first is the caller
			out = append(out, strings.TrimSpace(stack))
		}
	}
	return out
}

func machinery(stack string) bool {
	for _, mark := range []string{
		"testing.Main(", "testing.(*M).", "testing.tRunner(", "testing.runTests", "testing.runFuzz",
		"testing.(*F).", "testing.(*T).Run", "runtime.goexit0", "created by runtime.gc", "runtime/trace.",
		"os/signal.signal_recv", "os/signal.loop", "created by testing.", "internal/fuzz.", "runtime.ReadTrace",
		"runtime.ensureSigM",
	} {
		if strings.Contains(stack, mark) {
			return true
		}
	}
	return false
}
