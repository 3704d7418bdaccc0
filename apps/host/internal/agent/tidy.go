package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// invalidKey holds arguments that were no JSON object, or were nested too deeply. The log needs an object,
// and the model needs to see what it wrote.
const invalidKey = "_invalid_arguments"

// tidyContent drops empty blocks and makes sure that every tool call has its own
// id and an object as arguments. ids holds those of earlier calls, and then those of
// this message as well.
func tidyContent(content session.Content, ids callIDs) session.Content {
	out := make(session.Content, 0, len(content))
	for i, block := range content {
		switch block.Type {
		case session.BlockText:
			if block.Text == "" {
				continue
			}
		case session.BlockThinking:
			if block.Thinking == "" && block.ThinkingSignature == "" {
				continue
			}
		case session.BlockToolCall:
			block.ID = ids.take(cmp.Or(block.ID, fmt.Sprintf("call_%d", i)))
			block.Arguments = objectOrWrapped(block.Arguments)
		}
		out = append(out, block)
	}
	return out
}

func objectOrWrapped(raw json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return json.RawMessage("{}")
	}
	if trimmed[0] == '{' && !exactjson.DeeperThan(trimmed, exactjson.MaxDepth) && json.Valid(trimmed) {
		return trimmed
	}
	wrapped, err := session.Encode(map[string]string{invalidKey: string(raw)})
	if err != nil { // a string always encodes
		return json.RawMessage("{}")
	}
	return wrapped
}

// invalidArguments returns the text that objectOrWrapped put away.
func invalidArguments(arguments json.RawMessage) (text string, invalid bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil || len(fields) != 1 || fields[invalidKey] == nil {
		return "", false
	}
	return text, json.Unmarshal(fields[invalidKey], &text) == nil
}

// syntaxError says what is wrong with text as JSON arguments.
func syntaxError(text string) string {
	if exactjson.DeeperThan([]byte(text), exactjson.MaxDepth) {
		return fmt.Sprintf("the arguments are nested too deeply: arrays and objects may be %d levels deep", exactjson.MaxDepth)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return err.Error()
	}
	return "it is not an object"
}
