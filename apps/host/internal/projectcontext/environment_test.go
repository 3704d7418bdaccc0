package projectcontext

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The output of git is used in a trusted folder only, bounded, and without running what the
// repository names.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 3, 4, 23, 0, 0, 0, time.FixedZone("CET", 3600))
	if e := environmentOf(t.Context(), dir, true, now); e.GitBranch != "" || e.GitClean || e.Folder != dir || e.Date != "2026-03-04" || e.TimeZone != "CET (UTC+01:00)" {
		t.Errorf("without a repository: %+v", e)
	}
	git := func(args ...string) {
		t.Helper()
		command := exec.Command("git", args...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "feature/x")
	if e := environmentOf(t.Context(), dir, true, now); e.GitBranch != "feature/x" || !e.GitClean || len(e.GitStatus) != 0 {
		t.Errorf("a clean repository: %+v", e)
	}
	ran := filepath.Join(dir, ".git", "ran")
	git("config", "core.fsmonitor", "touch "+ran+"; true")
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	e := environmentOf(t.Context(), below, true, now)
	if e.GitBranch != "feature/x" || e.GitClean || len(e.GitStatus) != maxStatusLines+1 || !strings.HasSuffix(e.GitStatus[0], "file00") {
		t.Errorf("a changed repository: %+v", e)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
	if e := environmentOf(t.Context(), dir, false, now); e.GitBranch != "feature/x" || len(e.GitStatus) != 0 || e.GitClean {
		t.Errorf("a folder that is not trusted: %+v", e)
	}
}
