package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/apps/host/hosttest"
)

// stubModel is a server for chat completions: it either rejects the key, or answers "one
// two " and continues with "three four" when it is released.
type stubModel struct {
	server  *httptest.Server
	release chan struct{}
	ended   chan struct{}
}

func cmdStub(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	if args[1] == "strict" {
		provider := hosttest.NewProvider("good-key", "the-model")
		ts.Defer(provider.Close)
		ts.Setenv(args[0]+"_url", provider.URL())
		return
	}
	stub := &stubModel{release: make(chan struct{}), ended: make(chan struct{})}
	handler := map[string]http.HandlerFunc{"refuse": refuse, "wait": stub.answer, "call": stub.call}[args[1]]
	if handler == nil {
		ts.Fatalf("a stub does not know how to %s", args[1])
	}
	stub.server = httptest.NewServer(handler)
	ts.Defer(func() {
		close(stub.ended)
		stub.server.CloseClientConnections()
		stub.server.Close()
	})
	s.stubs[args[0]] = stub
	ts.Setenv(args[0]+"_url", stub.server.URL+"/v1")
}

func cmdRelease(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 1)
	stub, ok := s.stubs[args[0]]
	if !ok {
		ts.Fatalf("there is no stub %s", args[0])
	}
	close(stub.release)
}

func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`)
}

func (m *stubModel) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(delta map[string]any, finish any) {
		chunk, err := json.Marshal(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stub",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		if err == nil {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		_ = http.NewResponseController(w).Flush()
	}
	say(map[string]any{"role": "assistant", "content": "one "}, nil)
	say(map[string]any{"content": "two "}, nil)
	select {
	case <-m.release:
	case <-m.ended:
		return
	case <-r.Context().Done():
		return
	}
	say(map[string]any{"content": "three "}, nil)
	say(map[string]any{"content": "four"}, nil)
	say(map[string]any{}, "stop")
	fmt.Fprint(w, "data: [DONE]\n\n")
}
