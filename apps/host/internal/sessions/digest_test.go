package sessions

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestDigestOfAppendedMessages: the digest that grows with the messages of a turn, without
// decoding their lines, equals the digest of the log.
func TestDigestOfAppendedMessages(t *testing.T) {
	text := func(s string) session.Content { return session.Content{session.Text(s)} }
	result := func(tool, details string) session.Message {
		return session.Message{Role: session.RoleToolResult, ToolCallID: "c", ToolName: tool, Content: text("ok"), Details: json.RawMessage(details)}
	}
	usage := &session.Usage{Input: 3, Output: 5, CacheRead: 7, CacheWrite: 9, Cost: session.Cost{Total: 0.1}, Partial: true}
	for name, steps := range map[string][]session.Message{
		"an answer":             {{Role: session.RoleUser, Content: text("Fix it. Then test.")}, {Role: session.RoleAssistant, Content: text("Done."), Usage: usage, StopReason: session.StopEnd}},
		"text without UTF-8":    {{Role: session.RoleUser, Content: text("a\xff\xfe. b")}},
		"half a rune":           {{Role: session.RoleAssistant, Content: text("first \xe2\x82"), StopReason: session.StopEnd}},
		"no content":            {{Role: session.RoleAssistant, StopReason: session.StopError, ErrorMessage: "failed"}},
		"an image":              {{Role: session.RoleUser, Content: session.Content{{Type: session.BlockImage, SHA256: "00", MimeType: "image/png"}}}},
		"separators of lines":   {{Role: session.RoleUser, Content: text("a\u2028b\u2029c\ufffd\x00")}},
		"a call":                {{Role: session.RoleAssistant, Content: session.Content{{Type: session.BlockToolCall, ID: "c", Name: "bash", Arguments: json.RawMessage(` { "a" : "\ud800" } `)}}, StopReason: session.StopToolUse}},
		"a job":                 {result("bash", `{ "job" : "job_1", "notify": true }`)},
		"a job that ended":      {result("bash", `{"job":"job_1","notify":true}`), result("bash_job", `{"job":"job_1","running":false}`)},
		"a job of another tool": {result("read_file", `{"job":"job_1","notify":true}`)},
		"a job without UTF-8":   {result("bash", "{\"job\":\"job_\xff\",\"notify\":true}")},
		"a job that is no text": {result("bash", `{"job":1,"notify":true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _ := testCore(t, plainHeader)
			c.digest = index.NewDigest(c.log.Header())
			c.digest.Queue = []string{"key"}
			for _, message := range steps {
				mark := store.Mark{TurnID: "t"}
				if message.Role == session.RoleUser {
					mark.ClientKey = "key"
				}
				if _, err := c.appendMessage(mark, message); err != nil {
					t.Fatal(err)
				}
			}
			want := index.NewDigest(c.log.Header())
			want.Queue = []string{"key"}
			for _, entry := range c.log.Tree().Entries() {
				want.Add(entry)
			}
			if !reflect.DeepEqual(c.digest, want) {
				t.Errorf("the digest is\n%+v, that of the log\n%+v", c.digest, want)
			}
		})
	}
}
