package logs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/report"
)

// benchmarkLine is a line of Go's benchmarks: name, CPUs, rounds, time.
var benchmarkLine = regexp.MustCompile(`^Benchmark(Search|Warm)/(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`)

// index runs the benchmarks of the host's index of sessions: searches over 1 000
// sessions of 200 messages, and opening a warm index of one session of growing length.
func (r *runner) index(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./internal/sessions/index", "-run", "^$", "-bench", "^Benchmark(Search|Warm)$", "-benchtime", "300ms")
	cmd.Dir = r.plan.Host
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running the benchmarks of the index in %s: %w\n%s", r.plan.Host, err, out)
	}
	for row, took := range indexTimes(out) {
		r.add(sectionIndex, row, report.Figures{report.Took: float64(took.Microseconds()) / 1000})
	}
	return nil
}

// indexTimes reads what Go's benchmarks print, in its order.
func indexTimes(out []byte) func(yield func(row string, took time.Duration) bool) {
	return func(yield func(string, time.Duration) bool) {
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			match := benchmarkLine.FindStringSubmatch(lines.Text())
			if match == nil {
				continue
			}
			name := "search, " + match[2]
			if match[1] == "Warm" {
				name = "warm opening, " + match[2]
			}
			if ns, err := strconv.ParseFloat(match[3], 64); err == nil && !yield(name, time.Duration(ns)) {
				return
			}
		}
	}
}
