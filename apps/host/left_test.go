//go:build linux

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
)

// TestAKilledHostLeavesNothingRunning: what a command began that nobody stopped is gone
// when the next host takes its first request, and cannot change files behind its back.
func TestAKilledHostLeavesNothingRunning(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		sure   bool // it outlives the host: nothing else ends it
	}{
		"alone":          {"[sandbox]\nenabled = false\n", true},
		"in the sandbox": {"[sandbox]\nenabled = true\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			home, sessionID, project := newSession(t)
			// Whatever lives of it holds the lock.
			model := modeltest.Serve(modeltest.Calls(modeltest.Call("b1", "bash",
				`{"command":"(exec 9>held; flock 9; echo started; sleep 600; touch late) & wait"}`)))
			defer model.Close()
			configureSandbox(t, home, model.URL, test.config)
			w := newWitness(t, sessionID)
			child := begin(t, home, 0)
			w.connect(home)
			w.prompt(freely("k1", "run"))
			w.until("output", func() bool { return len(w.live.Tools) > 0 && strings.Contains(w.live.Tools[0].Output, "started") })
			child.kill()

			start(t, host.Config{Home: home})
			held, err := os.Open(filepath.Join(project, "held"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = held.Close() }()
			if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				t.Errorf("the command runs on: %v", err)
			}
			w.connect(home)
			w.resume()
			result := w.account().results["b1"]
			if result != agent.TextStopped && (test.sure || result != agent.TextInterrupted) {
				t.Errorf("the agent is told %q", result)
			}
			if notes, err := filepath.Glob(filepath.Join(home, "run", "commands", "*")); err != nil || len(notes) > 0 {
				t.Errorf("there are still the notes %q, %v", notes, err)
			}
		})
	}
}
