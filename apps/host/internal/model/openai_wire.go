package model

import (
	"encoding/json"
	"strings"
)

// Types of a request to /chat/completions.
type (
	chatRequest struct {
		Model               string         `json:"model"`
		Messages            []chatMessage  `json:"messages"`
		Tools               []chatTool     `json:"tools,omitempty"`
		ToolChoice          string         `json:"tool_choice,omitempty"`
		Stream              bool           `json:"stream"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
		PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	chatMessage struct {
		Role       string      `json:"role"`
		Content    chatContent `json:"content,omitempty"`
		ToolCalls  []chatCall  `json:"tool_calls,omitempty"`
		ToolCallID string      `json:"tool_call_id,omitempty"`
	}
	chatPart struct {
		Type     string    `json:"type"`
		Text     string    `json:"text,omitempty"`
		ImageURL *imageURL `json:"image_url,omitempty"`
	}
	imageURL struct {
		URL string `json:"url"`
	}
	chatCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatTool struct {
		Type     string   `json:"type"`
		Function chatSpec `json:"function"`
	}
	chatSpec struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// chatContent is a list of parts. Text alone is sent as a plain string, which every server
// supports.
type chatContent []chatPart

func (c chatContent) MarshalJSON() ([]byte, error) {
	texts := make([]string, 0, len(c))
	for _, part := range c {
		if part.Type != "text" {
			return json.Marshal([]chatPart(c))
		}
		texts = append(texts, part.Text)
	}
	return json.Marshal(strings.Join(texts, "\n\n"))
}

// Types of a response, as far as it is used. Servers differ: a field may be missing, null,
// or of another type.
type (
	chatChunk struct {
		ID      string          `json:"id"`
		Choices []chatChoice    `json:"choices"`
		Usage   *chatUsage      `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	chatChoice struct {
		Index        int        `json:"index"`
		Delta        *chatDelta `json:"delta"`
		Message      *chatDelta `json:"message"` // from servers that do not stream
		FinishReason string     `json:"finish_reason"`
	}
	chatDelta struct {
		Content          looseText   `json:"content"`
		Refusal          looseText   `json:"refusal"`
		ReasoningContent looseText   `json:"reasoning_content"`
		Reasoning        looseText   `json:"reasoning"`
		ToolCalls        []callDelta `json:"tool_calls"`
	}
	callDelta struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string    `json:"name"`
			Arguments looseText `json:"arguments"`
		} `json:"function"`
	}
	chatUsage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		PromptDetails    struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

// looseText decodes a string, null, a list of text parts, or any other JSON value, which it
// keeps as text (arguments sent as an object).
type looseText string

func (t *looseText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil { // null too
		*t = looseText(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &parts) == nil {
		for _, part := range parts {
			text += part.Text
		}
		*t = looseText(text)
		return nil
	}
	*t = looseText(data)
	return nil
}
