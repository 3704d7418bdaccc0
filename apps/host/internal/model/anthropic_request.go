package model

import (
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// defaultMaxTokens is sent when the configuration names none: the protocol
// requires a number.
const defaultMaxTokens = 8192

// maxAnthropicID is the longest tool call id, in bytes.
const maxAnthropicID = 64

// anthropicRequest translates a request. Everything up to the last message is
// marked for the provider's cache.
func anthropicRequest(config Config, req agent.Request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: anthropic.Model(config.Model), MaxTokens: int64(config.MaxTokens)}
	if params.MaxTokens == 0 {
		params.MaxTokens = defaultMaxTokens
	}
	if req.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, tool := range req.Tools {
		param, err := anthropicTool(tool)
		if err != nil {
			return params, err
		}
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: param})
	}
	for _, message := range req.Messages {
		role := anthropic.MessageParamRoleUser
		if message.Role == session.RoleAssistant {
			role = anthropic.MessageParamRoleAssistant
		}
		blocks := anthropicBlocks(config, message)
		// Results of one message, and a prompt behind them, are one message here.
		if last := len(params.Messages) - 1; last >= 0 && params.Messages[last].Role == role {
			params.Messages[last].Content = append(params.Messages[last].Content, blocks...)
		} else if len(blocks) > 0 {
			params.Messages = append(params.Messages, anthropic.MessageParam{Role: role, Content: blocks})
		}
	}
	markForCache(params.Messages)
	return params, nil
}

func anthropicTool(tool agent.ToolSpec) (*anthropic.ToolParam, error) {
	var schema map[string]any
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		return nil, fmt.Errorf("the schema of the tool %s: %w", tool.Name, err)
	}
	input := anthropic.ToolInputSchemaParam{Properties: schema["properties"], ExtraFields: map[string]any{}}
	for key, value := range schema {
		switch key {
		case "type", "properties":
		case "required":
			names, _ := value.([]any) // anything else is no schema
			for _, name := range names {
				input.Required = append(input.Required, fmt.Sprint(name))
			}
		default:
			input.ExtraFields[key] = value
		}
	}
	return &anthropic.ToolParam{Name: tool.Name, Description: anthropic.String(tool.Description), InputSchema: input}, nil
}

func anthropicBlocks(config Config, m session.Message) []anthropic.ContentBlockParamUnion {
	if m.Role == session.RoleToolResult {
		return []anthropic.ContentBlockParamUnion{anthropicResult(m)}
	}
	// A signature is valid for the model that made it, and for no other.
	ownThinking := m.API == apiAnthropic && m.Model == config.Model
	var out []anthropic.ContentBlockParamUnion
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			out = append(out, anthropic.NewTextBlock(block.Text))
		case session.BlockImage:
			out = append(out, anthropic.NewImageBlockBase64(block.MimeType, block.Data))
		case session.BlockToolCall:
			out = append(out, anthropic.NewToolUseBlock(anthropicID(block.ID), block.Arguments, block.Name))
		case session.BlockThinking:
			switch {
			case !ownThinking || block.ThinkingSignature == "":
			case block.Redacted:
				out = append(out, anthropic.NewRedactedThinkingBlock(block.ThinkingSignature))
			default:
				out = append(out, anthropic.NewThinkingBlock(block.ThinkingSignature, block.Thinking))
			}
		}
	}
	return out
}

func anthropicResult(m session.Message) anthropic.ContentBlockParamUnion {
	result := anthropic.ToolResultBlockParam{ToolUseID: anthropicID(m.ToolCallID)}
	if m.IsError != nil {
		result.IsError = anthropic.Bool(*m.IsError)
	}
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: block.Text}})
		case session.BlockImage:
			image := anthropic.NewImageBlockBase64(block.MimeType, block.Data)
			result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
		}
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &result}
}

// markForCache marks the last block: what stands before it is the same in the
// next call.
func markForCache(messages []anthropic.MessageParam) {
	if len(messages) == 0 {
		return
	}
	content := messages[len(messages)-1].Content
	if control := content[len(content)-1].GetCacheControl(); control != nil {
		*control = anthropic.NewCacheControlEphemeralParam()
	}
}

// anthropicID gives an id of another provider a form that this one takes:
// letters, digits, _ and -. The same id gets the same form.
func anthropicID(id string) string {
	for _, c := range id {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return hashedID(id)
		}
	}
	return shortID(id, maxAnthropicID)
}
