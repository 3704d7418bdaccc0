package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTheHostShowsNoKeys: the system's view of a running host contains no provider's key,
// yet the host has the keys.
func TestTheHostShowsNoKeys(t *testing.T) {
	const key = "sk-ant-a-key-of-a-provider"
	for _, args := range [][]string{{"host", "serve", "--no-relay", "--json"}, {"up", "--no-open", "--listen", "127.0.0.1:0", "--json"}} {
		dir := t.TempDir()
		home := filepath.Join(dir, "home")
		program := namedScorel(t, dir)
		environment := append(environmentWithout([]string{"SCOREL_HOME", "HOME"}), "SCOREL_HOME="+home, "HOME="+dir, "ANTHROPIC_API_KEY="+key, "MARK=stays")
		scorel := func(args ...string) *exec.Cmd {
			return &exec.Cmd{Path: program, Args: append([]string{"scorel"}, args...), Env: environment, Dir: dir, Stderr: os.Stderr}
		}
		host := scorel(args...)
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", host.Process.Pid))
		switch {
		case err == nil && strings.Contains(string(shown), key):
			t.Errorf("%q shows the key", args)
		case err == nil && !strings.Contains(string(shown), "MARK=stays"):
			t.Errorf("%q lost the rest of the environment: %q", args, shown)
		case err == nil && os.Getuid() != 0:
			t.Errorf("%q shows its environment", args)
		}
		var status bytes.Buffer
		ask := scorel("host", "status", "--json")
		ask.Stdout = &status
		var answer struct {
			PID  int
			Demo bool
		}
		if err := ask.Run(); err != nil || json.Unmarshal(status.Bytes(), &answer) != nil || answer.Demo || answer.PID != host.Process.Pid {
			t.Errorf("%q: the host has no key, or is another process: %s, %v", args, &status, err)
		}
		if err := host.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := host.Wait(); err != nil {
			t.Errorf("%q ended with %v", args, err)
		}
	}
}

// namedScorel returns this program under the name by which TestMain recognizes it: a host
// starts itself for the commands that it runs.
func namedScorel(t *testing.T, dir string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(dir, "scorel")
	if err := os.WriteFile(named, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return named
}

// TestKeysComeFromScorelOnly: the variable that names the pipe is only for internal use.
func TestKeysComeFromScorelOnly(t *testing.T) {
	for _, value := range []string{"x", "0", "2", "-1", "70000"} {
		t.Setenv(keysFD, value)
		if _, err := takeKeys(); err == nil || !strings.Contains(err.Error(), "unset it") {
			t.Errorf("%s=%s: %v", keysFD, value, err)
		}
	}
}
