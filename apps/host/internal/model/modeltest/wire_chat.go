package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/packages/protocol/session"
)

// content is the content of a message: a string, null, or parts.
type content []part

type part struct {
	Type     string
	Text     string
	ImageURL *struct{ URL string } `json:"image_url"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = nil
		if text != "" {
			*c = content{{Type: "text", Text: text}}
		}
		return nil
	}
	type plain content
	return json.Unmarshal(data, (*plain)(c))
}

func (c content) check() error {
	if len(c) == 0 {
		return errors.New("has no content")
	}
	for _, part := range c {
		switch {
		case part.Type == "text" && blank(part.Text):
			return errors.New("has blank text")
		case part.Type == "image_url" && part.ImageURL == nil, part.Type != "text" && part.Type != "image_url":
			return fmt.Errorf("has a part of the unknown type %q", part.Type)
		case part.Type == "image_url":
			if err := checkDataURL(part.ImageURL.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

type chatMessage struct {
	Role       string
	Content    content
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// checkChat rejects what chat completions reject, and roles that do not alternate, which
// the chat templates of local models reject.
func checkChat(_ string, body []byte) error {
	var request struct {
		Messages []chatMessage
		Stream   bool
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	calls := ledger{maxID: 40, any: true}
	last := ""
	for i, m := range request.Messages {
		if err := m.check(&calls, last); err != nil {
			return fmt.Errorf("messages[%d] (%s): %w", i, m.Role, err)
		}
		last = m.Role
	}
	if last != "user" && last != "tool" {
		return fmt.Errorf("the last message is of role %q", last)
	}
	return calls.closed()
}

func (m chatMessage) check(calls *ledger, last string) error {
	if m.Role == "tool" {
		if slices.ContainsFunc(m.Content, func(p part) bool { return p.Type != "text" }) {
			return errors.New("a tool message holds text only")
		}
		if err := m.Content.check(); err != nil {
			return err
		}
		return calls.result(m.ToolCallID)
	}
	if err := calls.closed(); err != nil {
		return err
	}
	switch m.Role {
	case "system":
		if last != "" {
			return errors.New("is not the first message")
		}
		return m.Content.check()
	case "user":
		if last == "user" {
			return errors.New("follows one of the same role")
		}
		return m.Content.check()
	case "assistant":
		if last != "user" && last != "tool" {
			return fmt.Errorf("follows %q", last)
		}
		for _, call := range m.ToolCalls {
			if err := calls.call(call.ID, call.Function.Name, call.Function.Arguments); err != nil {
				return err
			}
		}
		if len(m.ToolCalls) == 0 || len(m.Content) > 0 {
			return m.Content.check()
		}
		return nil
	}
	return errors.New("is of an unknown role")
}

func failOpenAI(status int, text string) any {
	code := map[int]string{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}[status]
	return object{"error": object{"message": text, "type": "invalid_request_error", "code": code}}
}

func playChat(out *stream, model string, step Step) {
	say := func(delta object, finish any) {
		out.event("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	say(object{"role": "assistant", "content": ""}, nil)
	call := 0
	for i, block := range step.Content {
		switch block.Type {
		case session.BlockText:
			out.pieces(block.Text, func(s string) { say(object{"content": s}, nil) })
		case session.BlockThinking:
			out.pieces(block.Thinking, func(s string) { say(object{"reasoning_content": s}, nil) })
		case session.BlockToolCall:
			say(object{"tool_calls": []any{object{"index": call, "id": block.ID, "type": "function",
				"function": object{"name": block.Name, "arguments": ""}}}}, nil)
			out.pieces(arguments(step, i), func(s string) {
				say(object{"tool_calls": []any{object{"index": call, "function": object{"arguments": s}}}}, nil)
			})
			call++
		}
	}
	if step.Stall {
		return
	}
	finish := map[session.StopReason]string{session.StopLength: "length", session.StopToolUse: "tool_calls"}[stopOf(step)]
	if finish == "" {
		finish = "stop"
	}
	say(object{}, finish)
	out.event("", object{"id": "chatcmpl-1", "choices": []any{},
		"usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
	fmt.Fprint(out.w, "data: [DONE]\n\n")
}
