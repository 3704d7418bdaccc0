package model

import (
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// responsesRequestOf translates a request. Nothing is stored on the server, so the whole
// history is sent, with reasoning in encrypted form.
func responsesRequestOf(config Config, req agent.Request) responsesRequest {
	out := responsesRequest{
		Model: config.Model, Instructions: req.System, Input: []any{}, Stream: true,
		MaxOutputTokens: config.MaxTokens, PromptCacheKey: req.CacheKey,
	}
	level := config.level(req)
	if word := effort(config.Model, level); word != "" {
		out.Reasoning = &reasoning{Effort: word}
		if word != "none" {
			out.Reasoning.Summary = "auto"
		}
	}
	if reasoningID.MatchString(config.Model) || out.Reasoning != nil {
		out.Include = []string{"reasoning.encrypted_content"}
	}
	for _, message := range req.Messages {
		out.Input = append(out.Input, responseItems(config, message)...)
	}
	for _, tool := range req.Tools {
		out.Tools = append(out.Tools, responseTool{Type: "function", Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	if req.NoTools && len(out.Tools) > 0 {
		out.ToolChoice = noTools
	}
	return out
}

func responseItems(config Config, m session.Message) []any {
	switch m.Role {
	case session.RoleUser:
		return []any{inputMessage{Type: "message", Role: "user", Content: inputParts(m.Content)}}
	case session.RoleToolResult:
		var output any = m.Content.Plain()
		if hasImage(m.Content) {
			output = inputParts(m.Content)
		}
		return []any{functionOutput{Type: "function_call_output", CallID: plainID(m.ToolCallID), Output: output}}
	case session.RoleAssistant:
		return assistantItems(config, m)
	}
	return nil
}

// assistantItems returns one item for each block. A reasoning item is refused without the
// item that followed it, so reasoning at the end is left out, and so is that of an
// interrupted message, which may lack that item.
func assistantItems(config Config, m session.Message) []any {
	whole := m.StopReason != session.StopAborted && m.StopReason != session.StopError && m.StopReason != session.StopLength
	replay := whole && config.own(apiResponses, m)
	var out, thoughts []any
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockThinking:
			if item, ok := thought(block); ok && replay {
				thoughts = append(thoughts, item)
			}
			continue
		case session.BlockText:
			out = append(out, thoughts...)
			out = append(out, inputMessage{Type: "message", Role: "assistant", Content: []inputPart{{Type: "output_text", Text: block.Text}}})
		case session.BlockToolCall:
			out = append(out, thoughts...)
			out = append(out, functionCall{"function_call", plainID(block.ID), block.Name, string(block.Arguments)})
		}
		thoughts = nil
	}
	return out
}

// thought decodes the reasoning item that a thinking block has as its signature.
func thought(block session.Block) (item reasoningItem, ok bool) {
	if !strings.HasPrefix(block.ThinkingSignature, "{") || json.Unmarshal([]byte(block.ThinkingSignature), &item) != nil {
		return item, false
	}
	if item.Summary == nil {
		item.Summary = []summaryPart{}
	}
	return item, item.Type == "reasoning" && item.EncryptedContent != ""
}

func inputParts(content session.Content) []inputPart {
	var parts []inputPart
	for _, block := range content {
		switch block.Type {
		case session.BlockText:
			parts = append(parts, inputPart{Type: "input_text", Text: block.Text})
		case session.BlockImage:
			parts = append(parts, inputPart{Type: "input_image", ImageURL: "data:" + block.MimeType + ";base64," + block.Data})
		}
	}
	return parts
}

func hasImage(content session.Content) bool {
	for _, block := range content {
		if block.Type == session.BlockImage {
			return true
		}
	}
	return false
}
