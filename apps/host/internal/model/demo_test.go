package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

func demoTools() []agent.ToolSpec {
	var specs []agent.ToolSpec
	for _, name := range []string{"bash", "glob", "grep", "list_dir", "read_file", "write_file"} {
		specs = append(specs, agent.ToolSpec{Name: name, Description: "x", Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return specs
}

func askDemo(t *testing.T, delay time.Duration, req agent.Request) (session.Message, *fold) {
	t.Helper()
	made, err := New(Config{Type: TypeDemo, Provider: "demo", Delay: delay})
	if err != nil {
		t.Fatal(err)
	}
	var deltas fold
	message := made.Stream(t.Context(), req, deltas.emit)
	deltas.check(t, message)
	return message, &deltas
}

func TestDemoCalls(t *testing.T) {
	for prompt, want := range map[string]string{
		"read README.md":            `read_file {"path":"README.md"}`,
		"Read  a b.txt ":            `read_file {"path":"a b.txt"}`,
		"list":                      `list_dir {"path":"."}`,
		"list src":                  `list_dir {"path":"src"}`,
		"run ls -l | wc":            `bash {"command":"ls -l | wc"}`,
		"find **/*.go":              `glob {"pattern":"**/*.go"}`,
		"grep a.b(":                 `grep {"pattern":"a\\.b\\("}`,
		"write a/b.txt: hi <there>": `write_file {"content":"hi <there>\n","path":"a/b.txt"}`,
		"read a\nrun ls":            `read_file {"path":"a"} bash {"command":"ls"}`,
	} {
		req := ask(prompt)
		req.Tools = demoTools()
		message, _ := askDemo(t, 0, req)
		var calls []string
		for _, call := range message.Content.ToolCalls() {
			calls = append(calls, call.Name+" "+string(call.Arguments))
		}
		if got := strings.Join(calls, " "); got != want || message.StopReason != session.StopToolUse {
			t.Errorf("%q: %s %s, want %s", prompt, got, message.StopReason, want)
		}
		history := append(req.Messages, message)
		for _, call := range message.Content.ToolCalls() {
			history = append(history, session.Message{Role: session.RoleToolResult, ToolCallID: call.ID, ToolName: call.Name, Content: session.Content{session.Text("one\ntwo")}})
		}
		next := agent.Request{Messages: history, Tools: req.Tools}
		if err := modeltest.Check(next); err != nil {
			t.Errorf("%q: %v", prompt, err)
		}
		answer, _ := askDemo(t, 0, next)
		if text := answer.Content.Plain(); strings.Count(text, `returned 2 lines, the first is "one".`) != len(calls) || answer.StopReason != session.StopEnd {
			t.Errorf("%q: answer %q", prompt, text)
		}
	}
}

func TestDemoTalk(t *testing.T) {
	for prompt, want := range map[string]string{
		"hello":                        "I am the demo model, not an AI",
		"Who are you?":                 "- read FILE",
		"help":                         "ANTHROPIC_API_KEY",
		"build me a rocket":            `Demo model, not an AI: thank you, you said "build me a rocket".`,
		"read":                         "you said",
		"write without a colon":        "you said",
		"stream 0":                     "you said",
		"think":                        "Demo model, not an AI",
		"stream 3":                     "word1 word2 word3",
		"hi there you wonderful thing": "you said",
	} {
		message, _ := askDemo(t, 0, ask(prompt))
		if text := message.Content.Plain(); !strings.Contains(text, want) || message.StopReason != session.StopEnd {
			t.Errorf("%q: %q, want %q", prompt, text, want)
		}
	}
	if message, _ := askDemo(t, 0, ask("read x")); !strings.Contains(message.Content.Plain(), "does not have it") {
		t.Errorf("without tools: %q", message.Content.Plain())
	}
	if message, _ := askDemo(t, 0, ask("think about it")); message.Content[0].Type != session.BlockThinking || message.Content[0].Thinking == "" {
		t.Errorf("%+v", message.Content)
	}
}

func TestDemoReportsErrors(t *testing.T) {
	isError := true
	req := ask("run x")
	req.Messages = append(req.Messages,
		session.Message{Role: session.RoleAssistant, Content: session.Content{modeltest.Call("a", "bash", `{}`), modeltest.Call("b", "bash", `{}`)}},
		session.Message{Role: session.RoleToolResult, ToolCallID: "a", ToolName: "bash", IsError: &isError, Content: session.Content{session.Text(agent.TextDenied)}},
		session.Message{Role: session.RoleToolResult, ToolCallID: "b", ToolName: "bash", Content: session.Content{session.Text(agent.TextNoOutput)}})
	message, _ := askDemo(t, 0, req)
	if text := message.Content.Plain(); !strings.Contains(text, `The tool bash reported an error: "Denied: the user denied`) || !strings.HasSuffix(text, "The tool bash returned no output.") {
		t.Errorf("%q", text)
	}
}

func TestDemoTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		message, deltas := askDemo(t, 20*time.Millisecond, ask("stream 50"))
		if took := time.Since(began); took != time.Second {
			t.Errorf("50 words took %v", took)
		}
		if len(strings.Fields(message.Content.Plain())) != 50 || len(deltas.texts) != 1 {
			t.Errorf("%q", message.Content.Plain())
		}
	})
}

func TestDemoIsCancelled(t *testing.T) {
	made, err := New(Config{Type: TypeDemo})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 12 {
		req := ask("read some longer path with blanks")
		req.Tools = demoTools()
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		message := made.Stream(ctx, req, func(agent.Delta) {
			if n++; n > k {
				cancel()
			}
		})
		cancel()
		if message.StopReason != session.StopAborted || len(message.Content.ToolCalls()) != 0 {
			t.Errorf("cancel after %d: %s %+v", k, message.StopReason, message.Content)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, config := range []Config{{Type: "gopher", Model: "m"}, {Type: TypeOpenAI}, {Type: TypeAnthropic}, {}} {
		if made, err := New(config); err == nil || made != nil {
			t.Errorf("%+v was taken", fmt.Sprint(config))
		}
	}
}
