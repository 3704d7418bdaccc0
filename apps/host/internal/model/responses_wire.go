package model

import "encoding/json"

// Types of a request to /responses.
type (
	responsesRequest struct {
		Model           string         `json:"model"`
		Instructions    string         `json:"instructions,omitempty"`
		Input           []any          `json:"input"`
		Tools           []responseTool `json:"tools,omitempty"`
		ToolChoice      string         `json:"tool_choice,omitempty"`
		Stream          bool           `json:"stream"`
		Store           bool           `json:"store"`
		MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
		Reasoning       *reasoning     `json:"reasoning,omitempty"`
		Include         []string       `json:"include,omitempty"`
		PromptCacheKey  string         `json:"prompt_cache_key,omitempty"`
	}
	reasoning struct {
		Effort  string `json:"effort,omitempty"`
		Summary string `json:"summary,omitempty"`
	}
	responseTool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
	inputMessage struct {
		Type    string      `json:"type"`
		Role    string      `json:"role"`
		Content []inputPart `json:"content"`
	}
	inputPart struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
	}
	functionCall struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	functionOutput struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"` // a string, or a list of inputPart
	}
)

// reasoningItem is a model's reasoning. It is stored as the signature of a thinking block.
// Only the model that made it can read EncryptedContent.
type reasoningItem struct {
	Type             string        `json:"type"`
	ID               string        `json:"id,omitempty"`
	Summary          []summaryPart `json:"summary"`
	EncryptedContent string        `json:"encrypted_content,omitempty"`
}

type summaryPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Types of a response, as far as it is used.
type (
	responseEvent struct {
		Type        string        `json:"type"`
		OutputIndex int           `json:"output_index"`
		Delta       looseText     `json:"delta"`
		Item        *responseItem `json:"item"`
		Response    *responseBody `json:"response"`
		Code        string        `json:"code"`    // of an error
		Message     string        `json:"message"` // of an error
	}
	responseItem struct {
		Type             string        `json:"type"`
		ID               string        `json:"id"`
		CallID           string        `json:"call_id"`
		Name             string        `json:"name"`
		Arguments        looseText     `json:"arguments"`
		Summary          []summaryPart `json:"summary"`
		EncryptedContent string        `json:"encrypted_content"`
		Content          []struct {
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		} `json:"content"`
	}
	responseBody struct {
		ID    string `json:"id"`
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Incomplete *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *struct {
			InputTokens  int `json:"input_tokens"`
			OutputTokens int `json:"output_tokens"`
			TotalTokens  int `json:"total_tokens"`
			InputDetails struct {
				CachedTokens int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	}
)
