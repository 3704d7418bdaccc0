package editors

import (
	"testing"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAQuestionOfAServerNamesIt: an editor shows who asks, because the answer goes there.
func TestAQuestionOfAServerNamesIt(t *testing.T) {
	for server, want := range map[string]string{
		"":     "Which?",
		"bank": "The MCP server bank asks, and receives the answer (enter no passwords or keys):\n\nWhich?",
	} {
		if got := asked(api.Question{Question: "Which?", Server: server}); got != want {
			t.Errorf("%q asks %q", server, got)
		}
	}
}

// TestTheAnswersOfAnotherAgent: an editor is offered the answers that the host offers, by the names
// that the agent gives them.
func TestTheAnswersOfAnotherAgent(t *testing.T) {
	a := api.Approval{Options: []api.Decision{api.Choice(0), api.Choice(1), api.Choice(2), api.Choice(3), api.DecisionStop}, Choices: []api.ApprovalChoice{
		{Decision: api.Choice(0), Name: "Yes\u202e", Kind: "allow_once"},
		{Decision: api.Choice(1), Name: "Never", Kind: "reject_always"},
		{Decision: api.Choice(2), Kind: "of tomorrow"},
	}}
	want := []acp.PermissionOption{
		{ID: "choice:1", Name: "Yes<U+202E>", Kind: acp.AllowOnce},
		{ID: "choice:2", Name: "Never", Kind: acp.RejectAlways},
		{ID: "choice:3", Name: "Answer 3", Kind: acp.AllowOnce},
		{ID: "stop", Name: "Deny and stop", Kind: acp.RejectOnce},
	}
	got := answersTo(a)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i].ID != want[i].ID || got[i].Name != want[i].Name || got[i].Kind != want[i].Kind {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// TestWhatAnAnswerAppliesTo: the rules that "always" saves are shown verbatim, with the folder, the
// reason and the risk.
func TestWhatAnAnswerAppliesTo(t *testing.T) {
	a := api.Approval{
		Detail: "make test", Cwd: "/work/a\u202eb", Reason: "no rule allows it", ProposedRules: []string{"bash(make *)", "bash(go test *)"},
		Risk: &api.Risk{Level: api.RiskHigh, Reasons: []string{"it runs code of the project", "it uses the network"}},
	}
	content := (&open{}).shown(a)
	if len(content) != 2 || content[0].Content.Text != "```\nmake test\n```" {
		t.Fatalf("%+v", content)
	}
	want := "```\nFolder: /work/a<U+202E>b\nReason: no rule allows it\nRisk: high (it runs code of the project; it uses the network)\n" +
		"Always would allow: bash(make *)\nAlways would allow: bash(go test *)\n```"
	if got := content[1].Content.Text; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
