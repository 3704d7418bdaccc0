package agent_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

func says(blocks ...session.Block) session.Message {
	return session.Message{Role: session.RoleAssistant, Content: blocks, Timestamp: 7}
}

func result(id, text string) session.Message {
	return session.Message{Role: session.RoleToolResult, ToolCallID: id, ToolName: "read", Content: session.Content{session.Text(text)}}
}

// outline writes messages as "u", "a(ids)" and "r:id:text".
func outline(messages []session.Message) string {
	var parts []string
	for _, m := range messages {
		switch m.Role {
		case session.RoleUser:
			parts = append(parts, "u")
		case session.RoleAssistant:
			part := "a"
			for _, call := range m.Content.ToolCalls() {
				part += "(" + call.ID + ")"
			}
			parts = append(parts, part)
		default:
			parts = append(parts, "r:"+m.ToolCallID+":"+m.Content.Plain())
		}
	}
	return strings.Join(parts, " ")
}

func TestRepairMessages(t *testing.T) {
	call := func(id string) session.Block { return modeltest.Call(id, "read", `{}`) }
	thinking := session.Block{Type: session.BlockThinking, Thinking: "hm", ThinkingSignature: "s"}
	tests := []struct {
		name string
		in   []session.Message
		want string
	}{
		{"nothing to do", []session.Message{user("x"), says(call("1")), result("1", "ok"), says(session.Text("y"))}, "u a(1) r:1:ok a"},
		{"dangling at the end", []session.Message{user("x"), says(call("1"), call("2")), result("1", "ok")}, "u a(1)(2) r:1:ok r:2:" + agent.TextInterrupted},
		{"dangling in the middle", []session.Message{user("x"), says(call("1")), user("y")}, "u a(1) r:1:" + agent.TextInterrupted + " u"},
		{"in call order", []session.Message{user("x"), says(call("1"), call("2")), result("2", "b"), result("1", "a")}, "u a(1)(2) r:1:a r:2:b"},
		{"the first of two results counts", []session.Message{user("x"), says(call("1")), result("1", "a"), result("1", "b")}, "u a(1) r:1:a"},
		{"orphans go", []session.Message{user("x"), result("9", "?"), says(session.Text("y")), result("8", "?"), user("z")}, "u a u"},
		{"a late result is an orphan", []session.Message{user("x"), says(call("1")), user("y"), result("1", "late")}, "u a(1) r:1:" + agent.TextInterrupted + " u"},
		{"empty answers go", []session.Message{user("x"), says(), says(session.Text(" \n")), says(thinking), user("y")}, "u u"},
		{"blank prompts go", []session.Message{user("x"), user("  ")}, "u"},
		{"a result without text", []session.Message{user("x"), says(call("1")), result("1", "")}, "u a(1) r:1:" + agent.TextNoOutput},
		{"other roles go", []session.Message{user("x"), {Role: "bashExecution"}, {Role: "system", Content: session.Content{session.Text("s")}}}, "u"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before, _ := json.Marshal(test.in)
			got := agent.RepairMessages(test.in)
			if o := outline(got); o != test.want {
				t.Errorf("got  %s\nwant %s", o, test.want)
			}
			if after, _ := json.Marshal(test.in); string(after) != string(before) {
				t.Error("the input was changed")
			}
			if again := agent.RepairMessages(got); !reflect.DeepEqual(again, got) {
				t.Errorf("a second repair changes it: %s", outline(again))
			}
		})
	}
}

// Whatever the log holds, a strict model takes what comes out with a prompt
// before and behind it, unless the model speaks twice in a row, which a log of
// finished turns does not hold.
func FuzzRepairMessages(f *testing.F) {
	f.Add([]byte("uac1r1u"))
	f.Add([]byte("a1a2r2r1ur1"))
	f.Fuzz(func(t *testing.T, script []byte) {
		messages := agent.RepairMessages(append(append([]session.Message{user("first")}, fromScript(script)...), user("last")))
		if err := modeltest.Check(agent.Request{Messages: messages}); err != nil {
			t.Errorf("%s: %v", outline(messages), err)
		}
	})
}

// fromScript makes a log: u a prompt, a an answer with the calls that follow as
// digits, r results with the digits that follow, b a blank answer.
func fromScript(script []byte) []session.Message {
	var out []session.Message
	var kind byte
	for _, c := range script {
		switch {
		case c == 'u':
			out = append(out, user("p"))
		case c == 'a':
			// The model does not speak twice in a row.
			out = append(out, user("between"), says(session.Text("t")))
		case c == 'b':
			out = append(out, says(session.Text(" ")))
		case c >= '0' && c <= '9' && kind == 'a' && len(out) > 0:
			last := &out[len(out)-1]
			if last.Role == session.RoleAssistant && !has(last.Content, string(c)) {
				last.Content = append(last.Content, modeltest.Call(string(c), "read", `{}`))
			}
		case c >= '0' && c <= '9' && kind == 'r':
			out = append(out, result(string(c), "x"))
		}
		if c == 'a' || c == 'r' || c == 'u' || c == 'b' {
			kind = c
		}
	}
	return out
}

func has(content session.Content, id string) bool {
	for _, call := range content.ToolCalls() {
		if call.ID == id {
			return true
		}
	}
	return false
}

func TestSystemPrompt(t *testing.T) {
	read, bash := echo("read_file", agent.RiskRead), echo("bash", agent.RiskWrite)
	got := agent.SystemPrompt([]agent.Tool{read, bash}, "/home/x/p", agent.ProjectContext{})
	if got != agent.SystemPrompt([]agent.Tool{bash, read}, "/home/x/p", agent.ProjectContext{}) {
		t.Error("the prompt depends on the order of the tools")
	}
	for _, want := range []string{"/home/x/p", "- bash (asks the user first)\n- read_file\n", "Prefer the tools"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
	for _, rule := range []string{"- Act in the same reply", "- Never end a reply with what you will do next", "- Every reply is either a tool call or the result"} {
		if !strings.Contains(got, rule) {
			t.Errorf("the prompt lacks the rule %q", rule)
		}
	}
	if got := agent.SystemPrompt(nil, "/x", agent.ProjectContext{}); strings.Contains(got, "# Tools") || strings.Contains(got, "bash") {
		t.Errorf("a prompt without tools speaks of tools:\n%s", got)
	}
}
