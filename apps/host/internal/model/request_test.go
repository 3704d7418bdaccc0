package model

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// conversation contains everything that a request can contain, including signatures of one
// provider and of another.
func conversation(kind string) agent.Request {
	own, signature := apiAnthropic, "sig"
	switch kind {
	case TypeResponses:
		own, signature = apiResponses, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sealed"}`
	case TypeGoogle:
		own = apiGoogle
	}
	isError := true
	call := func(id, name, arguments string) session.Block {
		return session.Block{Type: session.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	text := func(role session.Role, s string) session.Message {
		return session.Message{Role: role, Content: session.Content{session.Text(s)}}
	}
	return agent.Request{
		System: "be brief",
		Messages: []session.Message{
			text(session.RoleUser, "first"),
			text(session.RoleUser, "second <&>"),
			{Role: session.RoleAssistant, API: own, Model: "the-model", Content: session.Content{
				{Type: session.BlockThinking, Thinking: "hm", ThinkingSignature: signature},
				{Type: session.BlockThinking, Thinking: "unsigned"},
				{Type: session.BlockThinking, ThinkingSignature: "opaque", Redacted: true},
				{Type: session.BlockText, Text: "I look", TextSignature: "t"}, call("functions.read:0", "read", `{"path":"a"}`), call(strings.Repeat("x", 70), "read", `{}`),
			}},
			{Role: session.RoleToolResult, ToolCallID: "functions.read:0", ToolName: "read", Content: session.Content{
				session.Text("seen"), {Type: session.BlockImage, MimeType: "image/png", Data: "AAAA"}}},
			{Role: session.RoleToolResult, ToolCallID: strings.Repeat("x", 70), ToolName: "read", Content: session.Content{session.Text("failed")}, IsError: &isError},
			text(session.RoleUser, "go on"),
			{Role: session.RoleAssistant, API: own, Model: "another", Content: session.Content{
				{Type: session.BlockThinking, Thinking: "foreign", ThinkingSignature: signature},
				{Type: session.BlockText, Text: "ok", TextSignature: "foreign"}}},
			{Role: session.RoleUser, Content: session.Content{session.Text("see"), {Type: session.BlockImage, MimeType: "image/png", Data: "BBBB"}}},
		},
		Tools: []agent.ToolSpec{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)}},
	}
}

// TestRequests compares requests with reviewed files. Run with UPDATE_GOLDEN=1 to rewrite
// them, and review the changes.
func TestRequests(t *testing.T) {
	answers := map[string]string{
		TypeOpenAI: "openai/openai-gpt-4o-simple-0", TypeAnthropic: "anthropic/claude-sonnet-4-simple-0",
		TypeResponses: "openai-responses/openai-gpt-5-simple-0", TypeGoogle: "google/gemini-3-pro-preview-simple-0",
	}
	paths := map[string]string{
		TypeOpenAI: "/v1/chat/completions", TypeAnthropic: "/v1/messages",
		TypeResponses: "/v1/responses", TypeGoogle: "/v1/models/the-model:streamGenerateContent",
	}
	for kind, recording := range answers {
		answer, _ := readRecorded(t, "testdata/recorded/"+recording+".sse")
		var body []byte
		var header http.Header
		var path string
		url := serve(t, func(w http.ResponseWriter, request *http.Request) {
			body, _ = io.ReadAll(request.Body) // missing data is noticed below
			header, path = request.Header, request.URL.Path
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(answer)
		})
		// The environment must not leak into the call.
		t.Setenv("ANTHROPIC_API_KEY", "from-environment")
		t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-environment")
		t.Setenv("OPENAI_API_KEY", "from-environment")
		config := testConfig(kind, url+"/v1/")
		if kind == TypeAnthropic {
			config.BaseURL = url
		}
		config.MaxTokens = 100
		made, _ := build(t, config)
		message := made.Stream(t.Context(), conversation(kind), func(agent.Delta) {})
		if message.StopReason != session.StopEnd {
			t.Fatalf("%s: %q", kind, message.ErrorMessage)
		}
		compareGolden(t, "testdata/request-"+kind+".json", body)
		auth := "Bearer k-secret"
		if kind == TypeAnthropic {
			auth = ""
			if header.Get("X-Api-Key") != "k-secret" || header.Get("Anthropic-Version") == "" {
				t.Errorf("headers %v", header)
			}
		}
		if kind == TypeGoogle {
			auth = ""
			if header.Get("X-Goog-Api-Key") != "k-secret" {
				t.Errorf("headers %v", header)
			}
		}
		if path != paths[kind] || header.Get("Authorization") != auth {
			t.Errorf("%s: path %q, authorization %q", kind, path, header.Get("Authorization"))
		}
	}
}

func compareGolden(t *testing.T, path string, body []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, body, "", " "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs:\n%s", filepath.Base(path), got.String())
	}
}

func TestMaxTokensField(t *testing.T) {
	for url, field := range map[string]string{"": "max_completion_tokens", "http://127.0.0.1:1/v1": "max_tokens"} {
		config := newCaller(Config{BaseURL: url, Model: "m", MaxTokens: 5}, DefaultOpenAIURL).config
		data, err := json.Marshal(chatRequestOf(config, ask("x")))
		if err != nil || !strings.Contains(string(data), `"`+field+`":5`) {
			t.Errorf("%q: %s %v", url, data, err)
		}
	}
}

// TestLooseServers: servers that deviate from the protocol in known ways.
func TestLooseServers(t *testing.T) {
	tests := []struct{ name, contentType, body, want string }{
		{"no stream", "application/json", `{"choices":[{"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]},"finish_reason":"stop"}]}`,
			`text:hi call:a:f:{"x":1} toolUse`},
		{"every index 0", "", `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			`call:a:f:{} call:b:g:{} toolUse`},
		{"no index", "", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `call:a:f:{} toolUse`},
		{"the id in every piece", "", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, `call:a:f:{} toolUse`},
		{"CRLF, comments, no end marker", "", ": hello\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\r\n\r\n: bye\r\n", `text:hi stop`},
		{"content in parts", "", `data: {"choices":[{"delta":{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]},"finish_reason":"stop"}]}`, `text:hi stop`},
		{"nulls", "", `data: {"choices":[{"delta":{"content":null,"tool_calls":null,"reasoning":null},"finish_reason":null}],"usage":null,"error":null}` + "\n\ndata: [DONE]\n\n", `stop`},
		{"both kinds of reasoning", "", `data: {"choices":[{"delta":{"reasoning":"r","reasoning_content":"r"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"t"},"finish_reason":"length"}]}`, `thinking:r text:t length`},
		{"after the end marker", "", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\ndata: garbage\n\n", `text:hi stop`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				_, _ = io.WriteString(w, test.body) // the client notices if this fails
			})
			made, _ := build(t, testConfig(TypeOpenAI, url))
			message, deltas := stream(t, t.Context(), made)
			var parts []string
			for _, b := range message.Content {
				switch b.Type {
				case session.BlockToolCall:
					parts = append(parts, "call:"+b.ID+":"+b.Name+":"+string(b.Arguments))
				default:
					parts = append(parts, string(b.Type)+":"+b.Text+b.Thinking)
				}
			}
			if got := strings.Join(append(parts, string(message.StopReason)), " "); got != test.want {
				t.Errorf("%s, want %s (%s)", got, test.want, message.ErrorMessage)
			}
			deltas.check(t, message)
		})
	}
}

func TestMissingIDsAreMade(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}},{"index":1,"function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`)
	})
	made, _ := build(t, testConfig(TypeOpenAI, url))
	message, _ := stream(t, t.Context(), made)
	calls := message.Content.ToolCalls()
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID || len(calls[0].ID) > maxChatID || string(calls[0].Arguments) != "{}" {
		t.Errorf("%+v", calls)
	}
}

func FuzzChatStream(f *testing.F) {
	for _, name := range []string{"groq-kimi-k2-multi-tool-0", "avian-kimi-multi-tool-0", "xai-grok-4-fast-multi-tool-0"} {
		body, err := os.ReadFile("testdata/recorded/openai/" + name + ".sse")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body[:min(len(body), 3000)])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var deltas fold
		s := &chatStream{a: &assembler{emit: deltas.emit}, config: Config{Model: "m"}}
		if err := readSSE(bytes.NewReader(body), func() {}, s.chunk); err != nil {
			return
		}
		if _, fail := s.end(); fail != nil {
			return
		}
		message := session.Message{Content: s.a.whole()}
		for i, b := range message.Content {
			if b.Type == session.BlockToolCall && deltas.texts[i] != "" {
				message.Content[i].Arguments = json.RawMessage(deltas.texts[i])
			}
		}
		deltas.check(t, message)
	})
}
