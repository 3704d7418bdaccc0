package model

import "encoding/json"

// Types of a request to streamGenerateContent.
type (
	googleRequest struct {
		Contents          []googleContent   `json:"contents"`
		SystemInstruction *googleContent    `json:"systemInstruction,omitempty"`
		Tools             []googleTools     `json:"tools,omitempty"`
		ToolConfig        *googleToolConfig `json:"toolConfig,omitempty"`
		GenerationConfig  *googleGenerator  `json:"generationConfig,omitempty"`
	}
	googleContent struct {
		Role  string       `json:"role,omitempty"`
		Parts []googlePart `json:"parts"`
	}
	googlePart struct {
		Text             string          `json:"text,omitempty"`
		Thought          bool            `json:"thought,omitempty"`
		ThoughtSignature string          `json:"thoughtSignature,omitempty"`
		InlineData       *googleBlob     `json:"inlineData,omitempty"`
		FunctionCall     *googleCall     `json:"functionCall,omitempty"`
		FunctionResponse *googleResponse `json:"functionResponse,omitempty"`
	}
	googleBlob struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	googleCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args,omitempty"`
	}
	googleResponse struct {
		ID       string            `json:"id,omitempty"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
	}
	googleToolConfig struct {
		FunctionCallingConfig googleCalling `json:"functionCallingConfig"`
	}
	googleCalling struct {
		Mode string `json:"mode"`
	}
	googleTools struct {
		FunctionDeclarations []googleFunction `json:"functionDeclarations"`
	}
	googleFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
	}
	googleGenerator struct {
		MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
		ThinkingConfig  *googleThinking `json:"thinkingConfig,omitempty"`
	}
	googleThinking struct {
		IncludeThoughts bool   `json:"includeThoughts"`
		ThinkingLevel   string `json:"thinkingLevel,omitempty"`
		ThinkingBudget  *int   `json:"thinkingBudget,omitempty"`
	}
)

// Types of a response, as far as it is used.
type (
	googleChunk struct {
		ResponseID string `json:"responseId"`
		Candidates []struct {
			Index        int           `json:"index"`
			Content      googleContent `json:"content"`
			FinishReason string        `json:"finishReason"`
		} `json:"candidates"`
		PromptFeedback *struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *googleUsage    `json:"usageMetadata"`
		Error json.RawMessage `json:"error"`
	}
	googleUsage struct {
		Prompt     int `json:"promptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Total      int `json:"totalTokenCount"`
	}
)
