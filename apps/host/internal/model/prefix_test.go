package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// cacheMark is Anthropic's cache mark. It moves with the conversation and is ignored in the
// comparison.
var cacheMark = regexp.MustCompile(`,?"cache_control":\{"type":"ephemeral"\}`)

// parts splits the body of a request into what precedes the messages for a provider (system
// prompt and tools) and the messages, as they are on the wire.
func parts(t *testing.T, kind string, body []byte) (head string, messages []json.RawMessage) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(cacheMark.ReplaceAll(body, nil), &fields); err != nil {
		t.Fatal(err)
	}
	list := map[string]string{TypeOpenAI: "messages", TypeResponses: "input", TypeAnthropic: "messages", TypeGoogle: "contents"}[kind]
	if err := json.Unmarshal(fields[list], &messages); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"system", "instructions", "systemInstruction", "tools", "model", "prompt_cache_key", "reasoning", "thinking"} {
		head += fmt.Sprintf("%s=%s\n", name, fields[name])
	}
	return head, messages
}

// begins reports whether a message is the beginning of another one: the last message of a
// request may have grown by text of the user or the host.
func begins(short, long json.RawMessage) bool {
	short = bytes.TrimRight(short, `]}`)
	return bytes.HasPrefix(long, short)
}

// TestPrefixOnTheWire: every request of a session begins with all bytes of the previous
// one, across steps and turns, steering, notes and the step without tools. That prefix is
// in the provider's cache.
func TestPrefixOnTheWire(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			server := modeltest.Serve(prefixSteps()...)
			defer server.Close()
			config := Config{Type: kind, Model: testIDs[kind], Provider: "the-" + kind, BaseURL: baseURL(kind, server.URL)}
			said := 0
			d := &desk{steers: func() bool { said++; return said == 3 }}
			for range 3 {
				made, c := build(t, config) // as after a restart
				d.history = append(d.history, ask("go on").Messages...)
				outcome := agent.RunTurn(t.Context(), agent.Turn{
					Model: made, Journal: d, Gate: d, Sink: d, Steer: d.Steer, Tell: d.Tell, System: "be brief", Messages: d.history, Cwd: "/", MaxSteps: 4,
					Tools: []agent.Tool{testTool{"read", agent.RiskRead}, testTool{"write", agent.RiskWrite}}, Thinking: agent.ThinkingLow, CacheKey: "s",
				})
				c.http.CloseIdleConnections()
				if outcome.StopReason != session.StopEnd {
					t.Fatalf("%+v %v", outcome, server.Refusals())
				}
			}
			bodies := server.Bodies()
			if len(bodies) != 8 {
				t.Fatalf("%d requests", len(bodies))
			}
			for i := 1; i < len(bodies); i++ {
				samePrefix(t, kind, i, bodies[i-1], bodies[i])
			}
		})
	}
}

// Tell stores a note like a session's log.
func (d *desk) Tell(_ context.Context, note session.Note) (session.Message, error) {
	message := agent.NoteMessage(note)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.history = append(d.history, message)
	return message, nil
}

// prefixSteps are three turns with three, four and one calls.
func prefixSteps() []modeltest.Step {
	thinking := session.Block{Type: session.BlockThinking, Thinking: "let me see"}
	call := func(id, name string) modeltest.Step {
		return modeltest.Step{Piece: 64, Content: session.Content{thinking, session.Text("I " + name), modeltest.Call(id, name, `{"path":"`+id+`"}`)}}
	}
	two := call("a", "read")
	two.Content = append(two.Content, modeltest.Call("b", "read", `{"image":1}`))
	return []modeltest.Step{
		two, call("c", "write"), modeltest.Say("One."),
		call("d", "read"), call("e", "read"), call("f", "write"), modeltest.Say("Two."),
		modeltest.Say("Three."),
	}
}

func samePrefix(t *testing.T, kind string, i int, before, now []byte) {
	t.Helper()
	headBefore, old := parts(t, kind, before)
	headNow, all := parts(t, kind, now)
	if headNow != headBefore {
		t.Errorf("request %d: system or tools differ\n%s\n%s", i+1, headBefore, headNow)
	}
	if len(all) < len(old) {
		t.Fatalf("request %d has %d messages, the one before %d", i+1, len(all), len(old))
	}
	for m := range old {
		if !bytes.Equal(old[m], all[m]) && (m < len(old)-1 || !begins(old[m], all[m])) {
			t.Errorf("request %d: message %d was\n%s\nand is\n%s", i+1, m+1, old[m], all[m])
		}
	}
}
