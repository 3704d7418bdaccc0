//go:build unix

package agent_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// cpuTime is what the process has used: what else the machine does is not in it.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkStepAfterHistory is BenchmarkStep in a session that is long already.
func BenchmarkStepAfterHistory(b *testing.B) {
	const steps = 20
	for _, messages := range []int{100, 1_000, 10_000} {
		history := make([]session.Message, 0, messages)
		for i := range messages / 4 {
			id := fmt.Sprint("h", i)
			history = append(history, user("do this"), says(session.Text("I look"), modeltest.Call(id, "read", `{"path":"a.go"}`)),
				result(id, strings.Repeat("a line of a file\n", 20)), says(session.Text("done")))
		}
		history = append(history, user("go"))
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			before := cpuTime(b)
			for b.Loop() {
				script := make([]modeltest.Step, 0, steps)
				for i := range steps - 1 {
					script = append(script, modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "read", fmt.Sprintf(`{"n":%d}`, i))))
				}
				w := &quiet{}
				turn := turnOf(nil, &unchecked{steps: append(script, modeltest.Say("done"))}, echo("read", agent.RiskRead))
				turn.Journal, turn.Gate, turn.Sink, turn.ContextWindow = w, w, w, 10_000_000
				turn.Messages = history
				if outcome := agent.RunTurn(b.Context(), turn); outcome.StopReason != session.StopEnd {
					b.Fatal(outcome)
				}
			}
			done := float64(b.N) * steps
			b.ReportMetric(float64(b.Elapsed().Microseconds())/done, "µs/step")
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/done, "CPU-µs/step")
		})
	}
}
