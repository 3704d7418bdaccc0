//go:build unix

package subagent_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestCancelEndsEverything: no turn and no process of a child outlives its parent's turn.
func TestCancelEndsEverything(t *testing.T) {
	pids := t.TempDir()
	sleep := modeltest.Call("b1", "bash", `{"command":"echo $$ > `+pids+`/one.tmp; mv `+pids+`/one.tmp `+pids+`/one; exec sleep 300"}`)
	background := modeltest.Call("b0", "bash", `{"background":true,"command":"echo $$ > `+pids+`/two.tmp; mv `+pids+`/two.tmp `+pids+`/two; exec sleep 300"}`)
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(parallel("c1", "one", "two", "three")), modeltest.Say("after")),
		"one": modeltest.New(modeltest.Calls(background), modeltest.Calls(sleep)), "two": modeltest.New(modeltest.Step{Stall: true, Content: session.Content{session.Text("half")}}),
		"three": modeltest.New(modeltest.Say("never")), "again": modeltest.New(modeltest.Say("fine")),
	})
	w.limits.MaxConcurrent = 2
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go", AllowAll: true})
	one := watch.child(func(c api.SubagentChild) bool { return c.Doing == "bash" })
	waitFor(t, filepath.Join(pids, "one"))
	waitFor(t, filepath.Join(pids, "two"))
	if _, err := s.CancelTurn(t.Context(), turnOf(watch)); err != nil {
		t.Fatal(err)
	}
	watch.waitEnd(1)
	for _, name := range []string{"one", "two"} {
		if alive(t, filepath.Join(pids, name)) {
			t.Errorf("the process %s of the child lives", name)
		}
	}
	if !*oneResult(t, watch, "c1").IsError {
		t.Error("a canceled delegation is no error")
	}
	last := lastSubagents(t, watch)
	for _, member := range last.Members {
		if member.State != session.ChildCancelled {
			t.Errorf("the agent %s is %s", member.Title, member.State)
		}
	}
	for _, id := range []string{one.SessionID, last.Members[1].SessionID, last.Members[2].SessionID} {
		kid, child := open(t, m, id)
		summary, err := kid.Summary(t.Context())
		if err != nil || summary.Running || child.live.Turn != nil {
			t.Errorf("the child is still running: %+v %v", summary, err)
		}
	}
	_, kid := open(t, m, one.SessionID)
	oneResult(t, kid, "b1")
}

func turnOf(w *watcher) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.live.Turn.TurnID
}

// alive reports whether the process whose id is in a file is running.
func alive(t *testing.T, path string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return syscall.Kill(pid, 0) == nil
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if _, err := os.Stat(path); err == nil {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s does not appear", path)
		}
	}
}
