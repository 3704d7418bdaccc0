//go:build !windows

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// heard records requests to wake a session, and can be waited for.
type heard chan struct{}

func (h heard) listen() { h <- struct{}{} }

func (h heard) wait(t *testing.T) {
	t.Helper()
	select {
	case <-h:
	case <-time.After(30 * time.Second):
		t.Fatal("no session was woken")
	}
}

func jobOf(t *testing.T, result agent.Result) string {
	t.Helper()
	var info bashDetails
	if err := json.Unmarshal(result.Details, &info); err != nil || info.Job == "" {
		t.Fatalf("no job in %s: %v", result.Content.Plain(), err)
	}
	return info.Job
}

func TestBackgroundJob(t *testing.T) {
	ears := make(heard, 10)
	set := open(t, Options{}, Scope{Scratch: t.TempDir()})
	set.Listen(ears.listen)
	dir := t.TempDir()
	// The command exits when the test creates a file.
	id := jobOf(t, set.call(t, dir, "bash", map[string]any{"background": true, "notify_on_complete": true,
		"command": "echo begun; until [ -e go ]; do sleep 0.01; done; echo over; exit 3"}))
	if text := set.call(t, dir, "bash_job", `{"action":"list"}`).Content.Plain(); !strings.HasPrefix(text, id+": running for ") {
		t.Errorf("list: %q", text)
	}
	var seen string
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(seen, "begun\n"); {
		if time.Now().After(deadline) {
			t.Fatalf("poll: %q", seen)
		}
		seen += set.call(t, dir, "bash_job", map[string]any{"action": "poll", "job": id}).Content.Plain()
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ears.wait(t)
	if !set.Waking() {
		t.Error("the end of a job with notify_on_complete wakes no session")
	}
	result := set.call(t, dir, "bash_job", map[string]any{"action": "wait", "job": id})
	text := result.Content.Plain()
	if !strings.Contains(text, "ended with exit code 3") || !strings.HasSuffix(text, "New output:\nover\n") {
		t.Errorf("wait: %q", text)
	}
	if notes := set.Notes(); len(notes) > 0 || set.Waking() {
		t.Errorf("the model is notified of what it has seen: %+v", notes)
	}
	if text := set.call(t, dir, "bash_job", map[string]any{"action": "poll", "job": id}).Content.Plain(); !strings.HasSuffix(text, "No new output.") {
		t.Errorf("notified twice: %q", text)
	}
}

func TestBackgroundJobIsKilled(t *testing.T) {
	set := open(t, Options{}, Scope{})
	dir := t.TempDir()
	id := jobOf(t, set.call(t, dir, "bash", map[string]any{"background": true, "command": "sleep 100 & echo $! > b; echo $$ > a; wait"}))
	await(t, filepath.Join(dir, "a"))
	result := set.call(t, dir, "bash_job", map[string]any{"action": "kill", "job": id})
	if text := result.Content.Plain(); !strings.Contains(text, id+": stopped after ") {
		t.Errorf("%q", text)
	}
	mustDie(t, dir, "a", "b")
}

// await waits until a file is not empty.
func await(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", path)
		}
	}
}

// TestJobsEndWithTheSession: no process outlives its session.
func TestJobsEndWithTheSession(t *testing.T) {
	set := NewCatalog(Options{}).Open(Scope{})
	dir := t.TempDir()
	set.call(t, dir, "bash", map[string]any{"background": true, "command": "trap '' TERM; (trap '' TERM; echo $BASHPID > b; while :; do sleep 1; done) & echo $$ > a; while :; do sleep 1; done"})
	await(t, filepath.Join(dir, "a"))
	await(t, filepath.Join(dir, "b"))
	set.Close()
	mustDie(t, dir, "a", "b")
	if result := set.call(t, dir, "bash", map[string]any{"command": "true"}); !strings.Contains(result.Content.Plain(), "the session has ended") {
		t.Errorf("%q", result.Content.Plain())
	}
}

// TestBashYields: a long command without a timeout continues as a job.
func TestBashYields(t *testing.T) {
	s := newShell(t)
	s.tool.yield = 10 * time.Millisecond
	result, info := s.run(t.Context(), "until [ -e go ]; do sleep 0.01; done; echo over", 0)
	if result.IsError || info.Job == "" || !strings.Contains(result.Content.Plain(), "it continues as background job "+info.Job) {
		t.Fatalf("%+v %q", info, result.Content.Plain())
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text := s.tool.call(t, s.dir, "bash_job", map[string]any{"action": "wait", "job": info.Job}).Content.Plain()
	if !strings.Contains(text, "ended with exit code 0") || !strings.Contains(text, "over\n") {
		t.Errorf("%q", text)
	}
	if s.seen.Len() > 0 && strings.Contains(s.seen.String(), "over") {
		t.Error("output went to a call that had returned")
	}
}

func TestWaitIsCancelled(t *testing.T) {
	set := open(t, Options{}, Scope{})
	id := jobOf(t, set.call(t, t.TempDir(), "bash", map[string]any{"background": true, "command": "sleep 100"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text := set.callWith(t, ctx, "", "bash_job", map[string]any{"action": "wait", "job": id}).Content.Plain(); !strings.HasPrefix(text, "Cancelled by the user") {
		t.Errorf("%q", text)
	}
}

func TestJobsAreBounded(t *testing.T) {
	set := open(t, Options{}, Scope{})
	dir := t.TempDir()
	for range maxJobs {
		set.call(t, dir, "bash", map[string]any{"background": true, "command": "sleep 100"})
	}
	if result := set.call(t, dir, "bash", map[string]any{"command": "true"}); !result.IsError || !strings.Contains(result.Content.Plain(), "jobs are already running") {
		t.Errorf("%q", result.Content.Plain())
	}
}

// TestLongOutputIsKept: output that is too long to show can be read from a file, although
// its folder is closed.
func TestLongOutputIsKept(t *testing.T) {
	home := t.TempDir()
	set := open(t, Options{Private: []string{home}}, Scope{Scratch: filepath.Join(home, "scratch", "s")})
	dir := t.TempDir()
	for _, lines := range []int{5000, 200_000} {
		command := fmt.Sprintf("seq 1 %d", lines)
		last := fmt.Sprintf("%d|%d\n", lines, lines)
		text := set.call(t, dir, "bash", map[string]any{"command": command}).Content.Plain()
		_, rest, _ := strings.Cut(text, "All of it is in ")
		path, _, found := strings.Cut(rest, ";")
		if !found {
			t.Fatalf("%.200q", text)
		}
		first := set.call(t, dir, "read_file", map[string]any{"path": path}).Content.Plain()
		end := set.call(t, dir, "read_file", map[string]any{"path": path, "offset": lines}).Content.Plain()
		if !strings.HasPrefix(first, "1|1\n2|2\n") || end != last {
			t.Errorf("%s: %.30q, %q", command, first, end)
		}
	}
	if result := set.call(t, dir, "read_file", map[string]any{"path": filepath.Join(home, "identity.json")}); !strings.Contains(result.Content.Plain(), "closed to tools") {
		t.Errorf("%q", result.Content.Plain())
	}
}

func TestLongListsAreKept(t *testing.T) {
	set := open(t, Options{}, Scope{Scratch: t.TempDir()})
	dir := project(t, map[string]string{"many": strings.Repeat("hit\n", 3000)})
	text := set.call(t, dir, "grep", map[string]any{"pattern": "hit"}).Content.Plain()
	_, rest, found := strings.Cut(text, "[2500 more lines are not shown; all of them are in ")
	if !found {
		t.Fatalf("%q", text[len(text)-200:])
	}
	path, _, _ := strings.Cut(rest, ".]")
	if text := set.call(t, dir, "read_file", map[string]any{"path": path, "offset": 3000}).Content.Plain(); text != "3000|many:3000:hit\n" {
		t.Errorf("%q", text)
	}
}
