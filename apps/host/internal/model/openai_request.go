package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// noTools is the tool choice that forbids tools.
const noTools = "none"

// maxChatID is the longest tool call id that OpenAI accepts, in bytes.
const maxChatID = 40

// maxPlainID is the longest id that other servers accept, in bytes.
const maxPlainID = 64

// chatRequestOf translates a request. Thinking is left out, because no server of this
// protocol accepts it.
func chatRequestOf(config Config, req agent.Request) chatRequest {
	out := chatRequest{Model: config.Model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}}
	if req.System != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: chatText(req.System)})
	}
	for _, message := range req.Messages {
		out.Messages = addChatMessage(out.Messages, message)
	}
	for _, tool := range req.Tools {
		out.Tools = append(out.Tools, chatTool{Type: "function", Function: chatSpec{tool.Name, tool.Description, tool.Parameters}})
	}
	if req.NoTools && len(out.Tools) > 0 {
		out.ToolChoice = noTools
	}
	out.ReasoningEffort = effort(config.Model, config.level(req))
	// OpenAI's newer models refuse max_tokens. Most other servers know only that, and some
	// refuse unknown fields.
	if strings.HasPrefix(config.BaseURL, "https://api.openai.com/") {
		out.MaxCompletionTokens, out.PromptCacheKey = config.MaxTokens, req.CacheKey
	} else {
		out.MaxTokens = config.MaxTokens
	}
	return out
}

func chatText(text string) chatContent { return chatContent{{Type: "text", Text: text}} }

func addChatMessage(messages []chatMessage, m session.Message) []chatMessage {
	switch m.Role {
	case session.RoleUser:
		content := chatParts(m.Content)
		// Chat templates of local models require alternating roles.
		if last := len(messages) - 1; last >= 0 && messages[last].Role == "user" {
			messages[last].Content = append(messages[last].Content, content...)
			return messages
		}
		return append(messages, chatMessage{Role: "user", Content: content})
	case session.RoleAssistant:
		out := chatMessage{Role: "assistant"}
		if text := m.Content.Plain(); text != "" {
			out.Content = chatText(text)
		}
		for _, call := range m.Content.ToolCalls() {
			out.ToolCalls = append(out.ToolCalls, chatCall{
				ID: shortID(call.ID, maxChatID), Type: "function",
				Function: chatFunction{call.Name, string(call.Arguments)},
			})
		}
		return append(messages, out)
	case session.RoleToolResult:
		return addChatResult(messages, m)
	}
	return messages
}

// addChatResult adds a tool result. A result can contain only text, so images follow in a
// user message.
func addChatResult(messages []chatMessage, m session.Message) []chatMessage {
	var images chatContent
	for _, part := range chatParts(m.Content) {
		if part.Type != "text" {
			images = append(images, part)
		}
	}
	text := m.Content.Plain()
	if text == "" && len(images) > 0 {
		text = "(the image follows)"
	}
	result := chatMessage{Role: "tool", ToolCallID: shortID(m.ToolCallID, maxChatID), Content: chatText(text)}
	// Results stay together, before any of their images.
	if last := len(messages) - 1; last >= 0 && messages[last].Role == "user" {
		images = append(messages[last].Content, images...)
		messages = messages[:last]
	}
	messages = append(messages, result)
	if len(images) > 0 {
		messages = append(messages, chatMessage{Role: "user", Content: images})
	}
	return messages
}

func chatParts(content session.Content) chatContent {
	var parts chatContent
	for _, block := range content {
		switch block.Type {
		case session.BlockText:
			parts = append(parts, chatPart{Type: "text", Text: block.Text})
		case session.BlockImage:
			parts = append(parts, chatPart{Type: "image_url", ImageURL: &imageURL{"data:" + block.MimeType + ";base64," + block.Data}})
		}
	}
	return parts
}

// shortID returns id, or a shorter id that is equally unique and reproducible.
func shortID(id string, limit int) string {
	if len(id) <= limit {
		return id
	}
	return hashedID(id)
}

// plainID converts an id to a form that every provider accepts: at most 64 letters, digits,
// _ and -. The result is reproducible.
func plainID(id string) string {
	for _, c := range id {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return hashedID(id)
		}
	}
	return shortID(id, maxPlainID)
}

// hashedID returns an id of 37 characters that every provider accepts.
func hashedID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}
