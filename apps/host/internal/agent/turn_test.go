package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// world is journal, sink and gate of a turn under test. Everything that happens
// goes through step, in one order.
type world struct {
	mu       sync.Mutex
	trace    []string
	messages []session.Message
	onStep   func(n int) // after the n-th step, 1 is the first
	decide   func(context.Context, agent.Call) (api.Decision, error)
	failAt   int // Append fails from this call on; 0 is never
}

func (w *world) step(text string) {
	w.mu.Lock()
	w.trace = append(w.trace, text)
	n := len(w.trace)
	w.mu.Unlock()
	if w.onStep != nil {
		w.onStep(n)
	}
}

func (w *world) Append(ctx context.Context, m session.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := ctx.Deadline(); !ok {
		return errors.New("append without a deadline")
	}
	if _, err := session.Encode(m); err != nil {
		return err
	}
	w.mu.Lock()
	if w.failAt > 0 && len(w.messages)+1 >= w.failAt {
		w.mu.Unlock()
		return errors.New("disk full")
	}
	w.messages = append(w.messages, m)
	w.mu.Unlock()
	w.step(fmt.Sprintf("append %s %s%s", m.Role, m.ToolCallID, m.StopReason))
	return nil
}

func (w *world) Emit(event api.Event) {
	switch e := event.(type) {
	case api.BlockStarted:
		w.step(fmt.Sprintf("block %d %s", e.Index, e.Block))
	case api.BlockDelta:
		w.step("delta " + e.Delta)
	case api.ToolStarted:
		w.step("start " + e.ToolCallID)
	case api.ToolOutput:
		w.step("output " + e.ToolCallID + " " + e.Delta)
	default:
		w.step(event.EventType())
	}
}

func (w *world) Ask(ctx context.Context, call agent.Call, what agent.Description) (api.Decision, error) {
	w.step("ask " + call.ID + " " + what.Title)
	if w.decide == nil {
		return api.DecisionAllow, nil
	}
	return w.decide(ctx, call)
}

// fake is a tool made of a function.
type fake struct {
	name string
	risk agent.Risk
	run  func(ctx context.Context, call agent.Call, progress func(string)) agent.Result
}

func (f fake) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: f.name, Description: "Test tool.", Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (f fake) Risk() agent.Risk { return f.risk }
func (f fake) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: f.name + " " + string(call.Arguments)}
}
func (f fake) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	return f.run(ctx, call, progress)
}

// echo answers with its arguments and says that it was canceled when it was.
func echo(name string, risk agent.Risk) fake {
	return fake{name, risk, func(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
		progress("working")
		if ctx.Err() != nil {
			return agent.Cancelled(0, "")
		}
		return agent.Success(name + " " + string(call.Arguments))
	}}
}

func user(text string) session.Message {
	return session.Message{Role: session.RoleUser, Content: session.Content{session.Text(text)}}
}

func turnOf(w *world, model agent.Model, tools ...agent.Tool) agent.Turn {
	return agent.Turn{
		Model: model, Tools: tools, Journal: w, Gate: w, Sink: w, System: "test",
		Messages: []session.Message{user("go")}, Cwd: "/project", Provider: "p", ModelID: "m",
	}
}

// results maps call ids to the texts of their results, and fails on a call
// without exactly one.
func results(t *testing.T, messages []session.Message) map[string]string {
	t.Helper()
	calls, texts := map[string]int{}, map[string]string{}
	for _, m := range messages {
		for _, call := range m.Content.ToolCalls() {
			calls[call.ID]++
		}
		if m.Role == session.RoleToolResult {
			if _, twice := texts[m.ToolCallID]; twice {
				t.Errorf("call %s has two results", m.ToolCallID)
			}
			texts[m.ToolCallID] = m.Content.Plain()
		}
	}
	for id := range calls {
		if _, ok := texts[id]; !ok {
			t.Errorf("call %s has no result", id)
		}
	}
	if len(texts) != len(calls) {
		t.Errorf("%d results for %d calls", len(texts), len(calls))
	}
	return texts
}

func TestRunTurnOrder(t *testing.T) {
	w := &world{}
	model := modeltest.New(
		modeltest.Step{Content: session.Content{session.Text("I look"), modeltest.Call("c1", "read", `{"a":1}`)}, Piece: 100},
		modeltest.Step{Content: session.Content{session.Text("done")}, FailFirst: 1, Piece: 100},
	)
	outcome := agent.RunTurn(t.Context(), turnOf(w, model, echo("read", agent.RiskRead)))
	if outcome != (agent.Outcome{StopReason: session.StopEnd}) {
		t.Errorf("outcome = %+v", outcome)
	}
	want := []string{
		"message_started", "block 0 text", "delta I look", "block 1 toolCall", `delta {"a":1}`, "append assistant toolUse",
		"start c1", "output c1 working", "append toolResult c1",
		"message_started", "block 0 text", "delta done", "message_reset", "block 0 text", "delta done", "append assistant stop",
	}
	if !slices.Equal(w.trace, want) {
		t.Errorf("trace:\n%s\nwant:\n%s", strings.Join(w.trace, "\n"), strings.Join(want, "\n"))
	}
	if got := w.messages[0]; got.Provider != "p" || got.Model != "m" || got.Timestamp == 0 || got.Usage == nil {
		t.Errorf("the message lacks its origin: %+v", got)
	}
}

func TestRunTurnResults(t *testing.T) {
	tests := []struct {
		name   string
		call   session.Block
		stop   session.StopReason
		decide func(context.Context, agent.Call) (api.Decision, error)
		want   string
		error  bool
	}{
		{"a read tool runs", modeltest.Call("c", "read", `{}`), "", nil, "read {}", false},
		{"an allowed write runs", modeltest.Call("c", "write", `{}`), "", nil, "write {}", false},
		{"empty arguments are an empty object", modeltest.Call("c", "read", ``), "", nil, "read {}", false},
		{"unknown tool", modeltest.Call("c", "fly", `{}`), "", nil, `There is no tool "fly". The tools are: panics, quiet, read, write.`, true},
		{"broken JSON", modeltest.Call("c", "read", `{"a":`), "", nil, "were not valid JSON", true},
		{"too deep", modeltest.Call("c", "read", `{"path":`+strings.Repeat("[", 9995)+strings.Repeat("]", 9995)+`}`), "", nil, "the arguments are nested too deeply: arrays and objects may be 64 levels deep", true},
		{"no object", modeltest.Call("c", "read", `[1]`), "", nil, "were not valid JSON", true},
		{"cut by the limit", modeltest.Call("c", "read", `{}`), session.StopLength, nil, agent.TextCut, true},
		{"the model failed", modeltest.Call("c", "read", `{}`), session.StopError, nil, agent.TextModelFailed, true},
		{"denied", modeltest.Call("c", "write", `{}`), "", answer(api.DecisionDeny, nil), agent.TextDenied, true},
		{"no decision is a no", modeltest.Call("c", "write", `{}`), "", answer("", nil), agent.TextDenied, true},
		{"a yes with an error is a no", modeltest.Call("c", "write", `{}`), "", answer(api.DecisionAllow, errors.New("lost")), agent.TextNotApproved, true},
		{"canceled by the gate", modeltest.Call("c", "write", `{}`), "", answer(api.DecisionCancelled, nil), agent.TextNotStarted, true},
		{"no output", modeltest.Call("c", "quiet", `{}`), "", nil, agent.TextNoOutput, false},
		{"a fault of the tool", modeltest.Call("c", "panics", `{}`), "", nil, "because of a bug in it: boom", true},
	}
	tools := []agent.Tool{
		echo("read", agent.RiskRead), echo("write", agent.RiskWrite),
		fake{"quiet", agent.RiskRead, func(context.Context, agent.Call, func(string)) agent.Result { return agent.Result{} }},
		fake{"panics", agent.RiskRead, func(context.Context, agent.Call, func(string)) agent.Result { panic("boom") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &world{decide: test.decide}
			step := modeltest.Calls(test.call)
			step.Stop = test.stop
			outcome := agent.RunTurn(t.Context(), turnOf(w, modeltest.New(step, modeltest.Say("ok")), tools...))
			if got := results(t, w.messages)["c"]; !strings.Contains(got, test.want) {
				t.Errorf("result = %q, want %q", got, test.want)
			}
			if got := *w.messages[1].IsError; got != test.error {
				t.Errorf("isError = %v", got)
			}
			if wantStop := map[bool]session.StopReason{true: session.StopError, false: session.StopEnd}[test.stop == session.StopError]; outcome.StopReason != wantStop {
				t.Errorf("outcome = %+v, want %s", outcome, wantStop)
			}
		})
	}
}

func answer(decision api.Decision, err error) func(context.Context, agent.Call) (api.Decision, error) {
	return func(context.Context, agent.Call) (api.Decision, error) { return decision, err }
}

func TestRunTurnEnds(t *testing.T) {
	loop := make([]modeltest.Step, 5)
	for i := range loop {
		loop[i] = modeltest.Calls(modeltest.Call(fmt.Sprint("c", i), "read", `{}`))
	}
	tests := []struct {
		name   string
		steps  []modeltest.Step
		failAt int
		want   session.StopReason
		error  string
		kept   int
	}{
		{"end", []modeltest.Step{modeltest.Say("hi")}, 0, session.StopEnd, "", 1},
		{"length", []modeltest.Step{{Content: session.Content{session.Text("half")}, Stop: session.StopLength}}, 0, session.StopLength, "", 1},
		{"error without text is kept too", []modeltest.Step{{Stop: session.StopError, Error: "HTTP 500"}}, 0, session.StopError, "HTTP 500", 1},
		{"steps", loop, 0, session.StopError, "stopped after 3 model calls", 6},
		{"the journal fails at the message", []modeltest.Step{modeltest.Say("hi")}, 1, session.StopError, "disk full", 0},
		{"the journal fails at a result", loop[:1], 2, session.StopError, "storing the result of read", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &world{failAt: test.failAt}
			turn := turnOf(w, modeltest.New(test.steps...), echo("read", agent.RiskRead))
			turn.MaxSteps = 3
			outcome := agent.RunTurn(t.Context(), turn)
			if outcome.StopReason != test.want || !strings.Contains(outcome.Error, test.error) || (test.error == "") != (outcome.Error == "") {
				t.Errorf("outcome = %+v", outcome)
			}
			if len(w.messages) != test.kept {
				t.Errorf("%d messages kept, want %d", len(w.messages), test.kept)
			}
		})
	}
}

// Read calls meet in the middle, so they must run side by side; the write between
// them runs alone; results come in call order although the last read ends first.
func TestRunTurnParallel(t *testing.T) {
	w := &world{}
	var mu sync.Mutex
	active := map[string]int{}
	meet := make(chan struct{})
	var met sync.WaitGroup
	met.Add(3)
	go func() { met.Wait(); close(meet) }()
	count := func(name string, by int) {
		mu.Lock()
		defer mu.Unlock()
		active[name] += by
		if active["write"] > 0 && active["read"]+active["write"] > 1 {
			t.Error("a write runs beside another call")
		}
	}
	lastEnded := make(chan struct{})
	read := fake{"read", agent.RiskRead, func(_ context.Context, call agent.Call, _ func(string)) agent.Result {
		count("read", 1)
		defer count("read", -1)
		if call.ID == "r4" {
			return agent.Success("r4")
		}
		met.Done()
		<-meet
		if call.ID == "r3" {
			close(lastEnded)
		} else {
			<-lastEnded
		}
		return agent.Success(call.ID)
	}}
	write := fake{"write", agent.RiskWrite, func(_ context.Context, call agent.Call, _ func(string)) agent.Result {
		count("write", 1)
		defer count("write", -1)
		return agent.Success(call.ID)
	}}
	model := modeltest.New(modeltest.Calls(
		modeltest.Call("r1", "read", `{}`), modeltest.Call("r2", "read", `{}`), modeltest.Call("r3", "read", `{}`),
		modeltest.Call("w1", "write", `{}`), modeltest.Call("w2", "write", `{}`), modeltest.Call("r4", "read", `{}`),
	), modeltest.Say("ok"))
	agent.RunTurn(t.Context(), turnOf(w, model, read, write))
	var order []string
	for _, m := range w.messages {
		if m.Role == session.RoleToolResult {
			order = append(order, m.ToolCallID)
		}
	}
	if want := []string{"r1", "r2", "r3", "w1", "w2", "r4"}; !slices.Equal(order, want) {
		t.Errorf("results in order %v, want %v", order, want)
	}
}

// The model sees the broken arguments that it wrote, and the log stays JSON.
func TestInvalidArgumentsAreKept(t *testing.T) {
	w := &world{}
	model := modeltest.New(modeltest.Calls(modeltest.Call("c", "read", `{"path": "a`)), modeltest.Say("ok"))
	agent.RunTurn(t.Context(), turnOf(w, model, echo("read", agent.RiskRead)))
	var kept map[string]string
	if err := json.Unmarshal(w.messages[0].Content[0].Arguments, &kept); err != nil {
		t.Fatal(err)
	}
	if kept["_invalid_arguments"] != `{"path": "a` {
		t.Errorf("arguments = %v", kept)
	}
}

func TestDuplicateIDsAreReported(t *testing.T) {
	w := &world{}
	model := modeltest.New(modeltest.Calls(
		modeltest.Call("c", "read", `{"n":1}`), modeltest.Call("c", "read", `{"n":2}`), modeltest.Call("", "read", `{"n":3}`)),
		modeltest.Say("ok"))
	outcome := agent.RunTurn(t.Context(), turnOf(w, model, echo("read", agent.RiskRead)))
	if got := results(t, w.messages); len(got) != 3 || outcome.StopReason != session.StopEnd {
		t.Errorf("results = %v, outcome = %+v", got, outcome)
	}
}
