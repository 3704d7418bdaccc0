package awake

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/awake/awaketest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// patience bounds every wait of a test.
const patience = 30 * time.Second

func await[T any](t *testing.T, events <-chan T) T {
	t.Helper()
	select {
	case event := <-events:
		return event
	case <-time.After(patience):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

// keep runs a keeper until the test ends, or the returned function is called.
func keep(t *testing.T, inhibitor Inhibitor) (k *Keeper, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	k = New(inhibitor, slog.New(slog.DiscardHandler))
	running.Go(func() { k.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return k, stop
}

// TestLogindIsHeldWhileWorkIsDone: one lock from the first beginning to the last end.
func TestLogindIsHeldWhileWorkIsDone(t *testing.T) {
	logind := awaketest.Serve(t)
	k, stop := keep(t, System())
	first, second := k.Begin(), k.Begin()
	if what := await(t, logind.Held); what != "sleep:idle" {
		t.Errorf("the lock is for %q", what)
	}
	first()
	select {
	case <-logind.Released:
		t.Fatal("it was released while work was done")
	case <-logind.Held:
		t.Fatal("it was held twice")
	default:
	}
	second()
	await(t, logind.Released)
	end := k.Begin()
	await(t, logind.Held)
	stop() // with the host, whatever works
	await(t, logind.Released)
	end()
}

// TestAUserWithoutASessionHoldsOffIdleness: what policy allows is used.
func TestAUserWithoutASessionHoldsOffIdleness(t *testing.T) {
	logind := awaketest.Serve(t)
	logind.Refuse("sleep:idle")
	k, _ := keep(t, System())
	end := k.Begin()
	if what := await(t, logind.Held); what != "idle" {
		t.Errorf("the lock is for %q", what)
	}
	end()
	await(t, logind.Released)
}

// TestNoBusIsUnsupported: in a container there is none.
func TestNoBusIsUnsupported(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "nothing"))
	if _, err := System().Hold(t.Context()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// refusing is a system that refuses.
type refusing struct{ asked chan struct{} }

func (r refusing) Hold(context.Context) (func(), error) {
	r.asked <- struct{}{}
	return nil, errors.New("refused")
}

// TestARefusalIsAskedOnceForEachWork: a system that refuses is not asked for every turn that
// begins while others run, and asked again later.
func TestARefusalIsAskedOnceForEachWork(t *testing.T) {
	system := refusing{make(chan struct{}, 10)}
	k, stop := keep(t, system)
	first := k.Begin()
	await(t, system.asked)
	second := k.Begin()
	first()
	second()
	stop()
	if n := len(system.asked); n > 1 {
		t.Errorf("it was asked %d times more", n)
	}
}

// TestAProgramRunsWhileWorkIsDone: as caffeinate does on macOS.
func TestAProgramRunsWhileWorkIsDone(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	fifo := filepath.Join(folder, "alive")
	script := "#!/bin/sh\nexec 9>" + fifo + "\necho $# $1 >&9\nexec /bin/sleep 1000\n"
	if err := os.WriteFile(filepath.Join(folder, "caffeinate"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	output := followFIFO(t, fifo)
	k, _ := keep(t, command{"caffeinate", "-i"})
	end := k.Begin()
	if line := await(t, output); line != "1 -i\n" {
		t.Errorf("it was started with %q", line)
	}
	end()
	if _, open := <-output; open {
		t.Error("more was written")
	}
}
