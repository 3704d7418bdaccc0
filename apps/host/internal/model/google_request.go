package model

import (
	"regexp"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// noSignature replaces the signature of a call that this model did not make; Gemini 3
// refuses a call without one. The value is defined by Google.
const noSignature = "skip_thought_signature_validator"

// googleRequestOf translates a request.
func googleRequestOf(config Config, req agent.Request) googleRequest {
	out := googleRequest{Contents: []googleContent{}}
	if req.System != "" {
		out.SystemInstruction = &googleContent{Parts: []googlePart{{Text: req.System}}}
	}
	for _, message := range req.Messages {
		out.Contents = addGoogleContent(config, out.Contents, message)
	}
	var functions []googleFunction
	for _, tool := range req.Tools {
		functions = append(functions, googleFunction{tool.Name, tool.Description, tool.Parameters})
	}
	if len(functions) > 0 {
		out.Tools = []googleTools{{functions}}
		if req.NoTools {
			out.ToolConfig = &googleToolConfig{googleCalling{Mode: "NONE"}}
		}
	}
	thinking := googleThinkingOf(config.Model, config.level(req))
	if config.MaxTokens > 0 || thinking != nil {
		out.GenerationConfig = &googleGenerator{config.MaxTokens, thinking}
	}
	return out
}

// addGoogleContent adds a message. All results of a message form one content directly after
// the calls; their images follow in a separate content.
func addGoogleContent(config Config, contents []googleContent, m session.Message) []googleContent {
	last := len(contents) - 1
	switch m.Role {
	case session.RoleUser:
		parts := googleParts(m.Content)
		if last >= 0 && contents[last].Role == "user" && contents[last].Parts[0].FunctionResponse == nil {
			contents[last].Parts = append(contents[last].Parts, parts...)
			return contents
		}
		return append(contents, googleContent{"user", parts})
	case session.RoleAssistant:
		if parts := googleAnswer(config, m); len(parts) > 0 {
			return append(contents, googleContent{"model", parts})
		}
	case session.RoleToolResult:
		return addGoogleResult(contents, m)
	}
	return contents
}

func addGoogleResult(contents []googleContent, m session.Message) []googleContent {
	key, text := "output", m.Content.Plain()
	if m.IsError != nil && *m.IsError {
		key = "error"
	}
	var images []googlePart
	for _, part := range googleParts(m.Content) {
		if part.InlineData != nil {
			images = append(images, part)
		}
	}
	if text == "" && len(images) > 0 {
		text = "(the image follows)"
	}
	result := googlePart{FunctionResponse: &googleResponse{plainID(m.ToolCallID), m.ToolName, map[string]string{key: text}}}
	last := len(contents) - 1
	// Images of earlier results move after this one.
	if last > 0 && contents[last].Role == "user" && contents[last].Parts[0].FunctionResponse == nil {
		images = append(contents[last].Parts, images...)
		contents = contents[:last]
		last--
	}
	if last >= 0 && contents[last].Role == "user" && contents[last].Parts[0].FunctionResponse != nil {
		contents[last].Parts = append(contents[last].Parts, result)
	} else {
		contents = append(contents, googleContent{"user", []googlePart{result}})
	}
	if len(images) > 0 {
		contents = append(contents, googleContent{"user", images})
	}
	return contents
}

// googleAnswer translates a message of the model.
func googleAnswer(config Config, m session.Message) []googlePart {
	own := config.own(apiGoogle, m)
	signed := func(signature string) string {
		if own {
			return signature
		}
		return ""
	}
	var parts []googlePart
	first := true
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			parts = append(parts, googlePart{Text: block.Text, ThoughtSignature: signed(block.TextSignature)})
		case session.BlockThinking:
			if own && block.ThinkingSignature != "" && block.Thinking != "" {
				parts = append(parts, googlePart{Text: block.Thinking, Thought: true, ThoughtSignature: block.ThinkingSignature})
			}
		case session.BlockToolCall:
			part := googlePart{
				FunctionCall:     &googleCall{plainID(block.ID), block.Name, block.Arguments},
				ThoughtSignature: signed(block.ThoughtSignature),
			}
			if first && part.ThoughtSignature == "" && gemini3(config.Model) {
				part.ThoughtSignature = noSignature
			}
			first = false
			parts = append(parts, part)
		}
	}
	return parts
}

func googleParts(content session.Content) []googlePart {
	var parts []googlePart
	for _, block := range content {
		switch block.Type {
		case session.BlockText:
			parts = append(parts, googlePart{Text: block.Text})
		case session.BlockImage:
			parts = append(parts, googlePart{InlineData: &googleBlob{block.MimeType, block.Data}})
		}
	}
	return parts
}

var gemini3ID = regexp.MustCompile(`^(models/)?gemini-([3-9]|\d\d)`)

func gemini3(id string) bool { return gemini3ID.MatchString(id) }

// googleThinkingOf translates the level: a word for Gemini 3 and later, tokens for earlier
// models; nil leaves it to the model.
func googleThinkingOf(id string, level agent.ThinkingLevel) *googleThinking {
	switch {
	case level == "":
		return nil
	case gemini3(id) && !strings.Contains(id, "flash"):
		// The large model has two levels and cannot be switched off.
		word := "LOW"
		if level == agent.ThinkingMedium || level == agent.ThinkingHigh {
			word = "HIGH"
		}
		return &googleThinking{level != agent.ThinkingOff, word, nil}
	case gemini3(id) && level == agent.ThinkingOff:
		return &googleThinking{false, "MINIMAL", nil}
	case gemini3(id):
		return &googleThinking{true, strings.ToUpper(string(level)), nil}
	}
	tokens := budget(level)
	if level == agent.ThinkingOff && strings.Contains(id, "pro") {
		tokens = 128 // the minimum
	}
	return &googleThinking{level != agent.ThinkingOff, "", &tokens}
}
