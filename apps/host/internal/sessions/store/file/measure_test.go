//go:build unix

package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
)

// What apps/bench lets a copy of this program do. Each child prints one JSON object
// of figures; their names are the metrics of apps/bench.

// figures are those of one measurement.
type figures map[string]float64

func (f figures) print() error { return json.NewEncoder(os.Stdout).Encode(f) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measureOpen opens session s below a folder and builds its context, once and
// cold, as a host does that just began. Arguments: the folder, how many messages
// the context must have.
func measureOpen(args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	provider := file.New(args[0], quiet())
	begin, used := time.Now(), cpuTime()
	s, err := openSession(provider)
	if err != nil {
		return err
	}
	opened := time.Now()
	messages := s.Tree().LeafContext().Messages
	built, used := time.Now(), cpuTime()-used
	if len(messages) != want {
		return fmt.Errorf("the context has %d messages, not %d", len(messages), want)
	}
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	f := figures{
		"open_ms": milliseconds(opened.Sub(begin)), "context_ms": milliseconds(built.Sub(opened)),
		"open_and_context_ms": milliseconds(built.Sub(begin)), "open_and_context_cpu_ms": milliseconds(used), "peak_rss_mib": peak,
	}
	return errors.Join(f.print(), s.Close())
}

func openSession(p *file.Provider) (*store.Session, error) {
	log, err := p.Open(context.Background(), "s")
	if err != nil {
		return nil, err
	}
	return store.NewSession(log), nil
}

// measureAppend appends messages without a sync to session s below a folder.
// Arguments: the folder, how many.
func measureAppend(args []string) error {
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	provider := file.New(args[0], quiet())
	file.WithoutSync(provider)
	s, err := openSession(provider)
	if err != nil {
		return err
	}
	message := json.RawMessage(`{"role":"user","content":"` + strings.Repeat("some words ", 30) + `","timestamp":1}`)
	begin, used := time.Now(), cpuTime()
	for range count {
		if _, err := s.AppendMessage(context.Background(), store.Mark{Seq: s.LastSeq() + 1}, message); err != nil {
			return err
		}
	}
	took, used := time.Since(begin), cpuTime()-used
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(count) }
	return errors.Join(figures{"append_us": each(took), "append_cpu_us": each(used)}.print(), s.Close())
}

// measureDurable appends from many sessions at once, each append synced, and
// before that writes to one file and syncs it by the bare system calls. Arguments:
// a folder for the files, the number of sessions, the time of each measurement.
func measureDurable(args []string) error {
	sessions, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	span, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	raw, err := rawSyncRate(args[0], span)
	if err != nil {
		return err
	}
	rate, p99, err := appendRate(args[0], sessions, span)
	if err != nil {
		return err
	}
	return figures{
		"raw_syncs_per_second": raw, "durable_appends_per_second": rate,
		"times_raw": rate / raw, "durable_p99_ms": milliseconds(p99),
	}.print()
}

// cpuTime returns the CPU time that this process has used: what else the machine
// does is not in it.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peakMemory returns the most memory this process held, in MiB. The kernel's count
// for a process that ended would begin with its parent's.
func peakMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			return kib / 1024, nil
		}
	}
	return 0, errors.New("/proc/self/status has no memory peak")
}
