package model

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// desk is the journal, permission check and sink of turns against a strict server.
type desk struct {
	mu      sync.Mutex
	history []session.Message
	steps   int
	onStep  func(n int)
	resets  int
	steers  func() bool // whether the user steers now; nil means never
}

// Steer sometimes sends a message to the running turn.
func (d *desk) Steer(context.Context) ([]session.Message, error) {
	if d.steers == nil || !d.steers() {
		return nil, nil
	}
	said := session.Message{Role: session.RoleUser, Content: session.Content{session.Text("and this")}, Steer: true}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.history = append(d.history, said)
	return []session.Message{said}, nil
}

func (d *desk) step() {
	d.mu.Lock()
	d.steps++
	n := d.steps
	d.mu.Unlock()
	if d.onStep != nil {
		d.onStep(n)
	}
}

func (d *desk) Append(_ context.Context, m session.Message) error {
	// Use what the log would return, so that a session continues after a restart.
	data, err := session.Encode(m)
	if err != nil {
		return err
	}
	var read session.Message
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	d.mu.Lock()
	d.history = append(d.history, read)
	d.mu.Unlock()
	d.step()
	return nil
}

func (d *desk) Emit(event api.Event) {
	if _, ok := event.(api.MessageReset); ok {
		d.resets++
	}
	d.step()
}

func (d *desk) Ask(context.Context, agent.Call, agent.Description) (api.Decision, error) {
	d.step()
	return api.DecisionAllow, nil
}

// testTool returns its arguments, or an image if requested.
type testTool struct {
	name string
	risk agent.Risk
}

func (f testTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: f.name, Description: "A tool.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}
func (f testTool) Risk() agent.Risk                      { return f.risk }
func (f testTool) Describe(agent.Call) agent.Description { return agent.Description{Title: f.name} }
func (f testTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	progress("working")
	if ctx.Err() != nil {
		return agent.Cancelled(0, "")
	}
	result := agent.Success(f.name + " " + string(call.Arguments))
	if strings.Contains(string(call.Arguments), "image") {
		result.Content = session.Content{modeltest.Picture()}
	}
	return result
}

// baseURL returns the URL at which a server speaks the protocol of a kind.
func baseURL(kind, url string) string {
	switch kind {
	case TypeAnthropic:
		return url
	case TypeGoogle:
		return url + "/v1beta"
	}
	return url + "/v1"
}

// play runs one turn with a prompt against a new server, which must not reject anything.
func play(t *testing.T, ctx context.Context, d *desk, config Config, level agent.ThinkingLevel, steps ...modeltest.Step) agent.Outcome {
	t.Helper()
	server := modeltest.Serve(steps...)
	defer server.Close()
	config.Provider, config.BaseURL = "the-"+config.Type, baseURL(config.Type, server.URL)
	made, c := build(t, config)
	c.idle = time.Minute
	defer c.http.CloseIdleConnections()
	d.history = append(d.history, ask("go on").Messages...)
	outcome := agent.RunTurn(ctx, agent.Turn{
		Model: made, Journal: d, Gate: d, Sink: d, Steer: d.Steer, System: "be brief", Messages: d.history, Cwd: "/",
		Tools: []agent.Tool{testTool{"read", agent.RiskRead}, testTool{"write", agent.RiskWrite}}, Thinking: level, CacheKey: "s", Images: true,
	})
	if refused := server.Refusals(); len(refused) > 0 {
		t.Errorf("%s %s refused: %s\nhistory %s", config.Type, config.Model, strings.Join(refused, "; "), outline(d.history))
	}
	return outcome
}

// outline prints a history on a few lines.
func outline(messages []session.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "\n%s %s%s:", m.Role, m.StopReason, m.ToolCallID)
		for _, block := range m.Content {
			fmt.Fprintf(&b, " [%s %s%s%s]", block.Type, block.ID, block.Text, block.Thinking)
		}
	}
	return b.String()
}

func goldenSteps() map[string][]modeltest.Step {
	thinking := session.Block{Type: session.BlockThinking, Thinking: "let me see"}
	return map[string][]modeltest.Step{
		"calls": {
			{Piece: 16, Content: session.Content{thinking, session.Text("I read two"), modeltest.Call("a", "read", `{"path":"x"}`), modeltest.Call("b", "read", `{"image":1}`)}},
			{Piece: 16, Content: session.Content{thinking, modeltest.Call("c", "write", `{"path":"y"}`), modeltest.Call("d", "fly", `{}`)}},
			modeltest.Say("All done."),
		},
		"faults": {
			{Piece: 16, Content: session.Content{session.Text("a first answer"), modeltest.Call("a", "read", `{}`)},
				Faults: []modeltest.Fault{{Status: 529}, {Drop: true}, {Status: 429, RetryAfter: "0.001"}}},
			modeltest.Say("Done."),
		},
		"cut": {
			{Piece: 16, Stop: session.StopLength, Content: session.Content{session.Text("I write"), modeltest.Call("a", "write", `{"text":"long"}`)}},
			modeltest.Say("Done."),
		},
	}
}

var testIDs = map[string]string{
	TypeOpenAI: "gpt-4o", TypeResponses: "gpt-5", TypeAnthropic: "claude-sonnet-4-5", TypeGoogle: "gemini-3-pro-preview",
}

// TestEveryWireTellsTheSame: one script yields the same messages over every protocol, and
// its requests are accepted.
func TestEveryWireTellsTheSame(t *testing.T) {
	for name, steps := range goldenSteps() {
		t.Run(name, func(t *testing.T) {
			var first []session.Message
			for _, kind := range kinds {
				d := &desk{}
				outcome := play(t, t.Context(), d, Config{Type: kind, Model: testIDs[kind]}, agent.ThinkingLow, steps...)
				if outcome.StopReason != session.StopEnd {
					t.Fatalf("%s: %+v", kind, outcome)
				}
				if name == "faults" && d.resets != 3 {
					t.Errorf("%s: %d resets", kind, d.resets)
				}
				got := plain(d.history)
				if first == nil {
					first = got
				}
				if !reflect.DeepEqual(got, first) {
					t.Errorf("%s tells%s\n%s tells%s", kind, outline(got), kinds[0], outline(first))
				}
			}
		})
	}
}

// plain keeps only what the script determines. Truncated arguments differ: one protocol has
// none before they are complete.
func plain(messages []session.Message) []session.Message {
	out := make([]session.Message, 0, len(messages))
	for _, m := range messages {
		kept := session.Message{Role: m.Role, StopReason: m.StopReason, ToolCallID: m.ToolCallID}
		for _, block := range m.Content {
			block.ThinkingSignature, block.ThoughtSignature, block.TextSignature = "", "", ""
			if m.StopReason == session.StopLength {
				block.Arguments = nil
			}
			kept.Content = append(kept.Content, block)
		}
		out = append(out, kept)
	}
	return out
}

// TestCancelAnywhereOnTheWire cancels after every event of every protocol: each call has
// one result, and the same provider and another accept the next prompt.
func TestCancelAnywhereOnTheWire(t *testing.T) {
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for name, steps := range goldenSteps() {
				for k, reached := 1, true; reached; k++ {
					next := kinds[(i+k)%len(kinds)]
					if reached = cancelOnWire(t, kind, next, k, steps); k > 300 {
						t.Fatalf("%s does not end", name)
					}
				}
			}
		})
	}
}

func cancelOnWire(t *testing.T, kind, next string, k int, steps []modeltest.Step) (reached bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &desk{onStep: func(n int) {
		if n == k {
			cancel()
		}
	}}
	outcome := play(t, ctx, d, Config{Type: kind, Model: testIDs[kind]}, agent.ThinkingLow, steps...)
	reached = ctx.Err() != nil
	if reached && outcome.StopReason != session.StopAborted {
		t.Errorf("cancel at %d: %+v", k, outcome)
	}
	if err := modeltest.CheckAnswered(d.history); err != nil {
		t.Errorf("%v%s", err, outline(d.history))
	}
	d.onStep = nil
	if outcome := play(t, t.Context(), d, Config{Type: next, Model: testIDs[next]}, agent.ThinkingLow, modeltest.Say("ok")); outcome.StopReason != session.StopEnd {
		t.Errorf("cancel at %d, then %s: %+v%s", k, next, outcome, outline(d.history))
	}
	return reached
}

// TestStallOnTheWire: a stall ends at the idle limit, and the call is retried.
func TestStallOnTheWire(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := modeltest.Serve(modeltest.Step{Content: session.Content{session.Text("a whole answer")}, Faults: []modeltest.Fault{{Stall: true}}})
			defer server.Close()
			made, c := build(t, Config{Type: kind, Model: testIDs[kind], BaseURL: baseURL(kind, server.URL)})
			c.idle = time.Second
			message, deltas := stream(t, t.Context(), made)
			if message.Content.Plain() != "a whole answer" || len(deltas.resets) == 0 {
				t.Errorf("%+v after %d resets", message, len(deltas.resets))
			}
			deltas.check(t, message)
		})
	}
}

// TestOverflowOnTheWire: a prompt that the server rejects as too long is reported as such
// by every provider.
func TestOverflowOnTheWire(t *testing.T) {
	for _, kind := range kinds {
		server := modeltest.Serve(modeltest.Step{Faults: []modeltest.Fault{{Status: 400, Text: "prompt is too long: 3 tokens > 2 maximum"}}})
		defer server.Close()
		made, _ := build(t, Config{Type: kind, Model: testIDs[kind], BaseURL: baseURL(kind, server.URL)})
		overflow := 0
		message := made.Stream(t.Context(), ask("x"), func(d agent.Delta) {
			if d.Kind == agent.DeltaOverflow {
				overflow++
			}
		})
		if overflow != 1 || message.StopReason != session.StopError || !strings.Contains(message.ErrorMessage, "start a new session") {
			t.Errorf("%s: %d, %+v", kind, overflow, message)
		}
	}
}
