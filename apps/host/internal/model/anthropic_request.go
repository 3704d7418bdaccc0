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

// anthropicRequest translates a request. Everything up to the last message is
// marked for the provider's cache.
func anthropicRequest(config Config, req agent.Request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: anthropic.Model(config.Model), MaxTokens: int64(config.MaxTokens)}
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
	if req.NoTools && len(params.Tools) > 0 {
		params.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
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
	anthropicThinking(&params, config, config.level(req))
	markForCache(params.Messages)
	return params, nil
}

// anthropicThinking sets how much the model thinks, and how long the answer may
// be: the tokens of thinking count as well.
func anthropicThinking(params *anthropic.MessageNewParams, config Config, level agent.ThinkingLevel) {
	thinks := level != "" && level != agent.ThinkingOff && thinkingFits(params.Messages)
	tokens := int64(budget(level))
	switch {
	case !thinks && config.MaxTokens == 0:
		params.MaxTokens = defaultMaxTokens
	case !thinks:
	case adaptive(config.Model):
		if config.MaxTokens == 0 {
			params.MaxTokens = defaultMaxTokens + tokens
		}
		params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}
		params.OutputConfig.Effort = anthropicEffort(level)
	case config.MaxTokens == 0:
		params.MaxTokens = defaultMaxTokens + tokens
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(tokens)
	case config.MaxTokens >= 2*minThinking: // half of a small answer is left for the answer itself
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(max(minThinking, min(tokens, params.MaxTokens/2)))
	}
}

// minThinking is the least budget that the protocol takes, in tokens.
const minThinking = 1024

func anthropicEffort(level agent.ThinkingLevel) anthropic.OutputConfigEffort {
	if level == agent.ThinkingMinimal {
		return anthropic.OutputConfigEffortLow
	}
	return anthropic.OutputConfigEffort(level)
}

// thinkingFits tells whether thinking may be on: the message whose tool results
// are the last thing said must then begin with thinking, which it does not when
// another model made it or it was cut.
func thinkingFits(messages []anthropic.MessageParam) bool {
	last := len(messages) - 1
	if last < 1 || !hasResult(messages[last]) {
		return true
	}
	first := messages[last-1].Content[0]
	return first.OfThinking != nil || first.OfRedactedThinking != nil
}

func hasResult(m anthropic.MessageParam) bool {
	for _, block := range m.Content {
		if block.OfToolResult != nil {
			return true
		}
	}
	return false
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
	ownThinking := config.own(apiAnthropic, m)
	var out []anthropic.ContentBlockParamUnion
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			out = append(out, anthropic.NewTextBlock(block.Text))
		case session.BlockImage:
			out = append(out, anthropic.NewImageBlockBase64(block.MimeType, block.Data))
		case session.BlockToolCall:
			out = append(out, anthropic.NewToolUseBlock(plainID(block.ID), block.Arguments, block.Name))
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
	// An answer must not end with thinking, as one that was cancelled may.
	for len(out) > 0 && (out[len(out)-1].OfThinking != nil || out[len(out)-1].OfRedactedThinking != nil) {
		out = out[:len(out)-1]
	}
	return out
}

func anthropicResult(m session.Message) anthropic.ContentBlockParamUnion {
	result := anthropic.ToolResultBlockParam{ToolUseID: plainID(m.ToolCallID)}
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

// cacheMarks is how many messages of the user are marked: the last one for the
// next call, and the one before it to find again what the last call marked, also
// behind more blocks than the provider looks back.
const cacheMarks = 2

// markForCache marks the ends of what is the same in the next call.
func markForCache(messages []anthropic.MessageParam) {
	left := cacheMarks
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if messages[i].Role != anthropic.MessageParamRoleUser {
			continue
		}
		content := messages[i].Content
		if control := content[len(content)-1].GetCacheControl(); control != nil {
			*control = anthropic.NewCacheControlEphemeralParam()
			left--
		}
	}
}
