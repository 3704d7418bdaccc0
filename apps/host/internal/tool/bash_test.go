//go:build !windows

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// shell runs a command and records what people see of it.
type shell struct {
	tool bashTool
	dir  string

	mu   sync.Mutex
	seen strings.Builder
	line chan string // receives each piece of output; may be nil
}

func (s *shell) run(ctx context.Context, command string, timeout int) (agent.Result, bashDetails) {
	args, _ := json.Marshal(bashArgs{Command: command, Timeout: timeout})
	result := s.tool.Run(ctx, agent.Call{Arguments: args, Cwd: s.dir}, func(text string) {
		s.mu.Lock()
		s.seen.WriteString(text)
		s.mu.Unlock()
		if s.line != nil {
			s.line <- text
		}
	})
	var info bashDetails
	_ = json.Unmarshal(result.Details, &info) // absent if it did not start
	return result, info
}

func newShell(t *testing.T) *shell {
	tool := newBash(open(t, Options{}, Scope{Scratch: t.TempDir()}))
	tool.grace = 300 * time.Millisecond
	return &shell{tool: tool, dir: t.TempDir()}
}

func TestBash(t *testing.T) {
	tests := []struct {
		name, command, want string
		exit                int
	}{
		{"output", "echo out; echo err >&2", "out\nerr\n", 0},
		{"nothing", "true", agent.TextNoOutput, 0},
		{"no editor", `git init -q . && git() { command git -c user.name=a -c user.email=a@b.c "$@"; } && git commit -q --allow-empty -m first &&
			git -c core.editor=false commit -q --amend --allow-empty && git log --format=%s`, "first\n", 0},
		{"exit code", "echo bad; exit 3", "bad\n[exit code 3]", 3},
		{"exit code alone", "false", "[exit code 1]", 1},
		{"no line end", "printf bad; exit 3", "bad\n[exit code 3]", 3},
		{"working folder", "touch here && ls", "here\n", 0},
		{"no input", "cat; echo end", "end\n", 0},
		{"no terminal", "test -t 1 || echo none", "none\n", 0},
		{"bytes that are no text", `printf 'a\377b'`, "a\uFFFDb", 0},
		{"a signal", "kill -9 $$", "[exit code -1]", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result, info := newShell(t).run(t.Context(), test.command, 0)
			if got := result.Content.Plain(); got != test.want || info.ExitCode != test.exit || result.IsError != (test.exit != 0) {
				t.Errorf("%q exit %d isError %v, want %q exit %d", got, info.ExitCode, result.IsError, test.want, test.exit)
			}
		})
	}
}

func TestBashStreamsCharacters(t *testing.T) {
	s := newShell(t)
	s.run(t.Context(), `for b in '\303' '\251' '\342' '\202' '\254'; do printf $b; sleep 0.01; done`, 0)
	if got := s.seen.String(); got != "é€" || !utf8.ValidString(got) {
		t.Errorf("people saw %q", got)
	}
}

func TestBashKeepsTheEnd(t *testing.T) {
	s := newShell(t)
	result, info := s.run(t.Context(), "seq 1 5000", 0)
	text := result.Content.Plain()
	if !strings.HasPrefix(text, "[3000 lines (13893 bytes) before this are left out. All of it is in ") || !strings.HasSuffix(text, "\n5000\n") || !info.Truncated {
		t.Errorf("begins %.120q, truncated %v", text, info.Truncated)
	}
	if n := strings.Count(text, "\n"); n != MaxLines+1 {
		t.Errorf("%d lines", n)
	}
	result, _ = s.run(t.Context(), "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", 0)
	if text := result.Content.Plain(); len(text) > MaxBytes+300 || !strings.HasSuffix(text, "\nlast\n") {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-10:])
	}
}

// alive reports whether a process is running, not counting zombies.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || !exists("/proc/self/stat")
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// mustDie waits until a killed process is gone: the kernel takes a moment.
func mustDie(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(5 * time.Second)
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d of %s lives on", pid, file)
			}
		}
	}
}

// TestBashCancelLeavesNoProcess: a cancel ends the command with children and grandchildren,
// including those that ignore signals, and keeps the output so far.
func TestBashCancelLeavesNoProcess(t *testing.T) {
	for name, command := range map[string]string{
		"children":     `(echo $BASHPID > a; exec sleep 100) & sh -c 'echo $$ > b; sleep 100' & wait_for a; wait_for b; echo started; wait`,
		"do not mind":  `trap '' TERM; (trap '' TERM; echo $BASHPID > a; while :; do sleep 1; done) & echo $$ > b; wait_for a; echo started; while :; do sleep 1; done`,
		"the own pipe": `sh -c 'echo $$ > a; trap "" TERM; while :; do sleep 1; done' & echo $$ > b; wait_for a; echo started; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.line = make(chan string, 10)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-s.line; cancel() }()
			result, info := s.run(ctx, `wait_for() { until [ -s $1 ]; do sleep 0.01; done; }; `+command, 0)
			text := result.Content.Plain()
			if !result.IsError || !info.Cancelled || !strings.HasPrefix(text, "Cancelled by the user after ") || !strings.HasSuffix(text, "Partial output:\nstarted\n") {
				t.Errorf("%+v %q", info, text)
			}
			mustDie(t, s.dir, "a", "b")
		})
	}
}

func TestBashTimeout(t *testing.T) {
	s := newShell(t)
	result, info := s.run(t.Context(), `echo $$ > a; echo begun; sleep 100`, 1)
	text := result.Content.Plain()
	if !result.IsError || !info.TimedOut || info.Cancelled || !strings.Contains(text, "did not end within 1 s") || !strings.HasSuffix(text, "begun\n") {
		t.Errorf("%+v %q", info, text)
	}
	mustDie(t, s.dir, "a")
}

// TestBashBackgroundChild: a background child that holds the pipe neither blocks the call
// nor survives it.
func TestBashBackgroundChild(t *testing.T) {
	s := newShell(t)
	result, info := s.run(t.Context(), `sleep 100 & echo $! > a; echo done`, 0)
	if got := result.Content.Plain(); got != "done\n" || result.IsError || info.ExitCode != 0 {
		t.Errorf("%q %+v", got, info)
	}
	mustDie(t, s.dir, "a")
}

func TestBashHidesKeys(t *testing.T) {
	t.Setenv("SCOREL_TEST_KEY", "sk-123")
	text, _ := runWith(t, t.Context(), Options{HideEnv: []string{"SCOREL_TEST_KEY"}}, t.TempDir(), "bash", map[string]any{"command": `echo "[$SCOREL_TEST_KEY]"`})
	if text != "[]\n" {
		t.Errorf("the command saw %q", text)
	}
}

func TestBashWithoutFolder(t *testing.T) {
	text, isError := run(t, filepath.Join(t.TempDir(), "gone"), "bash", map[string]any{"command": "ls"})
	if !isError || !strings.Contains(text, "the working folder") {
		t.Errorf("%q", text)
	}
}

func TestBashIsDescribed(t *testing.T) {
	args, _ := json.Marshal(bashArgs{Command: "make\nrm -rf x"})
	got := bashTool{}.Describe(agent.Call{Arguments: args})
	if got.Title != "Run make ..." || got.Detail != "make\nrm -rf x" {
		t.Errorf("%+v", got)
	}
}

// TestBashTimeoutWithACleanEnd: a command that exits cleanly at the timeout has still
// failed.
func TestBashTimeoutWithACleanEnd(t *testing.T) {
	s := newShell(t)
	s.tool.grace = 30 * time.Second
	result, info := s.run(t.Context(), `trap 'echo tidied; exit 0' TERM; echo begun; while :; do sleep 0.05; done`, 1)
	text := result.Content.Plain()
	if !result.IsError || !info.TimedOut || info.ExitCode != 0 || !strings.Contains(text, "did not end within 1 s") || !strings.HasSuffix(text, "\ntidied\n") {
		t.Errorf("%+v %q", info, text)
	}
}

// TestBashPutsAsideWhatGitWouldRun: the guard checks before the command starts and after
// all of it has ended, and the model is notified.
func TestBashPutsAsideWhatGitWouldRun(t *testing.T) {
	planted := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "planted"))
		return err == nil
	}
	var before, after bool
	tool := newBash(open(t, Options{GuardGit: func(dir string) (func() []string, error) {
		before = planted(dir)
		return func() []string { after = planted(dir); return []string{"planted: it was put aside"} }, nil
	}}, Scope{Scratch: t.TempDir()}))
	s := &shell{tool: tool, dir: t.TempDir()}
	result, _ := s.run(t.Context(), "touch planted", 0)
	if before || !after || !strings.Contains(result.Content.Plain(), "planted: it was put aside") || !strings.Contains(s.seen.String(), "put aside") {
		t.Errorf("before %v, after %v: %+v, shown %q", before, after, result, s.seen.String())
	}
}
