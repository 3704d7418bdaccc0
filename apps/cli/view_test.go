package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestWhatIsSaidToACall(t *testing.T) {
	all := []api.Decision{api.DecisionAllow, api.DecisionAlways, api.DecisionDeny, api.DecisionStop}
	for line, want := range map[string]follow.Verdict{
		"":                  {Decision: api.DecisionDeny},
		"y":                 {Decision: api.DecisionAllow},
		" YES ":             {Decision: api.DecisionAllow},
		"a":                 {Decision: api.DecisionAlways},
		"s":                 {Decision: api.DecisionStop},
		"stop":              {Decision: api.DecisionStop},
		"n":                 {Decision: api.DecisionDeny},
		"n  use patch, No ": {Decision: api.DecisionDeny, Feedback: "use patch, No"},
		"no not here":       {Decision: api.DecisionDeny, Feedback: "not here"},
		"nope":              {Decision: api.DecisionDeny},
		"yes please":        {Decision: api.DecisionDeny},
	} {
		if got := verdictOf(line, api.Approval{Options: all}); got != want {
			t.Errorf("%q is %+v, want %+v", line, got, want)
		}
	}
	if got := verdictOf("a", api.Approval{Options: []api.Decision{api.DecisionAllow}}); got.Decision != api.DecisionDeny {
		t.Errorf("what is not offered was taken: %+v", got)
	}
	if list := choices(api.Approval{Options: all}); !strings.Contains(list, "s(top)") || !strings.Contains(list, "n TEXT") {
		t.Errorf("offers %s", list)
	}
}

func TestWhatIsSaidToAQuestion(t *testing.T) {
	question := api.Question{Question: "which\n\x1b[2Jway?", Choices: []string{"left", "2"}}
	for line, want := range map[string]follow.Reply{
		"1":         {Answer: "left"},
		" 2 ":       {Answer: "2"},
		"3":         {Answer: "3"},
		"0":         {Answer: "0"},
		"\n":        {Skip: true},
		"to the up": {Answer: "to the up"},
	} {
		var out bytes.Buffer
		asker := terminal.NewAsker(strings.NewReader(line+"\n"), &out)
		got, err := notices{&out, asker}.Answer(t.Context(), question)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v, want %+v", line, got, err, want)
		}
		if text := out.String(); !strings.Contains(text, "  1  left") || strings.Contains(text, "\x1b") {
			t.Errorf("asked %q", text)
		}
	}
	var out bytes.Buffer
	got, err := notices{&out, nil}.Answer(t.Context(), question)
	if err != nil || got != (follow.Reply{}) || !strings.Contains(out.String(), "another client") {
		t.Errorf("while no one is watching: %+v, %v, %s", got, err, out.String())
	}
}

func TestANoticeBreaksNoLineOfTheAnswer(t *testing.T) {
	for steered, want := range map[bool]string{true: "one two \nscorel: lost\nthree\n", false: "one two scorel: lost\nthree\n"} {
		var out bytes.Buffer // the terminal of both outputs
		v := &textView{notices: notices{&out, nil}, stdout: &out, steered: steered, steps: newProgress(&out, false)}
		v.Text("one two ")
		v.Notice("lost")
		v.Text("three")
		v.EndMessage(false)
		if got := out.String(); got != want {
			t.Errorf("on a terminal %v: %q, want %q", steered, got, want)
		}
	}
}
