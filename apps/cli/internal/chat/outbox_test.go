package chat

import (
	"errors"
	"testing"
	"time"
)

// TestPromptsOfOneSessionComeBackTogether when the host does not take the first; others stay, and a
// prompt that is on its way cannot be taken back.
func TestPromptsOfOneSessionComeBackTogether(t *testing.T) {
	o := outbox{prompts: []prompt{{key: "1", newKey: "a"}, {key: "2", newKey: "a"}, {key: "3", newKey: "b"}, {key: "4", sessionID: "s"}}}
	o.send(remote{}, o.prompts[0], "p", time.Now())
	if _, ok := o.next(); ok {
		t.Error("two prompts are on their way")
	}
	if taken := o.take(anyPrompt); len(taken) != 3 || len(o.prompts) != 1 {
		t.Errorf("%d were taken, %d stay", len(taken), len(o.prompts))
	}
	o.prompts = append(o.prompts, prompt{key: "2", newKey: "a"}, prompt{key: "3", newKey: "b"})
	n := &notices{explainer: explainer{error.Error, func(error) string { return "" }}}
	back := o.took(sent{o.prompts[0], errors.New("the disk is full")}, n)
	if len(back) != 2 || back[0].key != "1" || back[1].key != "2" || n.text != "the disk is full" {
		t.Errorf("%+v came back with %q", back, n.text)
	}
	if p, ok := o.next(); !ok || p.key != "3" {
		t.Errorf("next is %+v", p)
	}
}
