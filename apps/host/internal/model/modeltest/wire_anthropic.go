package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

type anthropicBlock struct {
	Type, Text, Thinking, Signature, Data string

	ID, Name  string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   []anthropicBlock
	Source    *struct {
		Type, Data string
		MediaType  string `json:"media_type"`
	}
	Cache *struct{ Type string } `json:"cache_control"`
}

type anthropicMessage struct {
	Role    string
	Content []anthropicBlock
}

type anthropicBody struct {
	Messages  []anthropicMessage
	System    []anthropicBlock
	MaxTokens int `json:"max_tokens"`
	Thinking  *struct {
		Type   string
		Budget int `json:"budget_tokens"`
	}
}

// maxBreakpoints is how many cache marks one request may contain.
const maxBreakpoints = 4

// checkAnthropic rejects what the messages API rejects.
func checkAnthropic(model string, body []byte) error {
	var request anthropicBody
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	if err := request.checkSettings(); err != nil {
		return err
	}
	calls := ledger{maxID: 64}
	want := "user"
	for i, m := range request.Messages {
		if m.Role != want {
			return fmt.Errorf("messages.%d: the role is %q, want %q: roles must alternate", i, m.Role, want)
		}
		if err := m.check(model, &calls); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		want = map[string]string{"user": "assistant", "assistant": "user"}[want]
	}
	if want == "user" {
		return errors.New("the conversation must end with a user message")
	}
	return request.checkThinking()
}

func (b anthropicBody) checkSettings() error {
	marks := 0
	for _, block := range b.System {
		if block.Cache != nil {
			marks++
		}
	}
	for _, m := range b.Messages {
		for _, block := range m.Content {
			if block.Cache != nil {
				marks++
			}
		}
	}
	switch {
	case b.MaxTokens <= 0:
		return errors.New("max_tokens: field required")
	case marks > maxBreakpoints:
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", maxBreakpoints, marks)
	case b.Thinking != nil && b.Thinking.Type == "enabled" && (b.Thinking.Budget < 1024 || b.Thinking.Budget >= b.MaxTokens):
		return errors.New("thinking.budget_tokens must be at least 1024 and less than max_tokens")
	}
	return nil
}

// checkThinking checks that an answer continued after tool results began with thinking.
func (b anthropicBody) checkThinking() error {
	n := len(b.Messages)
	if b.Thinking == nil || b.Thinking.Type == "disabled" || n < 2 || b.Messages[n-1].Content[0].Type != "tool_result" {
		return nil
	}
	if first := b.Messages[n-2].Content[0].Type; first != "thinking" && first != "redacted_thinking" {
		return fmt.Errorf("messages.%d.content.0.type: expected thinking, but found %s", n-2, first)
	}
	return nil
}

func (m anthropicMessage) check(model string, calls *ledger) error {
	if len(m.Content) == 0 {
		return errors.New("has no content")
	}
	for i, block := range m.Content {
		if block.Type == "tool_result" {
			if i > 0 && m.Content[i-1].Type != "tool_result" {
				return errors.New("tool_result blocks must come first")
			}
			if err := calls.result(block.ToolUseID); err != nil {
				return err
			}
			if err := block.checkResult(model, calls); err != nil {
				return fmt.Errorf("content.%d (tool_result): %w", i, err)
			}
			continue
		}
		if m.Role == "user" {
			if err := calls.closed(); err != nil {
				return err
			}
		}
		if err := block.check(model, m.Role, calls); err != nil {
			return fmt.Errorf("content.%d (%s): %w", i, block.Type, err)
		}
	}
	last := m.Content[len(m.Content)-1].Type
	if m.Role == "assistant" && (last == "thinking" || last == "redacted_thinking") {
		return errors.New("the final block in an assistant message cannot be thinking")
	}
	if m.Role == "user" {
		return calls.closed()
	}
	return nil
}

// checkResult rejects what a tool result cannot contain.
func (b anthropicBlock) checkResult(model string, calls *ledger) error {
	for i, block := range b.Content {
		if block.Type != "text" && block.Type != "image" {
			return fmt.Errorf("content.%d: a result holds no %s", i, block.Type)
		}
		if err := block.check(model, "user", calls); err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
	}
	return nil
}

func (b anthropicBlock) check(model, role string, calls *ledger) error {
	switch b.Type {
	case "text":
		if blank(b.Text) {
			return errors.New("text content blocks must be non-empty")
		}
		return nil
	case "image":
		if role != "user" || b.Source == nil || b.Source.Type != "base64" {
			return errors.New("unexpected image")
		}
		return checkImage(b.Source.MediaType, b.Source.Data)
	}
	if role != "assistant" {
		return errors.New("does not belong to the user")
	}
	switch b.Type {
	case "thinking":
		if b.Signature != Signature(model) {
			return errors.New("invalid signature in thinking block")
		}
		return nil
	case "redacted_thinking":
		if b.Data == "" {
			return errors.New("has no data")
		}
		return nil
	case "tool_use":
		return calls.call(b.ID, b.Name, string(b.Input))
	}
	return errors.New("is of an unknown type")
}

func failAnthropic(status int, text string) any {
	kind := map[int]string{401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	if kind == "" {
		kind = "invalid_request_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": text}}
}

func playAnthropic(out *stream, model string, step Step) {
	send := func(kind string, data object) {
		data["type"] = kind
		out.event(kind, data)
	}
	send("message_start", object{"message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": model,
		"content": []any{}, "usage": object{"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 3}}})
	for i, block := range step.Content {
		start := func(data object) { send("content_block_start", object{"index": i, "content_block": data}) }
		delta := func(data object) { send("content_block_delta", object{"index": i, "delta": data}) }
		switch block.Type {
		case session.BlockText:
			start(object{"type": "text", "text": ""})
			out.pieces(block.Text, func(s string) { delta(object{"type": "text_delta", "text": s}) })
		case session.BlockThinking:
			start(object{"type": "thinking", "thinking": "", "signature": ""})
			out.pieces(block.Thinking, func(s string) { delta(object{"type": "thinking_delta", "thinking": s}) })
			delta(object{"type": "signature_delta", "signature": Signature(model)})
		case session.BlockToolCall:
			start(object{"type": "tool_use", "id": block.ID, "name": block.Name, "input": object{}})
			out.pieces(arguments(step, i), func(s string) { delta(object{"type": "input_json_delta", "partial_json": s}) })
		}
		send("content_block_stop", object{"index": i})
	}
	if step.Stall {
		return
	}
	stop := map[session.StopReason]string{session.StopLength: "max_tokens", session.StopToolUse: "tool_use"}[stopOf(step)]
	if stop == "" {
		stop = "end_turn"
	}
	send("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 5}})
	send("message_stop", object{})
}
