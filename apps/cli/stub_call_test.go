package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// call answers a prompt with "call" in it with a command that adds a line to ran.txt, one with "wait"
// as answer does, and all others at once.
func (m *stubModel) call(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "the request is wrong", http.StatusBadRequest)
		return
	}
	last := request.Messages[len(request.Messages)-1]
	prompt := last.Role == "user" && len(request.Tools) > 0 // else a title is asked for, or a result is given
	if prompt && strings.Contains(string(last.Content), "wait") {
		m.answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta, finish := `{"role":"assistant","content":"done"}`, "stop"
	if prompt && strings.Contains(string(last.Content), "call") {
		delta = `{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"echo ran >> ran.txt\"}"}}]}`
		finish = "tool_calls"
	}
	const chunk = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"stub\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n"
	fmt.Fprintf(w, chunk, delta, "null")
	fmt.Fprintf(w, chunk, "{}", `"`+finish+`"`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
