package session

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Role says who speaks.
type Role string

const (
	RoleUser       Role = "user"
	RoleAssistant  Role = "assistant"
	RoleToolResult Role = "toolResult"
)

// StopReason says why an assistant message ended.
type StopReason string

const (
	StopEnd     StopReason = "stop"    // the model finished
	StopLength  StopReason = "length"  // the token limit cut it
	StopToolUse StopReason = "toolUse" // it waits for tool results
	StopError   StopReason = "error"   // the call failed; errorMessage says how
	StopAborted StopReason = "aborted" // a person cancelled
)

// BlockType tells content blocks apart.
type BlockType string

const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking"
	BlockImage    BlockType = "image"
	BlockToolCall BlockType = "toolCall"
)

// Message is what one role said. Which fields are set depends on the role; the
// order of the fields is the order on disk.
type Message struct {
	Role         Role            `json:"role"`
	ToolCallID   string          `json:"toolCallId,omitempty"` // toolResult
	ToolName     string          `json:"toolName,omitempty"`   // toolResult
	Content      Content         `json:"content"`
	API          string          `json:"api,omitempty"`        // assistant: the provider's protocol
	Provider     string          `json:"provider,omitempty"`   // assistant
	Model        string          `json:"model,omitempty"`      // assistant
	ResponseID   string          `json:"responseId,omitempty"` // assistant
	Details      json.RawMessage `json:"details,omitempty"`    // toolResult: data for people and programs, not for the model
	Usage        *Usage          `json:"usage,omitempty"`      // assistant
	StopReason   StopReason      `json:"stopReason,omitempty"` // assistant
	ErrorMessage string          `json:"errorMessage,omitempty"`
	IsError      *bool           `json:"isError,omitempty"` // toolResult
	Timestamp    int64           `json:"timestamp"`         // Unix milliseconds

	// Steer is of the entry, not of the message: see MessageEntry.
	Steer bool `json:"-"`
	// Note says that the host speaks, in the place of the user: see Note.
	Note bool `json:"-"`
}

// Usage counts tokens as the provider reports them.
type Usage struct {
	Input       int  `json:"input"`
	Output      int  `json:"output"`
	CacheRead   int  `json:"cacheRead"`
	CacheWrite  int  `json:"cacheWrite"`
	TotalTokens int  `json:"totalTokens"`
	Cost        Cost `json:"cost"`
	// Partial says that the provider broke off, or was left, before it had told all: more
	// was taken than the figures say, and nobody knows how much.
	Partial bool `json:"partial,omitempty"`
}

// Cost is in US dollars; zero where the price is not known.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Content is a list of blocks. A plain JSON string reads as one text block.
type Content []Block

// Block is one piece of content. Which fields are set depends on the type.
type Block struct {
	Type              BlockType       `json:"type"`
	Text              string          `json:"text,omitempty"`
	TextSignature     string          `json:"textSignature,omitempty"` // text: the provider's, to be sent back
	Thinking          string          `json:"thinking,omitempty"`
	ThinkingSignature string          `json:"thinkingSignature,omitempty"`
	Redacted          bool            `json:"redacted,omitempty"`
	Data              string          `json:"data,omitempty"` // image: base64
	MimeType          string          `json:"mimeType,omitempty"`
	ID                string          `json:"id,omitempty"` // toolCall
	Name              string          `json:"name,omitempty"`
	Arguments         json.RawMessage `json:"arguments,omitempty"`        // toolCall: a JSON object
	ThoughtSignature  string          `json:"thoughtSignature,omitempty"` // toolCall: the provider's, to be sent back
}

// Text returns a text block.
func Text(text string) Block { return Block{Type: BlockText, Text: text} }

// Plain joins the text blocks with nothing between them.
func (c Content) Plain() string {
	var b strings.Builder
	for _, block := range c {
		if block.Type == BlockText {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// ToolCalls returns the tool calls in order.
func (c Content) ToolCalls() []Block {
	var calls []Block
	for _, block := range c {
		if block.Type == BlockToolCall {
			calls = append(calls, block)
		}
	}
	return calls
}

// MarshalJSON writes an array, never null.
func (c Content) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("[]"), nil
	}
	return Encode([]Block(c))
}

// UnmarshalJSON reads an array of blocks, a string, or null.
func (c *Content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("session: reading content: %w", err)
		}
		*c = Content{Text(text)}
		return nil
	}
	var blocks []Block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return fmt.Errorf("session: reading content: %w", err)
	}
	*c = blocks
	return nil
}

// MarshalJSON writes the keys that belong to the type, also when they are empty:
// a text block always has its text.
func (b Block) MarshalJSON() ([]byte, error) {
	switch b.Type {
	case BlockText:
		return Encode(struct {
			Type          BlockType `json:"type"`
			Text          string    `json:"text"`
			TextSignature string    `json:"textSignature,omitempty"`
		}{b.Type, b.Text, b.TextSignature})
	case BlockThinking:
		return Encode(struct {
			Type              BlockType `json:"type"`
			Thinking          string    `json:"thinking"`
			ThinkingSignature string    `json:"thinkingSignature,omitempty"`
			Redacted          bool      `json:"redacted,omitempty"`
		}{b.Type, b.Thinking, b.ThinkingSignature, b.Redacted})
	case BlockToolCall:
		arguments := b.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		return Encode(struct {
			Type      BlockType       `json:"type"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`

			ThoughtSignature string `json:"thoughtSignature,omitempty"`
		}{b.Type, b.ID, b.Name, arguments, b.ThoughtSignature})
	}
	type plain Block
	return Encode(plain(b))
}
