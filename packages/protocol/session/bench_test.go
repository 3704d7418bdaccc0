package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// longFile makes a session of n entries of about 500 bytes, as turns of a prompt,
// a tool call, its result and an answer, with a compaction and a branch now and then.
func longFile(n int) []byte {
	var b strings.Builder
	b.Grow(n * 520)
	b.WriteString(header + "\n")
	filler := strings.Repeat("the quick brown fox \\\"jumps\\\" over ", 9)
	parent := "null"
	for i := range n {
		message := fmt.Sprintf(`{"role":"user","content":"%s %d","timestamp":%d}`, filler, i, 1767323049000+i)
		switch i % 4 {
		case 1, 3:
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"anthropic","model":"m","usage":{"input":%d,"output":2},"timestamp":%d}`, filler[:200], i, i)
		case 2:
			message = fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false}`, i, filler)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.%03dZ","message":%s}`+"\n", i, parent, i%1000, message)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	return []byte(b.String())
}

func BenchmarkOpenAndContext(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		data := longFile(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := session.ReadFile(data)
				if err != nil {
					b.Fatal(err)
				}
				if c := f.Tree.LeafContext(); len(c.Messages) != n {
					b.Fatalf("%d messages", len(c.Messages))
				}
			}
		})
	}
}

func BenchmarkContext(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		f, err := session.ReadFile(longFile(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Tree.LeafContext()
			}
		})
	}
}
