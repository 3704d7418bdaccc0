package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

type responsesItem struct {
	Type, Role, Name, Arguments string
	CallID                      string `json:"call_id"`
	Output                      json.RawMessage
	Summary                     []json.RawMessage
	EncryptedContent            string `json:"encrypted_content"`
	Content                     []struct {
		Type, Text string
		ImageURL   string `json:"image_url"`
	}
}

// checkResponses rejects what the responses API rejects of a client that stores nothing on
// the server.
func checkResponses(model string, body []byte) error {
	var request struct {
		Input []responsesItem
		Store bool
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	if len(request.Input) == 0 || request.Store {
		return errors.New("there is no input, or it is to be stored")
	}
	calls := ledger{maxID: 64}
	for i, item := range request.Input {
		next := responsesItem{}
		if i+1 < len(request.Input) {
			next = request.Input[i+1]
		}
		if err := item.check(model, &calls, next); err != nil {
			return fmt.Errorf("input[%d] (%s): %w", i, item.Type, err)
		}
	}
	if last := request.Input[len(request.Input)-1]; last.Role == "assistant" {
		return errors.New("the last item is the model's own")
	}
	return calls.closed()
}

func (it responsesItem) check(model string, calls *ledger, next responsesItem) error {
	switch it.Type {
	case "function_call":
		return calls.call(it.CallID, it.Name, it.Arguments)
	case "function_call_output":
		if len(it.Output) == 0 || string(it.Output) == `""` || string(it.Output) == "[]" {
			return errors.New("has no output")
		}
		if err := it.checkOutput(); err != nil {
			return err
		}
		return calls.result(it.CallID)
	case "reasoning":
		switch {
		case it.EncryptedContent != Signature(model):
			return errors.New("its encrypted content could not be verified")
		case it.Summary == nil:
			return errors.New("has no summary")
		case next.Type != "function_call" && next.Type != "reasoning" && next.Role != "assistant":
			return errors.New("was provided without its required following item")
		}
		return nil
	case "message":
		if err := calls.closed(); err != nil {
			return err
		}
		return it.checkMessage()
	}
	return errors.New("is of an unknown type")
}

// checkOutput rejects what the output of a call cannot contain: it is text, or parts.
func (it responsesItem) checkOutput() error {
	if it.Output[0] == '"' {
		return nil
	}
	var parts []struct {
		Type     string
		ImageURL string `json:"image_url"`
	}
	if err := json.Unmarshal(it.Output, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		switch part.Type {
		case "input_text":
		case "input_image":
			if err := checkDataURL(part.ImageURL); err != nil {
				return err
			}
		default:
			return fmt.Errorf("its output has a part of type %q", part.Type)
		}
	}
	return nil
}

func (it responsesItem) checkMessage() error {
	if len(it.Content) == 0 {
		return errors.New("has no content")
	}
	want := map[string]string{"user": "input_text", "assistant": "output_text"}[it.Role]
	for _, part := range it.Content {
		switch {
		case part.Type == "input_image" && it.Role == "user":
			if err := checkDataURL(part.ImageURL); err != nil {
				return err
			}
		case part.Type != want:
			return fmt.Errorf("a part of type %q does not belong to the role %q", part.Type, it.Role)
		case blank(part.Text):
			return errors.New("has blank text")
		}
	}
	return nil
}

func playResponses(out *stream, model string, step Step) {
	sequence := -1
	send := func(kind string, data object) {
		sequence++
		data["type"], data["sequence_number"] = kind, sequence
		out.event(kind, data)
	}
	send("response.created", object{"response": object{"id": "resp_1", "status": "in_progress"}})
	for i, block := range step.Content {
		playItem(out, send, model, step, i, block)
	}
	if step.Stall {
		return
	}
	kind, response := "response.completed", object{"id": "resp_1", "status": "completed"}
	if step.Stop == session.StopLength {
		kind, response["incomplete_details"] = "response.incomplete", object{"reason": "max_output_tokens"}
	}
	response["usage"] = object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
		"input_tokens_details": object{"cached_tokens": 4}}
	send(kind, object{"response": response})
}

func playItem(out *stream, send func(string, object), model string, step Step, i int, block session.Block) {
	item := object{"id": fmt.Sprintf("item_%d", i)}
	switch block.Type {
	case session.BlockText:
		item["type"], item["role"] = "message", "assistant"
		send("response.output_item.added", object{"output_index": i, "item": item})
		out.pieces(block.Text, func(s string) {
			send("response.output_text.delta", object{"output_index": i, "content_index": 0, "delta": s})
		})
		item["content"] = []any{object{"type": "output_text", "text": block.Text}}
	case session.BlockThinking:
		item["type"], item["summary"] = "reasoning", []any{}
		send("response.output_item.added", object{"output_index": i, "item": item})
		send("response.reasoning_summary_part.added", object{"output_index": i, "summary_index": 0})
		out.pieces(block.Thinking, func(s string) {
			send("response.reasoning_summary_text.delta", object{"output_index": i, "summary_index": 0, "delta": s})
		})
		item["summary"] = []any{object{"type": "summary_text", "text": block.Thinking}}
		item["encrypted_content"] = Signature(model)
	case session.BlockToolCall:
		item["type"], item["call_id"], item["name"], item["arguments"] = "function_call", block.ID, block.Name, ""
		send("response.output_item.added", object{"output_index": i, "item": item})
		text := arguments(step, i)
		out.pieces(text, func(s string) {
			send("response.function_call_arguments.delta", object{"output_index": i, "delta": s})
		})
		item["arguments"] = text
	}
	send("response.output_item.done", object{"output_index": i, "item": item})
}
