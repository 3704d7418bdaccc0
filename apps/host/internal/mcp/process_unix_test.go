//go:build !windows

package mcp_test

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestNoProcessIsLeft: a server ends with its children, even if it ignores requests to
// exit.
func TestNoProcessIsLeft(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	w := newWorld(t, func(o *mcp.Options) {
		config := child(t, "child")
		config.Env["PID_FILE"] = pidFile
		o.Servers["one"], o.Servers["deaf"] = config, child(t, "deaf")
		o.Patience = time.Millisecond
	})
	w.Tools(t.Context(), w.folder)
	w.await(t, "one", func(s api.MCPServer) bool { return s.State == api.MCPReady })
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	deadline := time.After(patience)
	for tick := time.NewTicker(5 * time.Millisecond); alive(pid); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the process %d lives", pid)
		}
	}
}

// alive reports whether a process is running, not counting zombies.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !os.IsNotExist(err)
	}
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] != 'Z'
		}
	}
	return true
}
