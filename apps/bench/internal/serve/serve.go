// Package serve runs one relay in this process, for another process that measures
// it. The relay does nothing else here, so the process's CPU time and memory are its
// own.
//
// The two processes speak in lines. The relay's first line is its Ready. After that
// each line it reads is a command, and it answers with a Usage. When its input ends,
// it ends.
package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The commands.
const (
	CommandUsage  = "usage"  // tell the usage
	CommandSettle = "settle" // collect garbage, give memory back, then tell the usage
)

// Ready is the first line.
type Ready struct {
	Addr string `json:"addr"` // host:port
	// Key is what peers must know of the relay, in its own form.
	Key string `json:"key,omitempty"`
}

// Usage is what a process has used.
type Usage struct {
	CPU        time.Duration `json:"cpu"` // user and system, since the start
	At         time.Duration `json:"at"`  // when, on the machine's clock
	RSS        int64         `json:"rss"` // bytes, now
	Heap       int64         `json:"heap"`
	Goroutines int           `json:"goroutines"`
}

// Options says how to serve. Some are for some kinds only.
type Options struct {
	Listen string // host:port; port 0 draws one
	Store  string // scorel: file of the store
	Bus    string // scorel: NATS servers
	Queue  int    // derp: packets that may wait for one connection, 0 for its default
	CPUs   int    // that may run Go code at once, 0 for all of the machine's
	// Profile is a file for a CPU profile of the whole run; "" writes none.
	Profile string
}

// serveFunc serves on a listener, which it closes when ctx ends.
type serveFunc func(ctx context.Context, l net.Listener, opts Options, ready func(key string)) error

func kinds() map[string]serveFunc {
	return map[string]serveFunc{
		"scorel": serveScorel, "splice": serveSplice, "naive": serveNaive, "derp": serveDERP, "nats": serveNATS,
	}
}

// Run serves a relay of a kind until in ends.
func Run(ctx context.Context, kind string, opts Options, in io.Reader, out io.Writer) error {
	HoldTo(opts.CPUs)
	serve, known := kinds()[kind]
	if !known {
		return fmt.Errorf("there is no relay of kind %q", kind)
	}
	if opts.Profile != "" {
		stop, err := Profile(opts.Profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	l, err := net.Listen("tcp", opts.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := json.NewEncoder(out)
	isReady := make(chan struct{})
	served := make(chan error, 1)
	go func() {
		served <- serve(ctx, l, opts, func(key string) {
			_ = answers.Encode(Ready{Addr: l.Addr().String(), Key: key}) // otherwise the measurement has no reader
			close(isReady)
		})
	}()
	select {
	case <-isReady:
	case err := <-served:
		return err
	}
	err = obey(in, answers)
	cancel()
	if ended := <-served; err == nil {
		err = ended
	}
	return err
}

// HoldTo lets this process run Go code on so many CPUs at once until release; 0 changes
// nothing.
func HoldTo(cpus int) (release func()) {
	if cpus == 0 {
		return func() {}
	}
	before := runtime.GOMAXPROCS(cpus)
	return func() { runtime.GOMAXPROCS(before) }
}

// Profile writes a CPU profile of this process into a file until stop.
func Profile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("making a file for the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the profile: %w", err), f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // a profile that is cut off cannot be read, which its reader sees
	}, nil
}

func obey(in io.Reader, answers *json.Encoder) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == CommandSettle {
			runtime.GC() // twice, so that pools are emptied
			debug.FreeOSMemory()
		}
		usage, err := Used()
		if err != nil {
			return err
		}
		if err := answers.Encode(usage); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Used tells what this process has used.
func Used() (Usage, error) {
	var r syscall.Rusage
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return Usage{}, fmt.Errorf("reading the clock: %w", err)
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("reading the CPU time: %w", err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return Usage{}, fmt.Errorf("reading the memory: %w", err)
	}
	var size, resident int64
	if _, err := fmt.Fscan(strings.NewReader(string(statm)), &size, &resident); err != nil {
		return Usage{}, fmt.Errorf("reading the memory: %w", err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Usage{
		CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), At: time.Duration(now.Nano()), RSS: resident * int64(os.Getpagesize()),
		Heap: int64(m.HeapInuse + m.StackInuse), Goroutines: runtime.NumGoroutine(),
	}, nil
}
