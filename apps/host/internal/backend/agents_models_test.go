//go:build agents

package backend_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The words in prompts that the fake models react to.
const (
	wordRun    = "RUN-THE-PROOF"   // makes one tool call, which makes the file proof.txt
	wordHang   = "HANG-HERE"       // answers begin and do not end
	wordRecall = "WHAT-WAS-BEFORE" // says whether the earlier prompt is in the request
	saidHello  = "Hello from the fake model."
	saidRecall = "The proof came before."
	proofFile  = "proof.txt"
	runProof   = "touch " + proofFile + " && echo made"
)

// models plays the APIs of models that the agents of vendors use. It knows nothing but the words.
type models struct {
	*httptest.Server
	hanging chan struct{} // has an element while answers hang; buffered

	mu   sync.Mutex
	made int
}

func serveModels(t *testing.T) *models {
	m := &models{hanging: make(chan struct{}, 64)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// asked is a request of any of the APIs.
type asked struct {
	Input    json.RawMessage `json:"input"`    // responses
	Messages json.RawMessage `json:"messages"` // chat, Anthropic
	Contents json.RawMessage `json:"contents"` // Gemini
	Stream   bool            `json:"stream"`
	Model    string          `json:"model"`
	Tools    []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
		Declarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

func (a asked) names() (names []string) {
	for _, tool := range a.Tools {
		for _, name := range []string{tool.Name, tool.Function.Name} {
			if name != "" {
				names = append(names, name)
			}
		}
		for _, d := range tool.Declarations {
			names = append(names, d.Name)
		}
	}
	return names
}

// tool returns the first tool whose name has one of the words.
func (a asked) tool(words ...string) string {
	for _, word := range words {
		if i := slices.IndexFunc(a.names(), func(name string) bool { return strings.Contains(strings.ToLower(name), word) }); i >= 0 {
			return a.names()[i]
		}
	}
	return ""
}

// step is what a model does next.
type step struct {
	run  bool
	hang bool
	text string
}

// next decides by the last word among the messages. output is what results of tools are named.
func (a asked) next(output ...string) step {
	all := string(a.Input) + string(a.Messages) + string(a.Contents)
	done := -1
	for _, name := range output {
		done = max(done, strings.LastIndex(all, name))
	}
	run, hang, recall := strings.LastIndex(all, wordRun), strings.LastIndex(all, wordHang), strings.LastIndex(all, wordRecall)
	switch last := max(run, hang, recall); {
	case last < 0:
	case last == hang:
		return step{hang: true, text: "I begin"}
	case last == recall && run >= 0:
		return step{text: saidRecall}
	case last == run && done < run && len(a.Tools) > 0:
		return step{run: true}
	}
	return step{text: saidHello}
}

// ServeHTTP implements http.Handler.
func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &a)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.made++
	s := &sse{w: w, r: r, m: m, id: fmt.Sprint(m.made)}
	m.mu.Unlock()
	switch path := strings.ToLower(r.URL.Path); {
	case strings.HasSuffix(path, "/models"):
		s.json(map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake", "object": "model"}}})
	case strings.HasSuffix(path, "/responses"):
		s.responses(a)
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(a)
	case strings.Contains(path, "count_tokens"):
		s.json(map[string]any{"input_tokens": 10})
	case strings.HasSuffix(path, "/messages"):
		s.anthropic(a)
	case strings.Contains(path, "generatecontent"):
		s.gemini(a, strings.Contains(path, "stream"))
	case strings.Contains(path, "counttokens"):
		s.json(map[string]any{"totalTokens": 10})
	default:
		http.NotFound(w, r)
	}
}

// sse writes one answer.
type sse struct {
	w  http.ResponseWriter
	r  *http.Request
	m  *models
	id string
}

type object = map[string]any

func (s *sse) json(v any) {
	s.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(s.w).Encode(v) // the agent may be gone
}

func (s *sse) data(event string, v any) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if event != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", event)
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", encoded)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// hang waits until the agent gives up.
func (s *sse) hang() {
	select {
	case s.m.hanging <- struct{}{}:
	default:
	}
	<-s.r.Context().Done()
}

func (s *sse) responses(a asked) {
	todo := a.next(`function_call_output`)
	event := func(kind string, v object) { v["type"] = kind; s.data(kind, v) }
	response := func(status string, output ...any) object {
		return object{"response": object{"id": "resp_" + s.id, "object": "response", "status": status, "model": "fake", "output": append([]any{}, output...),
			"usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}}
	}
	event("response.created", response("in_progress"))
	item := object{"id": "msg_" + s.id, "type": "message", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": todo.text, "annotations": []any{}}}}
	if todo.run {
		name := a.tool("exec_command", "shell", "exec")
		args := object{"command": []string{"bash", "-lc", runProof}}
		if name == "exec_command" {
			args = object{"cmd": runProof, "sandbox_permissions": "require_escalated", "justification": "to prove it"}
		}
		encoded, _ := json.Marshal(args)
		item = object{"id": "fc_" + s.id, "type": "function_call", "status": "completed", "name": name, "call_id": "call_" + s.id, "arguments": string(encoded)}
	}
	event("response.output_item.added", object{"output_index": 0, "item": item})
	if !todo.run {
		event("response.output_text.delta", object{"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": todo.text})
	}
	if todo.hang {
		s.hang()
		return
	}
	event("response.output_item.done", object{"output_index": 0, "item": item})
	event("response.completed", response("completed", item))
}

func (s *sse) chat(a asked) {
	todo := a.next(`"role":"tool"`, `"tool_call_id"`)
	chunk := func(choice object) {
		choice["index"] = 0
		s.data("", object{"id": "c" + s.id, "object": "chat.completion.chunk", "model": "fake", "choices": []any{choice}})
	}
	if todo.run {
		encoded, _ := json.Marshal(object{"command": runProof, "description": "make a file", "timeout": 20000})
		call := object{"index": 0, "id": "call_" + s.id, "type": "function", "function": object{"name": a.tool("bash", "shell"), "arguments": string(encoded)}}
		chunk(object{"delta": object{"role": "assistant", "tool_calls": []any{call}}})
		chunk(object{"delta": object{}, "finish_reason": "tool_calls"})
	} else {
		chunk(object{"delta": object{"role": "assistant", "content": todo.text}})
		if todo.hang {
			s.hang()
			return
		}
		chunk(object{"delta": object{}, "finish_reason": "stop"})
	}
	s.data("", object{"id": "c" + s.id, "object": "chat.completion.chunk", "model": "fake", "choices": []any{},
		"usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
	_, _ = io.WriteString(s.w, "data: [DONE]\n\n")
}

func (s *sse) anthropic(a asked) {
	todo := a.next(`"tool_result"`)
	usage := object{"input_tokens": 10, "output_tokens": 5}
	message := object{"id": "m" + s.id, "type": "message", "role": "assistant", "model": a.Model, "content": []any{}, "stop_reason": nil, "usage": usage}
	if !a.Stream {
		message["content"], message["stop_reason"] = []any{object{"type": "text", "text": saidHello}}, "end_turn"
		s.json(message)
		return
	}
	event := func(kind string, v object) { v["type"] = kind; s.data(kind, v) }
	event("message_start", object{"message": message})
	reason := "end_turn"
	if todo.run {
		reason = "tool_use"
		encoded, _ := json.Marshal(object{"command": runProof, "description": "make a file"})
		event("content_block_start", object{"index": 0, "content_block": object{"type": "tool_use", "id": "toolu_" + s.id, "name": a.tool("bash"), "input": object{}}})
		event("content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": string(encoded)}})
	} else {
		event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": todo.text}})
	}
	if todo.hang {
		s.hang()
		return
	}
	event("content_block_stop", object{"index": 0})
	event("message_delta", object{"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 5}})
	event("message_stop", object{})
}

func (s *sse) gemini(a asked, stream bool) {
	todo := a.next(`"functionResponse"`)
	part := object{"text": todo.text}
	if todo.run {
		part = object{"functionCall": object{"name": a.tool("run_shell_command", "shell"), "args": object{"command": runProof, "description": "make a file"}}}
	}
	candidate := object{"content": object{"role": "model", "parts": []any{part}}, "index": 0}
	if !todo.hang {
		candidate["finishReason"] = "STOP"
	}
	answer := object{"candidates": []any{candidate}, "modelVersion": "fake",
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}
	if !stream {
		s.json(answer)
		return
	}
	s.data("", answer)
	if todo.hang {
		s.hang()
	}
}
