//go:build unix

package sessions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// discard is a subscriber that counts bytes.
type discard struct{ bytes int }

func (*discard) Away() bool { return false }

func (*discard) May(api.Grant) bool { return true }

func (d *discard) Deliver(_ api.EventEnvelope, encoded []byte) { d.bytes += len(encoded) }

// BenchmarkAppendMessage is the way of a finished message through the core: into a log in
// memory, into the digest and the live state, and to one subscriber.
func BenchmarkAppendMessage(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 256 << 10} {
		for _, role := range []session.Role{session.RoleAssistant, session.RoleToolResult} {
			b.Run(fmt.Sprintf("%s/%dK", role, size>>10), func(b *testing.B) {
				c, log, _ := testCore(b, plainHeader)
				clear(c.subscribers)
				watcher := &discard{}
				c.subscribers[watcher] = nil
				text := strings.Repeat("the quick \"brown\" fox\njumps — over <b>\\n", size/40)
				message := session.Message{Role: role, Content: session.Content{session.Text(text)}, StopReason: session.StopEnd, Timestamp: 1}
				if role == session.RoleToolResult {
					message.StopReason, message.ToolCallID, message.ToolName = "", "call_1", "read_file"
				}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				before := CPUTime(b)
				for b.Loop() {
					if _, err := c.appendMessage(store.Mark{TurnID: "t"}, message); err != nil {
						b.Fatal(err)
					}
					log.lines = log.lines[:0]
				}
				b.ReportMetric(float64((CPUTime(b)-before).Microseconds())/float64(b.N), "CPU-µs/op")
				if watcher.bytes == 0 {
					b.Fatal("nothing was delivered")
				}
			})
		}
	}
}
