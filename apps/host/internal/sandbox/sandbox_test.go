//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HelperName {
		os.Exit(sandbox.Helper(os.Args[2:], os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == attackName {
		os.Exit(attack(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// world is a folder that everyone may enter and write to, so that the sandbox, and not file
// permissions, is what confines a command.
type world struct{ project, outside, hidden, helper string }

func newWorld(t *testing.T) world {
	t.Helper()
	top, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	w := world{filepath.Join(top, "project"), filepath.Join(top, "outside"), filepath.Join(top, "hidden"), filepath.Join(top, "helper")}
	for _, dir := range []string{top, w.project, w.outside, w.hidden, filepath.Join(w.hidden, "open")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(w.outside, "f"), filepath.Join(w.hidden, "key")} {
		if err := os.WriteFile(path, []byte("secret"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.helper, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// users returns the users that commands run as: the test's own user and, if that is root,
// the user nobody.
func users() map[string]*syscall.Credential {
	all := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		all["nobody"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return all
}

func run(t *testing.T, s *sandbox.Sandbox, w world, who *syscall.Credential, script string) (string, error) {
	t.Helper()
	return runIn(t, s, w.project, filepath.Join(w.hidden, "open"), who, script)
}

func runIn(t *testing.T, s *sandbox.Sandbox, dir, open string, who *syscall.Credential, script string) (string, error) {
	t.Helper()
	argv := s.Wrap([]string{"bash", "-c", script}, dir, open)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestSandboxHolds(t *testing.T) {
	for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock} {
		if kind == sandbox.Landlock {
			t.Setenv("PATH", withoutBwrap(t))
		}
		for name, who := range users() {
			t.Run(fmt.Sprintf("%s as %s", kind, name), func(t *testing.T) {
				w := newWorld(t)
				s := sandbox.Detect(t.Context(), sandbox.Config{Helper: w.helper, Network: true, Hidden: []string{w.hidden}})
				if got, note := s.Kind(); got != kind {
					t.Fatalf("this machine has %s (%s), the test needs %s: install bubblewrap", got, note, kind)
				}
				holds(t, s, kind, w, who)
			})
		}
	}
}

func holds(t *testing.T, s *sandbox.Sandbox, kind sandbox.Kind, w world, who *syscall.Credential) {
	for script, want := range map[string]bool{
		"echo x > inside && mkdir -p d && mv inside d/ && rm -r d":  true,
		"cat ../outside/f && ls / >/dev/null && echo x > /dev/null": true,
		"echo x > " + w.hidden + "/open/x":                          true,
		"exit 0":                                                    true,
		"exit 3":                                                    false,
		"echo x > ../outside/f":                                     false,
		"echo x > ../outside/new":                                   false,
		"rm ../outside/f":                                           false,
		"ln ../outside/f hard && echo x > hard":                     false,
		"ln -sf ../outside/f soft; echo x > soft":                   false,
		"bash -c 'bash -c \"echo x > ../outside/f\"'":               false,
		"chmod 600 ../outside/f":                                    kind == sandbox.Landlock && who == nil,
		"cat " + w.hidden + "/key":                                  kind == sandbox.Landlock,
		fmt.Sprintf("kill -0 %d", os.Getpid()):                      kind == sandbox.Landlock && who == nil && !scopesSignals(t),
	} {
		if out, err := run(t, s, w, who, script); (err == nil) != want {
			t.Errorf("%q: %v %s", script, err, out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(w.outside, "f")); err != nil || string(data) != "secret" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	if _, err := run(t, s, w, who, "exit 42"); exitCode(err) != 42 {
		t.Errorf("exit code: %v", err)
	}
}

// scopesSignals reports whether Landlock on this kernel keeps signals inside.
func scopesSignals(t *testing.T) bool {
	t.Helper()
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		t.Fatal(err)
	}
	return abi >= 6
}

func exitCode(err error) int {
	if exited, ok := err.(*exec.ExitError); ok {
		return exited.ExitCode()
	}
	return 0
}

// withoutBwrap returns a PATH with the programs that the test needs, without bubblewrap.
func withoutBwrap(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "true", "cat", "ls", "mkdir", "mv", "rm", "ln", "chmod", "kill", "sleep"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNoNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dial := "exec 3<>/dev/tcp/127.0.0.1/" + listener.Addr().String()[strings.LastIndex(listener.Addr().String(), ":")+1:]
	for _, c := range []struct {
		name    string
		network bool
		bwrap   bool
	}{{"open", true, true}, {"closed", false, true}, {"closed without bubblewrap", false, false}} {
		t.Run(c.name, func(t *testing.T) {
			if !c.bwrap {
				t.Setenv("PATH", withoutBwrap(t))
			}
			w := newWorld(t)
			s := sandbox.Detect(t.Context(), sandbox.Config{Helper: w.helper, Network: c.network})
			if out, err := run(t, s, w, nil, dial); (err == nil) != c.network {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// TestTheTrialRunGetsNoEnvironment: the test of the sandbox sees none of the host's
// variables except PATH.
func TestTheTrialRunGetsNoEnvironment(t *testing.T) {
	t.Setenv("PATH", withoutBwrap(t))
	t.Setenv("SCOREL_TEST_KEY", "secret")
	helper := filepath.Join(t.TempDir(), "helper")
	if err := os.WriteFile(helper, []byte("#!/bin/sh\nexport -p > \"$0.env\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if kind, note := sandbox.Detect(t.Context(), sandbox.Config{Helper: helper}).Kind(); kind != sandbox.Landlock {
		t.Fatalf("%s (%s)", kind, note)
	}
	seen, err := os.ReadFile(helper + ".env")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(seen); strings.Contains(text, "secret") || strings.Contains(text, "HOME=") || !strings.Contains(text, "PATH='"+os.Getenv("PATH")+"'") {
		t.Errorf("the trial run sees\n%s", text)
	}
}

func TestStatusIsHonest(t *testing.T) {
	for want, config := range map[string]sandbox.Config{
		"disabled in config.toml":     {Off: true, Helper: "/bin/false"},
		"no helper":                   {},
		"Landlock does not work here": {Helper: "/nowhere/scorel"},
	} {
		s := sandbox.Detect(context.WithoutCancel(t.Context()), config)
		if kind, note := s.Kind(); kind != sandbox.None || !strings.Contains(note, want) {
			t.Errorf("%+v: %s (%s)", config, kind, note)
		}
		if argv := s.Wrap([]string{"x"}, "/"); len(argv) != 1 {
			t.Errorf("%+v wraps to %q", config, argv)
		}
	}
}
