//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// hostEnv makes a copy of this program a host on the home that it names.
const hostEnv = "SCOREL_TEST_HOST"

// hostMain runs a host and does not return in a process that startHostProcess
// started; elsewhere it does nothing. The host ends with the test's process.
func hostMain() {
	home := os.Getenv(hostEnv)
	if home == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := runHost(ctx, home); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runHost(ctx context.Context, home string) error {
	h, err := host.New(ctx, host.Config{Home: home, Getenv: func(string) string { return "" }, MoveStep: dieAtStep()})
	if err != nil {
		return err
	}
	go func() {
		<-h.Ready()
		fmt.Println("ready")
	}()
	return h.Run(ctx)
}

// hostProcess is a host in a process of its own, so that its CPU time and memory
// are its alone.
type hostProcess struct {
	*world
	state host.State
	pid   int
}

// startHostProcess starts one with a project. config is its config.toml.
func startHostProcess(t testing.TB, config string) *hostProcess {
	t.Helper()
	w := &world{home: t.TempDir()}
	home, project := filepath.Join(w.home, "scorel"), filepath.Join(w.home, "demo")
	for _, dir := range []string{home, project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &hostProcess{world: w, pid: launch(t, home)}
	state, err := host.ReadState(home)
	if err != nil {
		t.Fatal(err)
	}
	p.state = state
	transport, err := client.DialDirect(t.Context(), state.Addr, state.Token)
	if err != nil {
		t.Fatal(err)
	}
	w.id, w.local = state.DeviceID, client.New(transport, nil)
	t.Cleanup(func() { _ = w.local.Close() })
	w.project = ask(t, w.local, api.AddProject, api.AddProjectRequest{Path: project}).Project
	return p
}

func launch(t testing.TB, home string) (pid int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), hostEnv+"="+home), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal("the host did not start")
	}
	return cmd.Process.Pid
}

func (p *hostProcess) usage(t testing.TB) nodetest.Usage {
	t.Helper()
	u, err := nodetest.UsageOf(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// settled returns the usage once the process has done nothing for a while.
func (p *hostProcess) settled(t testing.TB) nodetest.Usage {
	t.Helper()
	for last := p.usage(t); ; {
		<-time.After(500 * time.Millisecond)
		now := p.usage(t)
		if now.CPU-last.CPU <= 10*time.Millisecond {
			return now
		}
		last = now
	}
}
