package sessions_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A prompt /compact compacts, and is announced as every prompt is: one turn_ended.
func TestCompactAsAPrompt(t *testing.T) {
	k := newTalk(t, 3, modeltest.Say("next"))
	summaries := modeltest.New(modeltest.Say("Ok."))
	k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4, Model: summaries}
	k.restart(t)
	heard := heardOf(k.w)
	if got := send(t, k.s, "cmd", "  /compact the tests\n"); got.State != api.PromptQueued {
		t.Errorf("%+v", got)
	}
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := strings.Join(heard(), ", "); got != "turn_started, work_started, work_ended, turn_ended stop" {
		t.Errorf("received %s", got)
	}
	asked := summaries.Requests()[0].Messages[0].Content.Plain()
	if made := compactions(k.w); len(made) != 1 || !strings.Contains(asked, "focus on this: the tests") {
		t.Errorf("%d compactions; the model was asked\n%s", len(made), asked)
	}
	for range 2 {
		if got := send(t, k.s, "cmd", "/compact the tests"); got.State != api.PromptTaken || got.EntryID != compactions(k.w)[0].ID {
			t.Errorf("a retry: %+v", got)
		}
		k.restart(t)
	}
	send(t, k.s, "after", "/compactor is a word, /compact too")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := k.asked(t); !strings.HasSuffix(got, "user: /compactor is a word, /compact too") || strings.Contains(got, "the tests") {
		t.Errorf("the model was given\n%s", got)
	}
}

func TestCompactWithNothingToDo(t *testing.T) {
	k := newTalk(t, 1, modeltest.Step{Content: session.Content{session.Text("half")}, Stall: true})
	_, err := k.s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "cmd", Text: "/compact"})
	wantKind(t, err, api.KindBadRequest, "there is nothing to compact")
	_, err = k.s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "cmd", Text: "/compact " + strings.Repeat("x", api.MaxFocus+1)})
	wantKind(t, err, api.KindTooLarge, "the limit is 4096")
	// While a turn runs it waits as every prompt does, and steers nothing.
	send(t, k.s, "k2", "go")
	k.w.wait(func() bool { return len(k.w.live.Partial) == 1 && k.w.live.Partial[0].Text == "half" })
	request := api.SendPromptRequest{ClientKey: "cmd", Text: "/compact", Mode: session.ModeSteer}
	if got, err := k.s.SendPrompt(t.Context(), "cli_x", request); err != nil || got.State != api.PromptQueued {
		t.Fatalf("%+v %v", got, err)
	}
	heard := heardOf(k.w)
	turnID := read(k.w, func() string { return k.w.live.Turn.TurnID })
	if _, err := k.s.CancelTurn(t.Context(), turnID); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.ended == 3 && len(k.w.live.Queue) == 0 })
	if got := strings.Join(heard(), ", "); !strings.HasPrefix(got, "turn_ended aborted, turn_started, turn_ended error") ||
		!strings.Contains(got, "there is nothing to compact") {
		t.Errorf("received %s", got)
	}
}

// The command is canceled as a turn is, and survives the end of the host until it is done.
func TestCompactAsAPromptIsCutOff(t *testing.T) {
	k := newTalk(t, 3)
	k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4, Model: modeltest.New(modeltest.Step{Stall: true}, modeltest.Step{Stall: true}, modeltest.Say("Ok."))}
	k.restart(t)
	heard := heardOf(k.w)
	send(t, k.s, "c1", "/compact")
	k.w.wait(func() bool { return k.w.live.Work != nil })
	turnID := read(k.w, func() string { return k.w.live.Turn.TurnID })
	if canceled, err := k.s.CancelTurn(t.Context(), turnID); !canceled || err != nil {
		t.Fatalf("%v %v", canceled, err)
	}
	k.w.wait(func() bool { return k.w.ended == 1 && len(k.w.live.Queue) == 0 })
	if got := strings.Join(heard(), ", "); got != "turn_started, work_started, work_ended it was canceled, turn_ended aborted" {
		t.Errorf("received %s", got)
	}
	send(t, k.s, "c2", "/compact")
	k.w.wait(func() bool { return k.w.live.Work != nil })
	k.f.deps.Summaries.Model = modeltest.New(modeltest.Say("Ok."))
	k.restart(t)
	k.w.wait(func() bool { return len(k.w.live.Queue) == 0 })
	if made := compactions(k.w); len(made) != 1 || made[0].Text("clientKey") != "c2" {
		t.Errorf("%d compactions after the restart", len(made))
	}
}

// A prompt, or a message to the running turn, that calls a skill gives it to the model;
// another word behind a slash is just text.
func TestSkillIsCalledByName(t *testing.T) {
	n := &noting{}
	n.Fixed = agent.Fixed{List: []agent.Tool{echoTool{agent.RiskWrite}}}
	k := notingTalk(t, n, modeltest.Say("one"), modeltest.Say("two"), modeltest.Calls(modeltest.Call("c", "echo", `{}`)), modeltest.Say("three"))
	send(t, k.s, "k1", "/deploy to  prod\nnow")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got, want := k.asked(t), "user: /deploy to  prod\nnow\n"+noted("skill deploy with to  prod\nnow"); got != want {
		t.Errorf("the model was given\n%s\nwant\n%s", got, want)
	}
	send(t, k.s, "k2", "/etc/hosts is what?")
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got := k.asked(t); !strings.HasSuffix(got, "user: /etc/hosts is what?") || len(noteEntries(k.w)) != 1 {
		t.Errorf("the model was given\n%s", got)
	}
	send(t, k.s, "k3", "work")
	k.w.wait(func() bool { return len(k.w.live.Approvals) == 1 })
	if _, err := k.s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k4", Text: "/deploy", Mode: session.ModeSteer}); err != nil {
		t.Fatal(err)
	}
	id := read(k.w, func() string { return k.w.live.Approvals[0].ID })
	if _, err := k.s.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{ApprovalID: id, Decision: api.DecisionAllow}); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.ended == 3 })
	if got := k.asked(t); !strings.HasSuffix(got, "<user-message-while-working>\n/deploy\n</user-message-while-working><note-from-scorel>\nskill deploy with \n</note-from-scorel>") {
		t.Errorf("the model was given\n%s", got)
	}
}

// A command that was canceled is not run again by the same prompt, sent again after its answer was
// lost.
func TestACanceledCommandIsNotRepeated(t *testing.T) {
	k := newTalk(t, 3)
	summaries := modeltest.New(modeltest.Step{Stall: true}, modeltest.Say("Ok."))
	k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4, Model: summaries}
	k.restart(t)
	send(t, k.s, "c1", "/compact")
	k.w.wait(func() bool { return k.w.live.Work != nil })
	turnID := read(k.w, func() string { return k.w.live.Turn.TurnID })
	if canceled, err := k.s.CancelTurn(t.Context(), turnID); !canceled || err != nil {
		t.Fatalf("%v %v", canceled, err)
	}
	k.w.wait(func() bool { return k.w.ended == 1 && len(k.w.live.Queue) == 0 })
	for range 2 {
		if got := send(t, k.s, "c1", "/compact"); got.State != api.PromptRemoved {
			t.Errorf("sent again: %+v", got)
		}
		k.restart(t)
	}
	if calls := len(summaries.Requests()); calls != 1 {
		t.Errorf("%d summaries were written", calls)
	}
}
