//go:build !windows

package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// interrupted is a host that cancels its turn at the k-th event.
type interrupted struct {
	host
	mu     sync.Mutex
	left   int
	cancel context.CancelFunc
}

func (i *interrupted) step() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.left--; i.left == 0 {
		i.cancel()
	}
}

func (i *interrupted) Append(ctx context.Context, m session.Message) error {
	defer i.step()
	return i.host.Append(ctx, m)
}

func (i *interrupted) Ask(ctx context.Context, call agent.Call, what agent.Description) (api.Decision, error) {
	i.step()
	return i.host.Ask(ctx, call, what)
}

func (i *interrupted) Emit(event api.Event) {
	i.host.Emit(event)
	i.step()
}

// realSteps use real tools: commands with children, a background job, parallel reads, a
// change, and an interrupted model call.
func realSteps() []modeltest.Step {
	// The first process of a command records its id, and so does its child, which does not
	// hold the pipe, because bash would wait for that.
	const begin = `echo $$ >> pids; (echo $BASHPID >> pids; exec sleep 600 > /dev/null 2>&1) & `
	steps := []modeltest.Step{
		modeltest.Calls(
			modeltest.Call("r1", "read_file", `{"path":"a.txt"}`), modeltest.Call("r2", "list_dir", `{}`),
			modeltest.Call("c1", "bash", `{"command":"`+begin+`echo one; sleep 0.05; echo two"}`),
			modeltest.Call("w1", "patch", `{"path":"a.txt","old_string":"old","new_string":"new"}`)),
		modeltest.Calls(
			modeltest.Call("j1", "bash", `{"command":"`+begin+`echo job; wait","background":true}`),
			modeltest.Call("j2", "bash_job", `{"action":"list"}`),
			modeltest.Call("c2", "bash", `{"command":"`+begin+`echo three; exit 3"}`)),
		{Content: session.Content{session.Text("all is done")}, FailFirst: 1},
	}
	for i := range steps {
		steps[i].Piece = 1000
	}
	return steps
}

// TestCancelAnywhereLeavesNoProcess cancels a turn of real tools after every single event:
// each call has one result, a strict model accepts the next prompt, a file is changed
// completely or not at all, and no process outlives the session.
func TestCancelAnywhereLeavesNoProcess(t *testing.T) {
	for k, reached := 1, true; reached; k++ {
		reached = cancelRealAt(t, k)
		if t.Failed() {
			t.Fatalf("canceled at %d", k)
		}
		if !reached && k < 25 {
			t.Fatalf("the turn has only %d events: it does not cover what it should", k)
		}
	}
}

func cancelRealAt(t *testing.T, k int) (reached bool) {
	t.Helper()
	dir := project(t, map[string]string{"a.txt": "old\n"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &interrupted{left: k, cancel: cancel}
	set := NewCatalog(Options{}).Open(Scope{Scratch: t.TempDir()})
	prompt := session.Message{Role: session.RoleUser, Content: session.Content{session.Text("go")}}
	outcome := agent.RunTurn(ctx, agent.Turn{
		Model: modeltest.New(realSteps()...), Tools: set.Tools(), Journal: h, Gate: h, Sink: h, System: "test", Cwd: dir,
		Messages: []session.Message{prompt},
	})
	reached = ctx.Err() != nil
	if want := map[bool]session.StopReason{true: session.StopAborted, false: session.StopEnd}[reached]; outcome.StopReason != want {
		t.Errorf("%+v, want %s", outcome, want)
	}
	set.Close()
	if exists(filepath.Join(dir, "pids")) {
		for _, pid := range strings.Fields(content(t, dir, "pids")) {
			mustDie(t, dir, writeTemp(t, dir, pid))
		}
	}
	if err := modeltest.CheckAnswered(h.messages); err != nil {
		t.Error(err)
	}
	if text := content(t, dir, "a.txt"); text != "old\n" && text != "new\n" {
		t.Errorf("the file is %q", text)
	}
	next := agent.RepairMessages(append(append([]session.Message{prompt}, h.messages...), prompt))
	if err := modeltest.Check(agent.Request{Messages: next}); err != nil {
		t.Errorf("the next prompt is refused: %v", err)
	}
	return reached
}

// writeTemp writes a process id where mustDie looks for it.
func writeTemp(t *testing.T, dir, pid string) (name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "pid"), []byte(pid), 0o600); err != nil {
		t.Fatal(err)
	}
	return "pid"
}
