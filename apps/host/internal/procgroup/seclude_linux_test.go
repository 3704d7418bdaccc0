package procgroup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const childEnv = "PROCGROUP_TEST_CHILD"

// TestMain also runs the process whose environment others try to read, and one that is
// killed.
func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "secluded":
		if err := Seclude(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case supervisorKind:
		_ = os.Unsetenv(childEnv)
		code, err := Supervise(os.Args[1:])
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(code)
	case "starter":
		if err := starter(os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends it
}

// TestOthersDoNotReadTheEnvironment: a command started by the host may try to steal the
// keys in the host's environment. It runs as the same user, who is not root.
func TestOthersDoNotReadTheEnvironment(t *testing.T) {
	for kind, open := range map[string]bool{"open": true, "secluded": false} {
		child := asAnybody(t, copied(t))
		child.Env = append(os.Environ(), childEnv+"="+kind, "KEY=of-a-provider")
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("the process said %q, %v", line, err)
		}
		text, err := asAnybody(t, "cat", fmt.Sprintf("/proc/%d/environ", child.Process.Pid)).Output()
		if got := err == nil && strings.Contains(string(text), "KEY=of-a-provider"); got != open {
			t.Errorf("%s: read %v, %v", kind, got, err)
		}
		_ = in.Close()
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// asAnybody returns a command that runs as the test's own user, or as nobody if that is
// root.
func asAnybody(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// copied returns a copy of this program that everyone may execute.
func copied(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "seclude-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "child")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(path, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
