package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// childEnv makes a copy of this test program a host that dies: it is the point at
// which the process gets SIGKILL, 0 for none. Its argument is the home.
const childEnv = "SCOREL_TEST_KILLED_HOST"

func thisProgram(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// plainProgram returns this test program without the race detector. Processes of it are
// killed some 400 times, and without the detector they take a third of the time; the
// hosts that find what they left run under it.
func plainProgram(t *testing.T) string {
	t.Helper()
	if built, ok := debug.ReadBuildInfo(); ok && !slices.Contains(built.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return thisProgram(t)
	}
	program := filepath.Join(t.TempDir(), "host.test")
	// The flags of the Makefile: the packages were compiled with them before.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-race=false", "-trimpath", "-vet=off", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the host that is killed: %v: %s", err, out)
	}
	return program
}

// killedHost runs a host until it is killed.
func killedHost(point string, args []string) error {
	at, err := strconv.ParseInt(point, 10, 64)
	if err != nil || len(args) != 1 {
		return fmt.Errorf("%s=%s %q: want a number and a home", childEnv, point, args)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	var reached atomic.Int64
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cfg := host.Config{Home: args[0], NoRelay: true, Getenv: noEnv, Helper: program}
	host.Beneath(&cfg, func(p store.Provider) store.Provider {
		return mortal{p, func() {
			if reached.Add(1) == at {
				_ = self.Kill()
				select {} // until the signal is here
			}
		}}
	})
	h, err := host.New(context.Background(), cfg)
	if err != nil {
		return err
	}
	go func() {
		<-h.Ready()
		fmt.Println("ready")
	}()
	return h.Run(context.Background())
}

// mortal reports every durable step of a provider: before it and, when it is on
// disk and was not announced, after it.
type mortal struct {
	store.Provider
	here func()
}

func (m mortal) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	log, err := m.Provider.Create(ctx, projectID, header, lines...)
	return mortalLog{log, m.here}, err
}

func (m mortal) Open(ctx context.Context, id string) (store.Log, error) {
	log, err := m.Provider.Open(ctx, id)
	return mortalLog{log, m.here}, err
}

type mortalLog struct {
	store.Log
	here func()
}

func (l mortalLog) Append(ctx context.Context, lines ...json.RawMessage) error {
	l.here()
	err := l.Log.Append(ctx, lines...)
	l.here()
	return err
}
