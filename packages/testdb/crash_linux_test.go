package testdb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAKillReachesEveryProcess: a process of the killed server that hangs would keep the
// next one from starting.
func TestAKillReachesEveryProcess(t *testing.T) {
	s := Crashable(t, KindPostgres)
	data, err := os.ReadFile(filepath.Join(filepath.Dir(s.server.logs), "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	main, _, _ := bytes.Cut(data, []byte("\n"))
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", main, main))
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, syscall.SIGSTOP) // one that has just ended hangs no more
	}
	s.Kill()
	s.Start()
	if err := s.server.answer(t.Context()); err != nil {
		t.Error(err)
	}
}
