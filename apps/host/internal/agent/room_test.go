package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// longHistory has n answered calls whose results have about tokens tokens each.
func longHistory(n, tokens int) []session.Message {
	out := []session.Message{user("first")}
	for i := range n {
		id := fmt.Sprint("old", i)
		out = append(out, says(modeltest.Call(id, "read", `{}`)), result(id, strings.Repeat("abcd", tokens)))
	}
	return append(out, says(session.Text("done")), user("go"))
}

func outputs(request agent.Request) (whole, pruned int) {
	for _, m := range request.Messages {
		switch {
		case m.Role != session.RoleToolResult:
		case strings.HasPrefix(m.Content.Plain(), "[This result of about"):
			pruned++
		default:
			whole++
		}
	}
	return whole, pruned
}

// A prompt that is too long is made again with less: first without old results,
// newest kept longest, then compacted once, then without any old result.
func TestOverflow(t *testing.T) {
	over, ok := modeltest.Step{Overflow: true}, modeltest.Say("fine")
	short := []session.Message{user("a summary"), says(session.Text("ok")), user("go")}
	tests := []struct {
		name    string
		steps   []modeltest.Step
		window  int
		compact []session.Message
		want    []string // whole and pruned results of each request
		stop    session.StopReason
	}{
		{"old results go first", []modeltest.Step{over, ok}, 0, nil, []string{"10+0", "4+6"}, session.StopEnd},
		{"then it is compacted", []modeltest.Step{over, over, ok}, 0, short, []string{"10+0", "4+6", "0+0"}, session.StopEnd},
		{"compacted once only", []modeltest.Step{over, over, over}, 0, short, []string{"10+0", "4+6", "0+0"}, session.StopError},
		{"without a way to compact all go", []modeltest.Step{over, over, ok}, 0, nil, []string{"10+0", "4+6", "0+10"}, session.StopEnd},
		{"in the end it fails", []modeltest.Step{over, over, over}, 0, nil, []string{"10+0", "4+6", "0+10"}, session.StopError},
		{"a known window is not run into", []modeltest.Step{ok}, 80_000, nil, []string{"2+8"}, session.StopEnd},
		{"a large one does nothing", []modeltest.Step{ok}, 200_000, short, []string{"10+0"}, session.StopEnd},
		{"a small one is compacted before", []modeltest.Step{ok}, 200, short, []string{"0+0"}, session.StopEnd},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, w := modeltest.New(test.steps...), &world{}
			turn := turnOf(w, model)
			turn.Messages, turn.ContextWindow = longHistory(10, 10_000), test.window
			if test.compact != nil {
				turn.Compact = func(context.Context, []session.Message) ([]session.Message, error) { return test.compact, nil }
			}
			before, _ := json.Marshal(turn.Messages)
			outcome := agent.RunTurn(t.Context(), turn)
			var got []string
			for _, request := range model.Requests() {
				whole, pruned := outputs(request)
				got = append(got, fmt.Sprintf("%d+%d", whole, pruned))
			}
			if !slices.Equal(got, test.want) || outcome.StopReason != test.stop {
				t.Errorf("requests %v, want %v; outcome %+v", got, test.want, outcome)
			}
			if after, _ := json.Marshal(turn.Messages); string(after) != string(before) {
				t.Error("the history itself was changed")
			}
			resets := len(slices.DeleteFunc(slices.Clone(w.trace), func(s string) bool { return s != "message_reset" }))
			if len(w.messages) != 1 || resets != len(test.want)-1 {
				t.Errorf("%d messages kept, %d resets: %v", len(w.messages), resets, w.trace)
			}
		})
	}
}

func TestOverflowWithoutRoom(t *testing.T) {
	model := modeltest.New(modeltest.Step{Overflow: true})
	turn := turnOf(&world{}, model)
	turn.Compact = func(context.Context, []session.Message) ([]session.Message, error) {
		return nil, errors.New("no model")
	}
	outcome := agent.RunTurn(t.Context(), turn)
	if outcome.StopReason != session.StopError || outcome.Error != "the prompt is too long" || len(model.Requests()) != 1 {
		t.Errorf("%+v after %d requests", outcome, len(model.Requests()))
	}
}

// A turn that stays over its limit leaves results out in batches: in between the prompt
// begins with all of the one before, and a call costs what is new.
func TestRoomIsMadeInBatches(t *testing.T) {
	const calls, tokens = 100, 1000
	for name, c := range map[string]struct {
		before []session.Message
		usage  bool // answers report what the prompt had
		most   int  // changes of the prompt's beginning
	}{
		"one long turn":            {[]session.Message{user("go")}, false, 4},
		"after a long history":     {longHistory(100, tokens), false, 8},
		"what stays is too much":   {[]session.Message{user(strings.Repeat("abcd", 100_000)), says(session.Text("ok")), user("go")}, false, 11},
		"with counts of the model": {longHistory(100, tokens), true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			h := agent.HistoryOf(c.before)
			room := agent.RoomOf(h, 80_000)
			changes, looked := 0, 0
			var before []session.Message
			for i := range calls {
				looked -= h.Looked()
				room.Make(t.Context())
				now := h.Repaired()
				if len(now) < len(before) || !reflect.DeepEqual(now[:len(before)], before) {
					changes++
				}
				before = now
				answer := says(modeltest.Call(fmt.Sprint("c", i), "read", `{}`))
				if c.usage {
					answer.Usage = &session.Usage{TotalTokens: estimated(now)}
				}
				h.Add(answer, result(fmt.Sprint("c", i), strings.Repeat("abcd", tokens)))
				looked += h.Looked()
			}
			if changes == 0 || changes > c.most {
				t.Errorf("the beginning changed %d times in %d calls, want at most %d", changes, calls, c.most)
			}
			// What is new is looked at when it is added and when it is repaired; a change
			// repairs all once more, and looks for what may go since the last one.
			all := len(h.Messages())
			if most := 4*2*calls + (changes+1)*all + 2*all; looked > most {
				t.Errorf("%d messages were looked at in %d calls, want at most %d", looked, calls, most)
			}
		})
	}
}

// estimated is about how many tokens messages have.
func estimated(messages []session.Message) int {
	all, _, _ := sizeOf(messages)
	return all
}

// Each request begins with all of the one before: what is there is in the
// provider's cache.
func TestPrefixIsStable(t *testing.T) {
	model := modeltest.New(scripts()["thinking, text and calls"]...)
	agent.RunTurn(t.Context(), turnOf(&world{}, model, echo("read", agent.RiskRead), echo("write", agent.RiskWrite)))
	requests := model.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1], requests[i]
		if now.System != before.System || !reflect.DeepEqual(now.Tools, before.Tools) ||
			!reflect.DeepEqual(now.Messages[:len(before.Messages)], before.Messages) {
			t.Errorf("request %d does not begin with the one before", i)
		}
	}
}

// A call that gave the same result three times asks before it is made once more,
// also one that only reads.
func TestRepeatedCallsAsk(t *testing.T) {
	same := func(id string) modeltest.Step { return modeltest.Calls(modeltest.Call(id, "read", `{"x":1}`)) }
	write := func(id string) modeltest.Step { return modeltest.Calls(modeltest.Call(id, "write", `{}`)) }
	tests := []struct {
		name  string
		steps []modeltest.Step
		want  string // the calls that asked
	}{
		{"three do not", []modeltest.Step{same("1"), same("2"), same("3")}, ""},
		{"the fourth does, and again after three more of them", []modeltest.Step{same("1"), same("2"), same("3"), same("4"), same("5"), same("6"), same("7"), same("8")}, "4 8"},
		{"a change resets the count", []modeltest.Step{same("1"), same("2"), same("3"), write("w"), same("4"), same("5"), same("6"), same("7")}, "w 7"},
		{"in turn with another", []modeltest.Step{
			same("1"), modeltest.Calls(modeltest.Call("a", "read", `{}`)), same("2"), modeltest.Calls(modeltest.Call("b", "read", `{}`)), same("3"), same("4"),
		}, "4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			w := &world{decide: func(_ context.Context, call agent.Call) (api.Decision, error) {
				asked = append(asked, call.ID)
				return api.DecisionDeny, nil
			}}
			model := modeltest.New(append(test.steps, modeltest.Say("done"))...)
			agent.RunTurn(t.Context(), turnOf(w, model, echo("read", agent.RiskRead), fake{"write", agent.RiskWrite, echo("write", agent.RiskWrite).run}))
			if got := strings.Join(asked, " "); got != test.want {
				t.Errorf("asked for %q, want %q", got, test.want)
			}
			results(t, w.messages)
		})
	}
}

// BenchmarkStep is what one step costs without the model and the tool: a call of a
// tool, its result and the next model call, at the end of a turn of 100 steps.
func BenchmarkStep(b *testing.B) {
	const steps = 100
	for b.Loop() {
		script := make([]modeltest.Step, 0, steps)
		for i := range steps - 1 {
			script = append(script, modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "read", fmt.Sprintf(`{"n":%d}`, i))))
		}
		w := &quiet{}
		turn := turnOf(nil, &unchecked{steps: append(script, modeltest.Say("done"))}, echo("read", agent.RiskRead))
		turn.Journal, turn.Gate, turn.Sink, turn.ContextWindow = w, w, w, 1_000_000
		if outcome := agent.RunTurn(b.Context(), turn); outcome.StopReason != session.StopEnd {
			b.Fatal(outcome)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/steps, "µs/step")
}

// quiet keeps nothing.
type quiet struct{}

func (*quiet) Append(context.Context, session.Message) error { return nil }
func (*quiet) Emit(api.Event)                                {}
func (*quiet) Ask(context.Context, agent.Call, agent.Description) (api.Decision, error) {
	return api.DecisionAllow, nil
}

// unchecked plays steps at once.
type unchecked struct {
	steps []modeltest.Step
	first func() // before the first step; nil is nothing
}

func (u *unchecked) Stream(_ context.Context, _ agent.Request, emit func(agent.Delta)) session.Message {
	if u.first != nil {
		u.first()
		u.first = nil
	}
	step := u.steps[0]
	u.steps = u.steps[1:]
	for i, block := range step.Content {
		emit(agent.Delta{Kind: agent.DeltaStart, Index: i, Block: block.Type, ID: block.ID, Name: block.Name})
		emit(agent.Delta{Kind: agent.DeltaText, Index: i, Text: block.Text + string(block.Arguments)})
	}
	return session.Message{Role: session.RoleAssistant, Content: step.Content}
}

// Some servers count the calls of each answer from 0: in the log every call has an
// id of its own all the same.
func TestIDsAreUniqueInALog(t *testing.T) {
	model := modeltest.New(
		modeltest.Calls(modeltest.Call("call_0", "read", `{"n":1}`)), modeltest.Calls(modeltest.Call("call_0", "read", `{"n":2}`)), modeltest.Say("done"))
	w := &world{}
	turn := turnOf(w, model, echo("read", agent.RiskRead))
	turn.Messages = []session.Message{user("first"), says(modeltest.Call("call_0", "read", `{}`)), result("call_0", "old"), user("go")}
	agent.RunTurn(t.Context(), turn)
	got := results(t, w.messages)
	if len(got) != 2 || got["call_0"] != "" {
		t.Errorf("results %v", got)
	}
}
