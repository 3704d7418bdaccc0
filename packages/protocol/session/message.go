package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Role is the speaker of a message.
type Role string

const (
	RoleUser       Role = "user"
	RoleAssistant  Role = "assistant"
	RoleToolResult Role = "toolResult"
)

// StopReason is why an assistant message ended.
type StopReason string

const (
	StopEnd     StopReason = "stop"    // the model finished
	StopLength  StopReason = "length"  // the token limit was reached
	StopToolUse StopReason = "toolUse" // the model called tools
	StopError   StopReason = "error"   // the call failed; see errorMessage
	StopAborted StopReason = "aborted" // a person canceled
)

// BlockType is the type of a content block.
type BlockType string

const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking"
	BlockImage    BlockType = "image"
	BlockFile     BlockType = "file" // in a prompt that is sent, never in a log
	BlockToolCall BlockType = "toolCall"
)

// Message is one message. Which fields are set depends on the role; the order of
// the fields is the order on disk.
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

	// Steer is stored in the entry, not in the message: see MessageEntry.
	Steer bool `json:"-"`
	// Note means that the host speaks, in place of the user: see Note.
	Note bool `json:"-"`
}

// Usage counts tokens as the provider reports them.
type Usage struct {
	Input       int  `json:"input"`       // tokens sent that were not read from a cache
	Output      int  `json:"output"`      // tokens of the answers
	CacheRead   int  `json:"cacheRead"`   // tokens read from the provider's cache
	CacheWrite  int  `json:"cacheWrite"`  // tokens written to the provider's cache
	TotalTokens int  `json:"totalTokens"` // all of them, as the provider counts
	Cost        Cost `json:"cost"`        // US dollars; 0 if the price is not known
	// Partial means that the call ended before the provider reported its full
	// usage: more was used than the figures say, and the amount is unknown.
	Partial bool `json:"partial,omitempty"`
}

// Plus returns the sum of two usages; nil counts as zero.
func (u Usage) Plus(other *Usage) Usage {
	if other == nil {
		return u
	}
	u.Input += other.Input
	u.Output += other.Output
	u.CacheRead += other.CacheRead
	u.CacheWrite += other.CacheWrite
	u.TotalTokens += other.TotalTokens
	u.Cost.Input += other.Cost.Input
	u.Cost.Output += other.Cost.Output
	u.Cost.CacheRead += other.Cost.CacheRead
	u.Cost.CacheWrite += other.Cost.CacheWrite
	u.Cost.Total += other.Cost.Total
	u.Partial = u.Partial || other.Partial
	return u
}

// Cost is in US dollars; zero if the price is unknown.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Content is a list of blocks. A plain JSON string is decoded as one text block.
type Content []Block

// Block is one piece of content. Which fields are set depends on the type.
type Block struct {
	Type              BlockType       `json:"type"`                    // "text", "image", "thinking" or "toolCall"
	Text              string          `json:"text,omitempty"`          // of a text
	TextSignature     string          `json:"textSignature,omitempty"` // text: opaque data that is sent back to the provider
	Thinking          string          `json:"thinking,omitempty"`
	ThinkingSignature string          `json:"thinkingSignature,omitempty"`
	Redacted          bool            `json:"redacted,omitempty"`
	Data              string          `json:"data,omitempty"`     // image: base64; "" if the image is only referenced
	MimeType          string          `json:"mimeType,omitempty"` // of an image
	SHA256            string          `json:"sha256,omitempty"`   // image: lower-case hex, identifies the image on the wire
	Size              int             `json:"size,omitempty"`     // image: bytes, before base64
	Width             int             `json:"width,omitempty"`    // image: pixels; 0 if unknown
	Height            int             `json:"height,omitempty"`
	ID                string          `json:"id,omitempty"` // toolCall
	Name              string          `json:"name,omitempty"`
	Arguments         json.RawMessage `json:"arguments,omitempty"`        // toolCall: a JSON object
	ThoughtSignature  string          `json:"thoughtSignature,omitempty"` // toolCall: opaque data that is sent back to the provider
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

// HasImage reports whether one of the blocks is an image.
func (c Content) HasImage() bool {
	return slices.ContainsFunc(c, func(b Block) bool { return b.Type == BlockImage })
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

// UnmarshalJSON decodes an array of blocks, a string, or null.
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
	if err := exactjson.Unmarshal(data, &blocks); err != nil {
		return fmt.Errorf("session: reading content: %w", err)
	}
	*c = blocks
	return nil
}

// MarshalJSON writes the keys that belong to the type, even if they are empty: a
// text block always has its text.
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
	case BlockImage:
		return Encode(struct {
			Type     BlockType `json:"type"`
			Data     string    `json:"data"`
			MimeType string    `json:"mimeType"`
			SHA256   string    `json:"sha256,omitempty"`
			Size     int       `json:"size,omitempty"`
			Width    int       `json:"width,omitempty"`
			Height   int       `json:"height,omitempty"`
		}{b.Type, b.Data, b.MimeType, b.SHA256, b.Size, b.Width, b.Height})
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
