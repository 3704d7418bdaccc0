package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// bodyOf encodes the body of a request as Stream does.
func bodyOf(config Config, req agent.Request) ([]byte, error) {
	switch config.Type {
	case TypeOpenAI:
		return session.Encode(chatRequestOf(config, req))
	case TypeResponses:
		return session.Encode(responsesRequestOf(config, req))
	case TypeGoogle:
		return session.Encode(googleRequestOf(config, req))
	}
	return anthropicRequest(config, req)
}

// wireOf returns what a provider would be sent.
func wireOf(t *testing.T, config Config, req agent.Request) string {
	t.Helper()
	data, err := bodyOf(config, req)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestThinkingLevels: each provider gets a level in its own units, and nothing if none is
// set.
func TestThinkingLevels(t *testing.T) {
	tests := []struct {
		kind, id  string
		level     agent.ThinkingLevel
		maxTokens int
		want, not string
	}{
		{TypeOpenAI, "gpt-5", "", 0, "", "reasoning"},
		{TypeOpenAI, "gpt-5", agent.ThinkingHigh, 0, `"reasoning_effort":"high"`, ""},
		{TypeOpenAI, "gpt-5", agent.ThinkingOff, 0, "", "reasoning"},
		{TypeResponses, "gpt-4o", "", 0, "", "reasoning"},
		{TypeResponses, "gpt-5", "", 0, `"include":["reasoning.encrypted_content"]`, `"reasoning":`},
		{TypeResponses, "gpt-5", agent.ThinkingLow, 0, `"reasoning":{"effort":"low","summary":"auto"}`, ""},
		{TypeResponses, "gpt-5.2", agent.ThinkingOff, 0, `"reasoning":{"effort":"none"}`, ""},
		{TypeAnthropic, "claude-sonnet-4-20250514", "", 0, `"max_tokens":8192`, "thinking"},
		{TypeAnthropic, "claude-sonnet-4-20250514", agent.ThinkingOff, 0, `"max_tokens":8192`, "thinking"},
		{TypeAnthropic, "claude-sonnet-4-20250514", agent.ThinkingLow, 0, `"max_tokens":12288`, "adaptive"},
		{TypeAnthropic, "claude-sonnet-4-5", agent.ThinkingHigh, 10_000, `"budget_tokens":5000`, "adaptive"},
		{TypeAnthropic, "claude-sonnet-4-5", agent.ThinkingHigh, 1000, `"max_tokens":1000`, "thinking"},
		{TypeAnthropic, "claude-opus-4-6", agent.ThinkingMedium, 0, `"type":"adaptive"`, "budget"},
		{TypeAnthropic, "claude-opus-5", agent.ThinkingMinimal, 0, `"effort":"low"`, "budget"},
		{TypeGoogle, "gemini-2.5-flash", "", 0, "", "thinkingConfig"},
		{TypeGoogle, "gemini-2.5-flash", agent.ThinkingOff, 0, `"thinkingBudget":0`, ""},
		{TypeGoogle, "gemini-2.5-pro", agent.ThinkingOff, 0, `"thinkingBudget":128`, ""},
		{TypeGoogle, "gemini-2.5-pro", agent.ThinkingMedium, 0, `"includeThoughts":true,"thinkingBudget":10240`, ""},
		{TypeGoogle, "gemini-3-pro-preview", agent.ThinkingMedium, 0, `"thinkingLevel":"HIGH"`, "Budget"},
		{TypeGoogle, "gemini-3-flash", agent.ThinkingMedium, 0, `"thinkingLevel":"MEDIUM"`, "Budget"},
		{TypeGoogle, "gemini-3-flash", agent.ThinkingOff, 0, `"includeThoughts":false,"thinkingLevel":"MINIMAL"`, "Budget"},
	}
	for _, test := range tests {
		config := Config{Type: test.kind, Model: test.id, MaxTokens: test.maxTokens}
		for where, got := range map[string]string{
			"request": wireOf(t, config, agent.Request{Messages: ask("x").Messages, Thinking: test.level}),
			"config":  wireOf(t, Config{Type: test.kind, Model: test.id, MaxTokens: test.maxTokens, Thinking: test.level}, ask("x")),
		} {
			if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
				t.Errorf("%s %s %q in the %s: %s\nwant %s, not %s", test.kind, test.id, test.level, where, got, test.want, test.not)
			}
		}
	}
}

// TestThinkingIsOffWhereItDoesNotFit: Claude rejects thinking if the answer that it
// continues does not begin with thinking, for example because another model made it.
func TestThinkingIsOffWhereItDoesNotFit(t *testing.T) {
	call := session.Block{Type: session.BlockToolCall, ID: "a", Name: "f", Arguments: json.RawMessage(`{}`)}
	thought := session.Block{Type: session.BlockThinking, Thinking: "hm", ThinkingSignature: "s"}
	result := session.Message{Role: session.RoleToolResult, ToolCallID: "a", Content: session.Content{session.Text("r")}}
	for _, test := range []struct {
		content session.Content
		fits    bool
	}{{session.Content{thought, call}, true}, {session.Content{call}, false}} {
		answer := session.Message{Role: session.RoleAssistant, API: apiAnthropic, Model: "m", Content: test.content}
		body, err := anthropicBodyOf(Config{Model: "m", Thinking: agent.ThinkingLow},
			agent.Request{Messages: append(ask("x").Messages, answer, result)})
		if err != nil || (body.Thinking != nil) != test.fits {
			t.Errorf("%+v: thinking %+v, %v", test.content, body.Thinking, err)
		}
	}
}

func TestCacheKey(t *testing.T) {
	req := ask("x")
	req.CacheKey = "s1"
	for kind, want := range map[string]bool{TypeOpenAI: true, TypeResponses: true, TypeGoogle: false, TypeAnthropic: false} {
		got := strings.Contains(wireOf(t, Config{Type: kind, Model: "m", BaseURL: "https://api.openai.com/v1"}, req), `"prompt_cache_key":"s1"`)
		if got != want {
			t.Errorf("%s: a cache key is sent: %t", kind, got)
		}
	}
	if strings.Contains(wireOf(t, Config{Type: TypeOpenAI, Model: "m", BaseURL: "http://127.0.0.1/v1"}, req), "s1") {
		t.Error("a server that may not know it gets a cache key")
	}
}

func TestCost(t *testing.T) {
	price := Price{Input: 3, Output: 15, CacheRead: 0.3}
	got := price.cost(session.Usage{Input: 1000, Output: 2000, CacheRead: 10_000, CacheWrite: 1000})
	want := session.Cost{Input: 0.003, Output: 0.03, CacheRead: 0.003, CacheWrite: 0.003, Total: 0.039}
	for _, pair := range [][2]float64{{got.Input, want.Input}, {got.Output, want.Output}, {got.CacheRead, want.CacheRead}, {got.CacheWrite, want.CacheWrite}, {got.Total, want.Total}} {
		if d := pair[0] - pair[1]; d > 1e-12 || d < -1e-12 {
			t.Errorf("%+v, want %+v", got, want)
			break
		}
	}
	if zero := (Price{}).cost(session.Usage{Input: 5}); zero != (session.Cost{}) {
		t.Errorf("without prices %+v", zero)
	}
}

// TestLevelsOfModels: a session is offered the levels that the model accepts, and no two
// that are equal for it.
func TestLevelsOfModels(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Type: TypeDemo}, ""},
		{Config{Type: TypeAnthropic, Model: "claude-sonnet-4-5"}, "off minimal low medium high"},
		{Config{Type: TypeAnthropic, Model: "claude-opus-4-6"}, "off low medium high"},
		{Config{Type: TypeAnthropic, Model: "claude-3-5-haiku-latest"}, ""},
		{Config{Type: TypeAnthropic, Model: "claude-sonnet-4-5", MaxTokens: 1500}, ""},
		{Config{Type: TypeGoogle, Model: "gemini-3-pro"}, "low high"},
		{Config{Type: TypeGoogle, Model: "models/gemini-3-flash"}, "minimal low medium high"},
		{Config{Type: TypeGoogle, Model: "gemini-2.5-flash"}, "off minimal low medium high"},
		{Config{Type: TypeGoogle, Model: "gemini-2.0-flash"}, ""},
		{Config{Type: TypeResponses, Model: "gpt-5.1"}, "off low medium high"},
		{Config{Type: TypeResponses, Model: "gpt-5-mini"}, "minimal low medium high"},
		{Config{Type: TypeOpenAI, Model: "o3"}, "low medium high"},
		{Config{Type: TypeOpenAI, Model: "gpt-4o"}, ""},
		{Config{Type: TypeOpenAI, Model: "qwen3", BaseURL: "http://localhost:8000"}, ""},
		{Config{Type: TypeOpenAI, Model: "qwen3", BaseURL: "http://localhost:8000", Thinking: "low"}, "low medium high"},
	} {
		var words []string
		wires := map[string]agent.ThinkingLevel{}
		for _, level := range Levels(c.config) {
			words = append(words, string(level))
			wire := wireOf(t, c.config, agent.Request{Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text("hi")}}}, Thinking: level})
			if same, ok := wires[wire]; ok {
				t.Errorf("%s: %s and %s are the same: %s", c.config.Model, same, level, wire)
			}
			wires[wire] = level
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.config.Model, got, c.want)
		}
	}
}
