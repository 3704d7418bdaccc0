package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// heardOf records what a watcher hears, in order.
func heardOf(w *watcher) func() []string {
	var heard []string
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onEvent = func(e api.EventEnvelope) {
		switch event := e.Event.(type) {
		case api.WorkStarted, api.TurnStarted:
			heard = append(heard, event.EventType())
		case api.WorkEnded:
			heard = append(heard, strings.TrimSpace(event.EventType()+" "+event.Error))
		case api.TurnEnded:
			heard = append(heard, strings.TrimSpace(event.EventType()+" "+string(event.StopReason)+" "+event.Error))
		}
	}
	return func() []string { return read(w, func() []string { return append([]string{}, heard...) }) }
}

// overflowing calls a tool until the n-th call of the model, which does not fit.
func overflowing(n int, then ...modeltest.Step) []modeltest.Step {
	var steps []modeltest.Step
	for i := range n - 1 {
		steps = append(steps, modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "echo", fmt.Sprintf(`{"n":%d}`, i))))
	}
	return append(append(steps, modeltest.Step{Overflow: true}), then...)
}

// A prompt that does not fit in the middle of a turn is compacted by the log, and the
// turn continues with what it needs.
func TestOverflowInATurn(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(fmt.Sprint("call ", n), func(t *testing.T) {
			k := newTalk(t, 3, overflowing(n, modeltest.Say("it fits"), modeltest.Say("next"))...)
			k.f.deps.Summaries = sessions.Summaries{Share: 0.8, KeepTokens: 4, Model: modeltest.New(modeltest.Say("Ok."))}
			k.restart(t)
			heard := heardOf(k.w)
			send(t, k.s, "big", "the task")
			k.w.wait(func() bool { return k.w.ended == 1 })
			if got := strings.Join(heard(), ", "); got != "turn_started, work_started, work_ended, turn_ended stop" {
				t.Errorf("received %s", got)
			}
			made := compactions(k.w)
			if len(made) != 1 || made[0].Text("summary") != "Ok." || made[0].Text("turnId") == "" {
				t.Fatalf("%d compactions: %+v", len(made), made)
			}
			want := "user: the task"
			if n > 1 {
				want = fmt.Sprintf("toolResult: {\"n\":%d}", n-2)
			}
			if got := k.asked(t); !strings.Contains(got, "<summary>\nOk.") || !strings.HasSuffix(got, want) {
				t.Errorf("after the compaction the model was given\n%s", got)
			}
			k.restart(t)
			send(t, k.s, "after", "and now")
			k.w.wait(func() bool { return k.w.ended == 1 })
			if got := k.asked(t); !strings.HasSuffix(got, "assistant: it fits\nuser: and now") || len(compactions(k.w)) != 1 {
				t.Errorf("the next prompt: %d compactions, the model was given\n%s", len(compactions(k.w)), got)
			}
		})
	}
}

func TestOverflowAfterTheCompaction(t *testing.T) {
	k := newTalk(t, 3, overflowing(2, modeltest.Step{Overflow: true}, modeltest.Say("next"))...)
	k.f.deps.Summaries = sessions.Summaries{Share: 0.8, KeepTokens: 4, Model: modeltest.New(modeltest.Say("Ok."))}
	k.restart(t)
	heard := heardOf(k.w)
	send(t, k.s, "big", "the task")
	k.w.wait(func() bool { return k.w.ended == 1 })
	want := "turn_started, work_started, work_ended, turn_ended error the prompt is too long. " +
		"The session was already compacted, and what remains still does not fit."
	if got := strings.Join(heard(), ", "); got != want {
		t.Errorf("received %s", got)
	}
	send(t, k.s, "after", "and now")
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got := k.asked(t); !strings.HasSuffix(got, "user: and now") || len(compactions(k.w)) != 1 {
		t.Errorf("the next prompt: %d compactions, the model was given\n%s", len(compactions(k.w)), got)
	}
}

// Where people compact by hand only, a turn does not either.
func TestOverflowWithoutAShare(t *testing.T) {
	k := newTalk(t, 3, overflowing(2)...)
	k.f.deps.Summaries = sessions.Summaries{KeepTokens: 4}
	k.restart(t)
	heard := heardOf(k.w)
	send(t, k.s, "big", "the task")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := strings.Join(heard(), ", "); got != "turn_started, turn_ended error the prompt is too long" {
		t.Errorf("received %s", got)
	}
}

// The share of the window holds inside of a turn, once, and again when the turn has ended.
func TestShareInATurn(t *testing.T) {
	long := strings.Repeat("x", 800) // 200 tokens, once in the call and once in the result
	var steps []modeltest.Step
	for i := range 6 {
		steps = append(steps, modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "echo", fmt.Sprintf(`{"n":%d,"text":%q}`, i, long))))
	}
	f := newFixture(t, nil, echoTool{agent.RiskRead})
	model := modeltest.New(append(steps, modeltest.Say("done"), modeltest.Say("next"))...)
	f.deps.Models = windowed{oneModel{model}}
	f.deps.Summaries = sessions.Summaries{Share: 0.5, KeepTokens: 250, Model: modeltest.New(modeltest.Say("Ok."), modeltest.Say("Ok again."))}
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	heard := heardOf(w)
	send(t, s, "k", "the task")
	const want = "turn_started, work_started, work_ended, turn_ended stop, work_started, work_ended"
	w.wait(func() bool { return w.ended == 1 && w.live.Work == nil && len(compactionsOf(w.entries)) == 2 })
	if got := strings.Join(heard(), ", "); got != want {
		t.Errorf("received %s", got)
	}
}

// A cancel ends the summary that a turn waits for, and no model is called after it.
func TestCancelWhileATurnCompacts(t *testing.T) {
	k := newTalk(t, 3, overflowing(2, modeltest.Say("next"))...)
	k.f.deps.Summaries = sessions.Summaries{Share: 0.8, KeepTokens: 4, Model: modeltest.New(modeltest.Step{Stall: true})}
	k.restart(t)
	heard := heardOf(k.w)
	send(t, k.s, "big", "the task")
	k.w.wait(func() bool { return k.w.live.Work != nil })
	turnID := read(k.w, func() string { return k.w.live.Turn.TurnID })
	if canceled, err := k.s.CancelTurn(t.Context(), turnID); !canceled || err != nil {
		t.Fatalf("%v %v", canceled, err)
	}
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := strings.Join(heard(), ", "); got != "turn_started, work_started, work_ended it was canceled, turn_ended aborted" {
		t.Errorf("received %s", got)
	}
	requests := k.f.deps.Models.(oneModel).model.(*modeltest.Scripted).Requests()
	if len(requests) != 5 || len(compactions(k.w)) != 0 { // three of the talk, a call and the one that did not fit
		t.Errorf("%d model calls, %d compactions", len(requests), len(compactions(k.w)))
	}
	send(t, k.s, "after", "and now")
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got := k.asked(t); !strings.HasSuffix(got, "user: and now") {
		t.Errorf("the model was given\n%s", got)
	}
}

// noteEntries are the notes in the log as kind and text.
func noteEntries(w *watcher) []string {
	var list []string
	for _, e := range read(w, func() []session.Entry { return w.entries[:len(w.entries):len(w.entries)] }) {
		if e.Type == session.TypeCustomMessage {
			list = append(list, e.Text("content"))
		}
	}
	return list
}
