package model

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// FuzzStreams: whatever a server streams, nothing panics, and what is kept can be written
// to a log.
func FuzzStreams(f *testing.F) {
	for i, body := range []string{
		`data: {"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		`data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f"}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"s"}],"encrypted_content":"e"}}` + "\n\n" +
			`data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1}}}`,
		`data: {"candidates":[{"content":{"parts":[{"text":"t","thought":true},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},"finishReason":"STOP"}]}`,
	} {
		f.Add(i, []byte(body+"\n\n"))
	}
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		a := &assembler{emit: func(agent.Delta) {}}
		config := Config{Model: "m"}
		chat := &chatStream{a: a, config: config}
		responses := &responsesStream{a: a, config: config, blocks: map[int]int{}}
		google := &googleStream{a: a, config: config}
		var onData func([]byte) error
		var end func() (ending, *failure)
		switch kind {
		case 0:
			onData, end = chat.chunk, chat.end
		case 1:
			onData, end = responses.event, responses.end
		default:
			onData, end = google.chunk, google.end
		}
		err := readSSE(bytes.NewReader(body), func() {}, onData)
		if err != nil {
			if fail := config.broken(err); fail.text == "" {
				t.Error("an error without a sentence")
			}
		} else if ended, fail := end(); fail != nil && fail.text == "" || fail == nil && ended.stop == "" {
			t.Errorf("ended with %+v, %+v", ended, fail)
		}
		for _, block := range a.partial(true) {
			if block.Type == session.BlockToolCall && !json.Valid(block.Arguments) {
				t.Errorf("a call with %q was kept", block.Arguments)
			}
			if _, err := session.Encode(block); err != nil {
				t.Error(err)
			}
		}
	})
}
