package tool

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// stuck is a tool that ignores cancellation, like a system call on a file system that is
// gone.
type stuck struct {
	agent.Tool
	began, release chan struct{}
}

func (s stuck) wait() {
	s.began <- struct{}{}
	<-s.release
}

func (s stuck) Run(context.Context, agent.Call, func(string)) agent.Result {
	s.wait()
	return agent.Success("late")
}

// TestACancelEndsACallThatHangs: a call blocked in the system is abandoned and counted, up
// to a limit.
func TestACancelEndsACallThatHangs(t *testing.T) {
	set := open(t, Options{}, Scope{})
	s := stuck{readFile{set}, make(chan struct{}), make(chan struct{})}
	hanging := onFiles{s, &set.Catalog.lost, 0}
	for i := range maxLost {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan agent.Result)
		go func() { ended <- hanging.Run(ctx, agent.Call{}, nil) }()
		<-s.began
		cancel()
		if result := <-ended; !result.IsError || !strings.Contains(result.Content.Plain(), "does not respond") {
			t.Fatalf("call %d: %+v", i, result)
		}
	}
	if text := hanging.Run(t.Context(), agent.Call{}, nil).Content.Plain(); !strings.Contains(text, "32 earlier calls are still waiting") {
		t.Errorf("one more: %q", text)
	}
	if what := hanging.Describe(agent.Call{}); !what.Insist {
		t.Errorf("it is not asked about: %+v", what)
	}
	close(s.release)
	for set.Catalog.lost.full() {
		runtime.Gosched()
	}
}

// TestACancelledCallGivesWhatItHas: a call that ends when canceled returns its result.
func TestACancelledCallGivesWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	go func() {
		<-began
		cancel()
	}()
	text, ended := detach(ctx, &lost{}, time.Hour, func(ctx context.Context) string {
		close(began)
		<-ctx.Done()
		return "so far"
	})
	if !ended || text != "so far" {
		t.Errorf("%q, ended %v", text, ended)
	}
}

// TestAFaultInACallIsTheCallers: a panic ends the call, not the host.
func TestAFaultInACallIsTheCallers(t *testing.T) {
	defer func() {
		if fault := recover(); fault != "broken" {
			t.Errorf("the fault is %v", fault)
		}
	}()
	detach(t.Context(), &lost{}, 0, func(context.Context) int { panic("broken") })
}

// TestFilesOfTheKernelAreNotRead: reading some of them blocks forever, has side effects or
// exposes other processes. Search tools skip them.
func TestFilesOfTheKernelAreNotRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // no /proc on this system
	}
	cwd := t.TempDir()
	if err := os.Symlink("/proc/kmsg", filepath.Join(cwd, "log")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/proc/kmsg", "/proc/kcore", "/proc/kallsyms", "log", "/proc/sysvipc/shm", "/proc/net/unix"} {
		for name, args := range map[string]map[string]any{"read_file": {"path": path}, "grep": {"path": path, "pattern": "."}} {
			if text, failed := run(t, cwd, name, args); !failed {
				t.Errorf("%s %s: %.200q", name, path, text)
			}
		}
	}
	for name, args := range map[string]map[string]any{
		"grep": {"path": "/proc", "pattern": "a-text-that-nothing-there-has"}, "glob": {"path": "/proc", "pattern": "kmsg"}, "list_dir": {"path": "/proc"},
	} {
		if text, failed := run(t, cwd, name, args); failed {
			t.Errorf("%s in /proc: %.200q", name, text)
		}
	}
	if text, failed := run(t, cwd, "read_file", map[string]any{"path": "/proc/meminfo"}); failed {
		t.Errorf("a table of the machine: %q", text)
	}
}

// TestAPipeIsNoFolder: opening a pipe blocks until its other end is opened.
func TestAPipeIsNoFolder(t *testing.T) {
	cwd := t.TempDir()
	makePipe(t, filepath.Join(cwd, "pipe"))
	for name, args := range map[string]map[string]any{
		"list_dir": {"path": "pipe"}, "glob": {"path": "pipe", "pattern": "*"}, "grep": {"path": "pipe", "pattern": "x"}, "read_file": {"path": "pipe"},
		"write_file": {"path": "pipe", "content": "x"},
	} {
		if text, failed := run(t, cwd, name, args); !failed {
			t.Errorf("%s: %q", name, text)
		}
	}
}
