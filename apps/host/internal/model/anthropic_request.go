package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// defaultMaxTokens is sent if the configuration sets none, because the protocol requires a
// number.
const defaultMaxTokens = 8192

// anthropicRequest encodes the body of a request.
func anthropicRequest(config Config, req agent.Request) ([]byte, error) {
	body, err := anthropicBodyOf(config, req)
	if err != nil {
		return nil, err
	}
	return session.Encode(body)
}

// anthropicBodyOf translates a request. Everything up to the last message is marked for the
// provider's cache.
func anthropicBodyOf(config Config, req agent.Request) (anthropicBody, error) {
	body := anthropicBody{Model: config.Model, MaxTokens: config.MaxTokens, Stream: true}
	if req.System != "" {
		body.System = []anthropicBlock{{Type: "text", Text: &req.System, Cache: ephemeral()}}
	}
	for _, tool := range req.Tools {
		if !json.Valid(tool.Parameters) {
			return body, fmt.Errorf("the schema of the tool %s is not JSON", tool.Name)
		}
		body.Tools = append(body.Tools, anthropicTool{tool.Name, tool.Description, tool.Parameters})
	}
	if req.NoTools && len(body.Tools) > 0 {
		body.ToolChoice = &anthropicChoice{"none"}
	}
	for _, message := range req.Messages {
		role := "user"
		if message.Role == session.RoleAssistant {
			role = "assistant"
		}
		blocks := anthropicBlocks(config, message)
		// Results of one message, and a prompt after them, are one message in this
		// protocol.
		if last := len(body.Messages) - 1; last >= 0 && body.Messages[last].Role == role {
			body.Messages[last].Content = append(body.Messages[last].Content, blocks...)
		} else if len(blocks) > 0 {
			body.Messages = append(body.Messages, anthropicMessage{role, blocks})
		}
	}
	body.think(config, config.level(req))
	markForCache(body.Messages)
	return body, nil
}

// think sets how much the model thinks and how long the answer may be, which includes the
// tokens of thinking.
func (b *anthropicBody) think(config Config, level agent.ThinkingLevel) {
	thinks := level != "" && level != agent.ThinkingOff && thinkingFits(b.Messages)
	tokens := budget(level)
	switch {
	case !thinks && config.MaxTokens == 0:
		b.MaxTokens = defaultMaxTokens
	case !thinks:
	case adaptive(config.Model):
		if config.MaxTokens == 0 {
			b.MaxTokens = defaultMaxTokens + tokens
		}
		b.Thinking = &anthropicThinking{Type: "adaptive", Display: "summarized"}
		b.OutputConfig = &anthropicOutput{anthropicEffort(level)}
	case config.MaxTokens == 0:
		b.MaxTokens = defaultMaxTokens + tokens
		b.Thinking = &anthropicThinking{Type: "enabled", Budget: tokens}
	case config.MaxTokens >= 2*minThinking: // keep half of a small answer for the answer itself
		b.Thinking = &anthropicThinking{Type: "enabled", Budget: max(minThinking, min(tokens, b.MaxTokens/2))}
	}
}

// minThinking is the smallest budget that the protocol accepts, in tokens.
const minThinking = 1024

func anthropicEffort(level agent.ThinkingLevel) string {
	if level == agent.ThinkingMinimal {
		return "low"
	}
	return string(level)
}

// thinkingFits reports whether thinking may be enabled. If the conversation ends with tool
// results, the message before them must begin with thinking, which it does not if another
// model made it or it was interrupted.
func thinkingFits(messages []anthropicMessage) bool {
	last := len(messages) - 1
	if last < 1 || !hasResult(messages[last]) {
		return true
	}
	return messages[last-1].Content[0].thinks()
}

func hasResult(m anthropicMessage) bool {
	return slices.ContainsFunc(m.Content, func(b anthropicBlock) bool { return b.Type == "tool_result" })
}

func anthropicBlocks(config Config, m session.Message) []anthropicBlock {
	if m.Role == session.RoleToolResult {
		return []anthropicBlock{anthropicResult(m)}
	}
	// A signature is valid only for the model that made it.
	ownThinking := config.own(apiAnthropic, m)
	var out []anthropicBlock
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText, session.BlockImage:
			out = append(out, anthropicContent(block))
		case session.BlockToolCall:
			id := plainID(block.ID)
			out = append(out, anthropicBlock{Type: "tool_use", ID: &id, Name: &block.Name, Input: block.Arguments})
		case session.BlockThinking:
			switch {
			case !ownThinking || block.ThinkingSignature == "":
			case block.Redacted:
				out = append(out, anthropicBlock{Type: "redacted_thinking", Data: &block.ThinkingSignature})
			default:
				out = append(out, anthropicBlock{Type: "thinking", Thinking: &block.Thinking, Signature: &block.ThinkingSignature})
			}
		}
	}
	// A message must not end with thinking, as a canceled one may.
	for len(out) > 0 && out[len(out)-1].thinks() {
		out = out[:len(out)-1]
	}
	return out
}

// anthropicContent translates a text or an image.
func anthropicContent(block session.Block) anthropicBlock {
	if block.Type == session.BlockImage {
		return anthropicBlock{Type: "image", Source: &anthropicSource{"base64", block.MimeType, block.Data}}
	}
	return anthropicBlock{Type: "text", Text: &block.Text}
}

func anthropicResult(m session.Message) anthropicBlock {
	id := plainID(m.ToolCallID)
	result := anthropicBlock{Type: "tool_result", ToolUseID: &id, IsError: m.IsError}
	for _, block := range m.Content {
		if block.Type == session.BlockText || block.Type == session.BlockImage {
			result.Content = append(result.Content, anthropicContent(block))
		}
	}
	return result
}

func ephemeral() *anthropicCache { return &anthropicCache{"ephemeral"} }

// cacheMarks is how many user messages are marked: the last one for the next call, and the
// one before it to hit the mark of the last call, even if more blocks follow it than the
// provider searches.
const cacheMarks = 2

// markForCache marks the ends of what stays the same in the next call. Thinking cannot be
// marked.
func markForCache(messages []anthropicMessage) {
	left := cacheMarks
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if messages[i].Role != "user" {
			continue
		}
		content := messages[i].Content
		content[len(content)-1].Cache = ephemeral()
		left--
	}
}
