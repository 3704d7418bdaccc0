package modeltest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

func message(role session.Role, blocks ...session.Block) session.Message {
	return session.Message{Role: role, Content: blocks}
}

func result(id string) session.Message {
	m := message(session.RoleToolResult, session.Text("ok"))
	m.ToolCallID = id
	return m
}

func TestCheck(t *testing.T) {
	user := message(session.RoleUser, session.Text("x"))
	said := message(session.RoleAssistant, session.Text("y"))
	calls := func(blocks ...session.Block) session.Message { return message(session.RoleAssistant, blocks...) }
	call := modeltest.Call("1", "read", `{}`)
	tests := []struct {
		name string
		in   []session.Message
		want string // "" is accepted
	}{
		{"plain", []session.Message{user, said, user}, ""},
		{"a call with its result", []session.Message{user, calls(call), result("1"), user}, ""},
		{"nothing", nil, "no messages"},
		{"begins with the model", []session.Message{said, user}, "must be user"},
		{"ends with the model", []session.Message{user, said}, "the model's own"},
		{"the model twice", []session.Message{user, said, said, user}, "both the model's"},
		{"no result", []session.Message{user, calls(call), user}, "comes before the results"},
		{"an orphan", []session.Message{user, result("1")}, "no open call"},
		{"two results", []session.Message{user, calls(call), result("1"), result("1")}, "no open call"},
		{"blank text", []session.Message{message(session.RoleUser, session.Text(" \n"))}, "blank text"},
		{"no content", []session.Message{message(session.RoleUser)}, "no content"},
		{"thinking alone", []session.Message{user, calls(session.Block{Type: session.BlockThinking, Thinking: "x"}), user}, "thinking and nothing else"},
		{"broken arguments", []session.Message{user, calls(modeltest.Call("1", "read", `{"`)), result("1")}, "not a JSON object"},
		{"an id twice", []session.Message{user, calls(call, call), result("1")}, "occurs twice"},
		{"a long id", []session.Message{user, calls(modeltest.Call(strings.Repeat("x", 65), "read", `{}`)), user}, "too long"},
		{"unknown role", []session.Message{user, message("system", session.Text("x"))}, "unknown role"},
	}
	for _, test := range tests {
		err := modeltest.Check(agent.Request{Messages: test.in})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	spec := agent.ToolSpec{Name: "a", Description: "b", Parameters: json.RawMessage(`{"type":"object","required":["x"]}`)}
	for want, tools := range map[string][]agent.ToolSpec{
		"not allowed": {{Name: "a b"}}, "no description": {{Name: "a"}}, "not a schema": {{Name: "a", Description: "b", Parameters: json.RawMessage(`[]`)}},
		"which is no property": {spec},
	} {
		if err := modeltest.Check(agent.Request{Messages: []session.Message{user}, Tools: tools}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestScripted(t *testing.T) {
	request := agent.Request{Messages: []session.Message{message(session.RoleUser, session.Text("x"))}}
	model := modeltest.New(modeltest.Say("hello world"), modeltest.Step{Content: session.Content{session.Text("half")}, Stall: true})
	var text strings.Builder
	emit := func(d agent.Delta) { text.WriteString(d.Text) }
	if m := model.Stream(t.Context(), request, emit); m.StopReason != session.StopEnd || text.String() != "hello world" {
		t.Errorf("%+v %q", m, text.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := model.Stream(ctx, request, func(d agent.Delta) {
		if d.Text != "" {
			cancel()
		}
	})
	if m.StopReason != session.StopAborted || m.Content.Plain() != "half" {
		t.Errorf("%+v", m)
	}
	if m := model.Stream(t.Context(), request, emit); !strings.HasPrefix(m.ErrorMessage, "modeltest: call 3 has no step") {
		t.Errorf("%+v", m)
	}
	if m := model.Stream(t.Context(), agent.Request{}, emit); !strings.HasPrefix(m.ErrorMessage, "modeltest: there are no messages") {
		t.Errorf("%+v", m)
	}
	if len(model.Requests()) != 4 {
		t.Errorf("%d requests", len(model.Requests()))
	}
}
