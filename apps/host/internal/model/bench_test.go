//go:build unix

package model

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

// BenchmarkStepRequest measures what a provider's code does for each model call besides the
// network: it encodes the request, which contains the whole history.
func BenchmarkStepRequest(b *testing.B) {
	for _, messages := range []int{1_000, 10_000} {
		var req agent.Request
		for i := range messages / 4 {
			id := fmt.Sprint("h", i)
			answer := func(content ...session.Block) session.Message {
				return session.Message{Role: session.RoleAssistant, Content: content}
			}
			req.Messages = append(req.Messages, ask("do this").Messages[0], answer(session.Text("I look"), modeltest.Call(id, "read", `{"path":"a.go"}`)),
				session.Message{Role: session.RoleToolResult, ToolCallID: id, ToolName: "read", Content: session.Content{session.Text(strings.Repeat("a line of a file\n", 20))}},
				answer(session.Text("done")))
		}
		req.Messages = append(req.Messages, ask("go on").Messages...)
		for _, kind := range kinds {
			config := Config{Type: kind, Model: testIDs[kind]}
			b.Run(fmt.Sprintf("%s/%d", kind, messages), func(b *testing.B) {
				var before, after syscall.Rusage
				if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
					b.Fatal(err)
				}
				size := 0
				for b.Loop() {
					body, err := bodyOf(config, req)
					if err != nil {
						b.Fatal(err)
					}
					size = len(body)
				}
				if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
					b.Fatal(err)
				}
				used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
				b.ReportMetric(float64(used.Microseconds())/float64(b.N)/1000, "CPU-ms/op")
				b.ReportMetric(float64(size)/(1<<20), "MiB/body")
			})
		}
	}
}
