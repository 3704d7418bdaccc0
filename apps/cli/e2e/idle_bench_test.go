//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
)

// idleTime is one operation of BenchmarkIdleHost.
const idleTime = time.Minute

// BenchmarkIdleHost measures a host without sessions that is connected to a relay: its memory, and
// how often its threads begin to wait. One operation is a minute. The program runs itself, without
// the web UI. Memory is that of /proc/PID/status at the end: all resident pages, and those without
// the pages of files, which the system can drop.
func BenchmarkIdleHost(b *testing.B) {
	relay, home := nodetest.Start(b, nodetest.Config{}), b.TempDir()
	host := exec.Command(program(b), "host", "serve", "--relay", relay.Peers.URL)
	host.Env = []string{"SCOREL_HOME=" + filepath.Join(home, "scorel"), "HOME=" + home, "SCOREL_MDNS=off", "PATH=" + os.Getenv("PATH")}
	if err := host.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	for end := time.Now().Add(benchPatience); relay.Metrics(b)[`scorel_relay_connections{role="host"}`] < 1; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("the host did not connect")
		}
	}
	before, minutes := waits(b, host.Process.Pid), 0.0
	for b.Loop() {
		<-time.After(idleTime)
		minutes++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric((waits(b, host.Process.Pid)-before)/minutes, "waits/min")
	b.ReportMetric(statusOf(b, host.Process.Pid, "VmRSS")/1024, "MiB")
	b.ReportMetric(statusOf(b, host.Process.Pid, "RssAnon")/1024, "MiB-without-files")
}

// BenchmarkVersion is the time from the start of the program to its end when it only prints its
// version.
func BenchmarkVersion(b *testing.B) {
	path := program(b)
	for b.Loop() {
		if out, err := exec.Command(path, "version").CombinedOutput(); err != nil {
			b.Fatalf("%v %s", err, out)
		}
	}
}

// waits returns how often the threads of a process have given up a processor to wait.
func waits(b *testing.B, pid int) (sum float64) {
	b.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, thread := range threads {
		sum += statusOf(b, pid, "voluntary_ctxt_switches", "task", thread.Name())
	}
	return sum
}

// statusOf returns a number of a process's status in /proc, or of a thread's below it.
func statusOf(b *testing.B, pid int, name string, below ...string) float64 {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(append(append([]string{"/proc", strconv.Itoa(pid)}, below...), "status")...))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			number, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return number
		}
	}
	b.Fatalf("no %s in the status of %d", name, pid)
	return 0
}
