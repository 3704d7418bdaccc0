package chats

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAQuestionOfAServerNamesIt: nothing that a server writes looks like words of the agent.
func TestAQuestionOfAServerNamesIt(t *testing.T) {
	text := func(server string) (all string) {
		p := pending{question: &api.Question{Question: "Ask **our bank**", Server: server}}
		for _, segment := range p.questionText(channel.Limits{Buttons: true}) {
			all += segment.Text
		}
		return all
	}
	if got := text(""); !strings.HasPrefix(got, "The agent asks:\n") || strings.Contains(got, "**") {
		t.Errorf("the agent asks %q", got)
	}
	got := text("ba\nnk")
	if !strings.HasPrefix(got, "The MCP server ba nk asks, and receives the answer (send no passwords or keys):\n") || !strings.Contains(got, "**our bank**") {
		t.Errorf("a server asks %q", got)
	}
}

// TestApprovalsShowInvisibleCharacters has an approval whose text reads as something else than what runs.
func TestApprovalsShowInvisibleCharacters(t *testing.T) {
	a := api.Approval{ID: "a", Title: "Run echo\u200b", Cwd: "/srv/\u3164", Detail: "echo safe #\u202e tset"}
	text := channel.String(approvalText(a))
	for _, want := range []string{"Run echo<U+200B>", "/srv/<U+3164>", "#<U+202E> tset"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not have %q", text, want)
		}
	}
}
