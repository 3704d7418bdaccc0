package modeltest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
)

// The four wires by their paths.
const (
	chat      = "/v1/chat/completions"
	responses = "/v1/responses"
	messages  = "/v1/messages"
	gemini    = "/v1beta/models/gemini-3-pro:streamGenerateContent"
)

// send posts a body and returns the status and the answer.
func send(t *testing.T, url, path, body string, header http.Header) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil && response.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	return response.StatusCode, string(bytes.TrimSpace(answer))
}

// What each provider refuses, in its own form; "" is accepted.
func TestServerRefuses(t *testing.T) {
	const (
		chatCall  = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		chatUser  = `{"role":"user","content":"x"}`
		itemUser  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`
		itemCall  = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
		itemOut   = `{"type":"function_call_output","call_id":"a","output":"r"}`
		reasoning = `{"type":"reasoning","summary":[],"encrypted_content":"signed-by-m"}`
		user      = `{"role":"user","content":[{"type":"text","text":"x"}]}`
		use       = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
		result    = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[]}]}`
		gUser     = `{"role":"user","parts":[{"text":"x"}]}`
		gCall     = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"signed-by-gemini-3-pro"}]}`
		gResult   = `{"functionResponse":{"id":"a","name":"f","response":{"output":"r"}}}`
	)
	claude := func(list string) string { return `{"model":"m","max_tokens":5000,"messages":[` + list + `]}` }
	thinks := func(list string) string {
		return `{"model":"m","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + list + `]}`
	}
	tests := []struct{ path, body, want string }{
		{chat, `{"messages":[` + chatUser + `]}`, ""},
		{chat, `{"messages":[` + chatUser + `,` + chatCall + `,{"role":"tool","tool_call_id":"a","content":"r"}]}`, ""},
		{chat, `{"messages":[` + chatUser + `,` + chatCall + `,` + chatUser + `]}`, "without a result"},
		{chat, `{"messages":[` + chatUser + `,{"role":"tool","tool_call_id":"a","content":"r"}]}`, "no open call"},
		{chat, `{"messages":[` + chatUser + `,` + chatUser + `]}`, "same role"},
		{chat, `{"messages":[{"role":"user","content":" "}]}`, "blank"},
		{chat, `{"messages":[` + chatUser + `,` + strings.Replace(chatCall, `"{}"`, `"{"`, 1) + `]}`, "not a JSON object"},
		{chat, `{"messages":[` + chatUser + `,` + strings.Replace(chatCall, `"a"`, `"`+strings.Repeat("a", 41)+`"`, 1) + `]}`, "longer than 40"},
		{chat, `{"messages":[` + chatUser + `,{"role":"assistant","content":"y"}]}`, "last message"},

		{responses, `{"model":"m","input":[` + itemUser + `,` + reasoning + `,` + itemCall + `,` + itemOut + `]}`, ""},
		{responses, `{"model":"m","input":[` + itemUser + `,` + itemCall + `]}`, "without a result"},
		{responses, `{"model":"m","input":[` + itemUser + `,` + itemOut + `]}`, "no open call"},
		{responses, `{"model":"m","input":[` + itemUser + `,` + reasoning + `,` + itemUser + `]}`, "following item"},
		{responses, `{"model":"other","input":[` + itemUser + `,` + reasoning + `,` + itemCall + `,` + itemOut + `]}`, "could not be verified"},
		{responses, `{"model":"m","input":[` + strings.Replace(itemUser, `"x"`, `""`, 1) + `]}`, "blank"},
		{responses, `{"model":"m","input":[` + strings.Replace(itemUser, "input_text", "output_text", 1) + `]}`, "does not belong"},

		{messages, claude(user + `,` + use + `,` + result), ""},
		{messages, claude(user + `,` + use + `,` + user), "without a result"},
		{messages, claude(user + `,` + use), "end with a user message"},
		{messages, claude(result), "no open call"},
		{messages, claude(user + `,` + user), "roles must alternate"},
		{messages, claude(strings.Replace(user, `"x"`, `" "`, 1)), "non-empty"},
		{messages, claude(user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"y"}]},` + user), "invalid signature"},
		{messages, claude(user + `,{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"thinking","thinking":"t","signature":"signed-by-m"}]},` + user), "cannot be thinking"},
		{messages, thinks(user + `,` + use + `,` + result), "expected thinking"},
		{messages, thinks(user + `,{"role":"assistant","content":[{"type":"text","text":"y"}]},` + user), ""},
		{messages, claude(user + `,` + use + `,` + strings.Replace(result, `[{`, `[{"type":"text","text":"x"},{`, 1)), "without a result"},
		{messages, claude(user + `,` + strings.ReplaceAll(use, `"a"`, `"a.b"`) + `,` + result), "not allowed"},
		{messages, `{"model":"m","messages":[` + user + `]}`, "max_tokens"},

		{gemini, `{"contents":[` + gUser + `,` + gCall + `,{"role":"user","parts":[` + gResult + `]}]}`, ""},
		{gemini, `{"contents":[` + gUser + `,` + gCall + `,` + gUser + `]}`, "without a result"},
		{gemini, `{"contents":[` + gUser + `,` + gCall + `,{"role":"user","parts":[` + gResult + `,{"text":"x"}]}]}`, "number of function response parts"},
		{gemini, `{"contents":[` + gUser + `,{"role":"user","parts":[` + gResult + `]}]}`, "no open call"},
		{gemini, `{"contents":[` + gUser + `,` + strings.Replace(gCall, "signed-by-gemini-3-pro", "", 1) + `]}`, "missing a thought_signature"},
		{gemini, `{"contents":[` + gUser + `,` + strings.Replace(gCall, "signed-by-gemini-3-pro", "foreign", 1) + `]}`, "not valid"},
		{gemini, `{"contents":[{"role":"user","parts":[{"text":""}]}]}`, "oneof"},
		{gemini, `{"contents":[{"role":"assistant","parts":[{"text":"x"}]}]}`, "valid role"},
		{gemini, `{"contents":[` + gCall + `]}`, "comes first"},
	}
	for _, test := range tests {
		server := modeltest.Serve(modeltest.Say("hello"))
		status, answer := send(t, server.URL, test.path, test.body, nil)
		refused := strings.Join(server.Refusals(), "")
		server.Close()
		if test.want == "" {
			if status != http.StatusOK || !strings.Contains(answer, "hell") {
				t.Errorf("%s %s: HTTP %d %s", test.path, test.body, status, answer)
			}
			continue
		}
		if status != http.StatusBadRequest || !strings.Contains(refused, test.want) || !strings.Contains(answer, "error") {
			t.Errorf("%s %s: HTTP %d %q, want %q", test.path, test.body, status, refused, test.want)
		}
	}
}

// Keys and models are asked for where each provider has them.
func TestServerDemands(t *testing.T) {
	server := modeltest.Serve(modeltest.Say("hello"))
	defer server.Close()
	server.Demand("good", "gemini-3-pro")
	const body = `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`
	key := http.Header{"X-Goog-Api-Key": {"good"}}
	for _, test := range []struct {
		path   string
		header http.Header
		want   int
	}{{gemini, nil, 401}, {"/v1beta/models/other:streamGenerateContent", key, 404}, {"/elsewhere", key, 404}, {gemini, key, 200}, {gemini, key, 418}} {
		if status, answer := send(t, server.URL, test.path, body, test.header); status != test.want {
			t.Errorf("%s: HTTP %d %s, want %d", test.path, status, answer, test.want)
		}
	}
}
