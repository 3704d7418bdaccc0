package model

import "encoding/json"

// anthropicVersion is the version of the messages API, sent as a header.
const anthropicVersion = "2023-06-01"

// Types of a request to /v1/messages.
type (
	anthropicBody struct {
		Model        string             `json:"model"`
		MaxTokens    int                `json:"max_tokens"`
		System       []anthropicBlock   `json:"system,omitempty"`
		Messages     []anthropicMessage `json:"messages"`
		Tools        []anthropicTool    `json:"tools,omitempty"`
		ToolChoice   *anthropicChoice   `json:"tool_choice,omitempty"`
		Thinking     *anthropicThinking `json:"thinking,omitempty"`
		OutputConfig *anthropicOutput   `json:"output_config,omitempty"`
		Stream       bool               `json:"stream"`
	}
	anthropicMessage struct {
		Role    string           `json:"role"`
		Content []anthropicBlock `json:"content"`
	}
	anthropicTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	anthropicChoice struct {
		Type string `json:"type"`
	}
	anthropicThinking struct {
		Type    string `json:"type"` // "enabled" with a budget in tokens, or "adaptive" with a display setting
		Budget  int    `json:"budget_tokens,omitempty"`
		Display string `json:"display,omitempty"`
	}
	anthropicOutput struct {
		Effort string `json:"effort"`
	}
	anthropicSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
	anthropicCache struct {
		Type string `json:"type"`
	}
)

// anthropicBlock is one block of a message. Type determines which fields it has. The
// protocol requires these even if they are empty, hence the pointers.
type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      *string          `json:"text,omitempty"`        // text
	Source    *anthropicSource `json:"source,omitempty"`      // image
	Thinking  *string          `json:"thinking,omitempty"`    // thinking
	Signature *string          `json:"signature,omitempty"`   // thinking
	Data      *string          `json:"data,omitempty"`        // redacted_thinking
	ID        *string          `json:"id,omitempty"`          // tool_use
	Name      *string          `json:"name,omitempty"`        // tool_use
	Input     json.RawMessage  `json:"input,omitempty"`       // tool_use
	ToolUseID *string          `json:"tool_use_id,omitempty"` // tool_result
	Content   []anthropicBlock `json:"content,omitempty"`     // tool_result
	IsError   *bool            `json:"is_error,omitempty"`    // tool_result
	Cache     *anthropicCache  `json:"cache_control,omitempty"`
}

func (b anthropicBlock) thinks() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// Types of a response, as far as it is used.
type (
	anthropicEvent struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			ID    string         `json:"id"`
			Usage anthropicUsage `json:"usage"`
		} `json:"message"` // message_start
		Block struct {
			Type      string `json:"type"`
			Text      string `json:"text"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
			Data      string `json:"data"`
			ID        string `json:"id"`
			Name      string `json:"name"`
		} `json:"content_block"` // content_block_start
		Delta struct {
			Type        string `json:"type"`
			Text        string `json:"text"`
			Thinking    string `json:"thinking"`
			PartialJSON string `json:"partial_json"`
			Signature   string `json:"signature"`
			StopReason  string `json:"stop_reason"`
		} `json:"delta"` // content_block_delta, message_delta
		Usage anthropicUsage `json:"usage"` // message_delta
		Error struct {
			Type string `json:"type"`
		} `json:"error"` // error
	}
	anthropicUsage struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
	}
)
