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

// TestAKilledHostLeavesNothingRunning: what a command started and no one stopped is gone
// when the next host takes its first request, and cannot change files behind its back.
func TestAKilledHostLeavesNothingRunning(t *testing.T) {
	for name, config := range map[string]string{
		"alone":          "[sandbox]\nenabled = false\n",
		"in the sandbox": "[sandbox]\nenabled = true\n",
	} {
		t.Run(name, func(t *testing.T) {
			home, sessionID, project := newSession(t)
			// Whatever lives of it holds the lock.
			model := modeltest.Serve(modeltest.Calls(modeltest.Call("b1", "bash",
				`{"command":"(exec 9>held; flock 9; echo started; sleep 600; touch late) & wait"}`)))
			defer model.Close()
			configureSandbox(t, home, model.URL, config)
			w := newWitness(t, sessionID)
			child := begin(t, thisProgram(t), home, 0)
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
			if result != agent.TextStopped && result != agent.TextInterrupted { // its supervisor may be faster
				t.Errorf("the agent receives %q", result)
			}
			if notes, err := filepath.Glob(filepath.Join(home, "run", "commands", "*")); err != nil || len(notes) > 0 {
				t.Errorf("there are still the notes %q, %v", notes, err)
			}
		})
	}
}

// TestAServerWritesToItsProjectOnly: an MCP server is in the sandbox of commands, and does
// not see the keys of the host.
func TestAServerWritesToItsProjectOnly(t *testing.T) {
	for name, confined := range map[string]bool{"": true, "sandbox = false\n": false} {
		t.Run(name, func(t *testing.T) {
			home, sessionID, project := newSession(t)
			outside := filepath.Join(t.TempDir(), "outside")
			model := modeltest.Serve(modeltest.Say("done"))
			defer model.Close()
			script := "echo x > inside; echo x > " + outside + "; cat " + home + "/identity.json > seen && echo x > saw"
			configureSandbox(t, home, model.URL, "[sandbox]\nwritable = []\n[mcp.servers.one]\ncommand = \"sh\"\nargs = [\"-c\", \""+script+"\"]\n"+name)
			w := newWitness(t, sessionID)
			child := begin(t, thisProgram(t), home, 0)
			w.connect(home)
			w.prompt(freely("k1", "run"))
			w.untilEnded("k1")
			child.kill()
			for path, want := range map[string]bool{filepath.Join(project, "inside"): true, outside: !confined, filepath.Join(project, "saw"): !confined} {
				if _, err := os.Stat(path); (err == nil) != want {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}
