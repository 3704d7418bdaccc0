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

// BenchmarkStepAfterHistory is BenchmarkStep in a session that is long already. The first
// metrics are of a step but the first one, the last one is of the turn's beginning: from
// RunTurn to its first model call, which looks at all of the history.
func BenchmarkStepAfterHistory(b *testing.B) {
	for _, ids := range []string{"own ids", "one id"} {
		for _, messages := range []int{100, 1_000, 10_000} {
			history := historyOf(messages, ids == "one id")
			b.Run(fmt.Sprintf("%s/%d", ids, messages), func(b *testing.B) { stepsAfter(b, history) })
		}
	}
}

// historyOf is a session of turns of four messages. Where all calls have one id, each
// gets another one.
func historyOf(messages int, oneID bool) []session.Message {
	history := make([]session.Message, 0, messages)
	for i := range messages / 4 {
		id := fmt.Sprint("h", i)
		if oneID {
			id = "call_0"
		}
		history = append(history, user("do this"), says(session.Text("I look"), modeltest.Call(id, "read", `{"path":"a.go"}`)),
			result(id, strings.Repeat("a line of a file\n", 20)), says(session.Text("done")))
	}
	return append(history, user("go"))
}

func stepsAfter(b *testing.B, history []session.Message) {
	const steps = 20
	var wall, used, first time.Duration
	for b.Loop() {
		script := make([]modeltest.Step, 0, steps+1)
		for i := range steps {
			script = append(script, modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "read", fmt.Sprintf(`{"n":%d}`, i))))
		}
		w, begun, usedBefore := &quiet{}, time.Now(), cpuTime(b)
		start := usedBefore
		model := &unchecked{steps: append(script, modeltest.Say("done")), first: func() {
			begun, usedBefore = time.Now(), cpuTime(b)
			first += usedBefore - start
		}}
		turn := turnOf(nil, model, echo("read", agent.RiskRead))
		turn.Journal, turn.Gate, turn.Sink, turn.ContextWindow = w, w, w, 10_000_000
		turn.Messages = history
		if outcome := agent.RunTurn(b.Context(), turn); outcome.StopReason != session.StopEnd {
			b.Fatal(outcome)
		}
		wall += time.Since(begun)
		used += cpuTime(b) - usedBefore
	}
	done := float64(b.N) * steps
	b.ReportMetric(float64(wall.Microseconds())/done, "µs/step")
	b.ReportMetric(float64(used.Microseconds())/done, "CPU-µs/step")
	b.ReportMetric(float64(first.Microseconds())/float64(b.N), "CPU-µs/beginning")
}
