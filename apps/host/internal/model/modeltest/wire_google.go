package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// skipSignature replaces the signature of a call that the model did not make; Gemini 3
// accepts it.
const skipSignature = "skip_thought_signature_validator"

type googlePart struct {
	Text             string
	Thought          bool
	ThoughtSignature string
	InlineData       *struct{ MimeType, Data string }
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response map[string]json.RawMessage
	}
}

type googleContent struct {
	Role  string
	Parts []googlePart
}

// checkGoogle rejects what generateContent rejects.
func checkGoogle(model string, body []byte) error {
	var request struct{ Contents []googleContent }
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	if len(request.Contents) == 0 {
		return errors.New("contents is not specified")
	}
	calls := ledger{maxID: 64}
	last := ""
	for i, c := range request.Contents {
		if err := c.check(model, &calls, last); err != nil {
			return fmt.Errorf("contents[%d] (%s): %w", i, c.Role, err)
		}
		last = c.Role
	}
	if last != "user" {
		return errors.New("please ensure that the last turn is of the user")
	}
	return calls.closed()
}

func (c googleContent) check(model string, calls *ledger, last string) error {
	if len(c.Parts) == 0 {
		return errors.New("parts must not be empty")
	}
	results := 0
	for _, part := range c.Parts {
		if part.FunctionResponse != nil {
			results++
		}
	}
	switch {
	case c.Role != "user" && c.Role != "model":
		return errors.New("please use a valid role: user, model")
	case c.Role == "model" && last != "user":
		return errors.New("comes first, or behind another of the model")
	case results > 0 && results < len(c.Parts):
		return errors.New("the number of function response parts is not that of the function call parts")
	case results == 0 && calls.closed() != nil:
		return calls.closed()
	}
	first := true
	for i, part := range c.Parts {
		if err := part.check(model, c.Role, calls, first); err != nil {
			return fmt.Errorf("parts[%d]: %w", i, err)
		}
		first = first && part.FunctionCall == nil
	}
	if results > 0 {
		return calls.closed()
	}
	return nil
}

func (p googlePart) check(model, role string, calls *ledger, first bool) error {
	ours := role == "model"
	if p.ThoughtSignature != "" && p.ThoughtSignature != Signature(model) && p.ThoughtSignature != skipSignature {
		return errors.New("thought signature is not valid")
	}
	switch {
	case p.FunctionCall != nil && ours:
		if first && p.ThoughtSignature == "" && strings.HasPrefix(model, "gemini-3") {
			return errors.New("function call is missing a thought_signature")
		}
		return calls.call(p.FunctionCall.ID, p.FunctionCall.Name, string(p.FunctionCall.Args))
	case p.FunctionResponse != nil && !ours:
		if p.FunctionResponse.Name == "" || len(p.FunctionResponse.Response) == 0 {
			return errors.New("the function response has no name or no response")
		}
		return calls.result(p.FunctionResponse.ID)
	case p.InlineData != nil && !ours:
		return checkImage(p.InlineData.MimeType, p.InlineData.Data)
	case p.Text != "" && !blank(p.Text):
		return nil
	}
	return errors.New("required oneof field 'data' must have one initialized field")
}

func failGoogle(status int, text string) any {
	word := map[int]string{401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
	if word == "" {
		word = "INVALID_ARGUMENT"
	}
	return object{"error": object{"code": status, "message": text, "status": word}}
}

func playGoogle(out *stream, model string, step Step) {
	usage := object{"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 15}
	send := func(part object, finish string) {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		out.event("", object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": model, "responseId": "r1"})
	}
	first := true
	for _, block := range step.Content {
		switch block.Type {
		case session.BlockText:
			out.pieces(block.Text, func(s string) { send(object{"text": s}, "") })
		case session.BlockThinking:
			out.pieces(block.Thinking, func(s string) { send(object{"text": s, "thought": true}, "") })
		case session.BlockToolCall:
			part := object{"functionCall": object{"id": block.ID, "name": block.Name, "args": block.Arguments}}
			if first {
				part["thoughtSignature"] = Signature(model)
			}
			first = false
			out.count(len(block.Arguments))
			send(part, "")
		}
	}
	if step.Stall {
		return
	}
	finish := "STOP"
	if step.Stop == session.StopLength {
		finish = "MAX_TOKENS"
	}
	send(object{"text": ""}, finish)
}
