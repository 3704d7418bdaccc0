//go:build unix

package sessions

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// LongLog is the file of a session of n messages of about 500 bytes: prompts, calls,
// results and answers that report what they used.
func LongLog(n int) []byte {
	filler := strings.Repeat("the quick brown fox \\\"jumps\\\" over\\n", 9)
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/"}` + "\n")
	parent := "null"
	for i := range n {
		message := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s"}],"timestamp":%d}`, filler, i)
		switch i % 4 {
		case 1:
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"toolCall","id":"c%d","name":"read","arguments":{"path":"%s"}}],`+
				`"provider":"p","model":"m","usage":{"input":%d,"output":2,"totalTokens":%d},"stopReason":"toolUse","timestamp":%d}`, i, filler[:150], i, i, i)
		case 2:
			message = fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":"read","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":%d}`, i-1, filler, i)
		case 3:
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"p","model":"m","usage":{"input":%d,"output":2,"totalTokens":%d},"stopReason":"stop","timestamp":%d}`, filler, i, i, i)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.678Z","message":%s,"seq":%d,"turnId":"t"}`+"\n", i, parent, message, i+1)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	return []byte(b.String())
}

// CPUTime is what the process has used: what else the machine does is not in it.
func CPUTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkStepFirst is what the beginning of a turn costs the goroutine of its session:
// whether the context is due to be compacted, and its messages for the model.
func BenchmarkStepFirst(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		f, err := session.ReadFile(LongLog(n))
		if err != nil {
			b.Fatal(err)
		}
		tree := f.Tree
		for name, work := range map[string]func() bool{
			"due":     func() bool { return !compact.Due(tree, 1_000_000) },
			"context": func() bool { return len(read.Context(tree).Messages) == n },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				before := CPUTime(b)
				for b.Loop() {
					if !work() {
						b.Fatal("the session is not what it should be")
					}
				}
				b.ReportMetric(float64((CPUTime(b)-before).Microseconds())/float64(b.N), "CPU-µs/op")
			})
		}
	}
}
