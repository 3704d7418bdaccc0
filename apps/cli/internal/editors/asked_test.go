package editors

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAQuestionOfAServerNamesIt: an editor shows who asks, because the answer goes there.
func TestAQuestionOfAServerNamesIt(t *testing.T) {
	for server, want := range map[string]string{
		"":     "Which?",
		"bank": "The MCP server bank asks, and receives the answer (enter no passwords or keys):\nWhich?",
	} {
		if got := asked(api.Question{Question: "Which?", Server: server}); got != want {
			t.Errorf("%q asks %q", server, got)
		}
	}
}
