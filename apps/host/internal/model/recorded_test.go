package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// golden is the expected content of a recorded body.
type golden struct {
	Text       string             `json:"text"`
	Thinking   string             `json:"thinking"`
	Signature  string             `json:"signature"`
	Calls      []goldenCall       `json:"calls"`
	Usage      *session.Usage     `json:"usage"`
	StopReason session.StopReason `json:"stopReason"`
	ResponseID string             `json:"responseId"`
}

type goldenCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	Signature string `json:"signature"`
}

// goldenOf returns the same for a message.
func goldenOf(t *testing.T, m session.Message) golden {
	t.Helper()
	out := golden{Text: m.Content.Plain(), Calls: []goldenCall{}, Usage: m.Usage, StopReason: m.StopReason, ResponseID: m.ResponseID}
	for _, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			out.Signature += block.TextSignature
		case session.BlockThinking:
			out.Thinking += block.Thinking
			out.Signature += block.ThinkingSignature
		case session.BlockToolCall:
			call := goldenCall{ID: block.ID, Name: block.Name, Signature: block.ThoughtSignature}
			if err := json.Unmarshal(block.Arguments, &call.Arguments); err != nil {
				t.Errorf("arguments of %s: %v", block.ID, err)
			}
			out.Calls = append(out.Calls, call)
		}
	}
	return out
}

// fold builds the content from deltas, as an entry would.
type fold struct {
	blocks []session.Block
	texts  []string
	resets []string
}

func (f *fold) emit(d agent.Delta) {
	switch d.Kind {
	case agent.DeltaStart:
		if d.Index != len(f.blocks) {
			panic(fmt.Sprintf("block %d begins, %d are there", d.Index, len(f.blocks)))
		}
		f.blocks = append(f.blocks, session.Block{Type: d.Block, ID: d.ID, Name: d.Name})
		f.texts = append(f.texts, "")
	case agent.DeltaText:
		f.texts[d.Index] += d.Text
	case agent.DeltaReset:
		f.blocks, f.texts, f.resets = nil, nil, append(f.resets, d.Text)
	}
}

// check compares the content built from deltas with the message.
func (f *fold) check(t *testing.T, m session.Message) {
	t.Helper()
	if len(f.blocks) != len(m.Content) {
		t.Fatalf("the deltas tell of %d blocks, the message has %d", len(f.blocks), len(m.Content))
	}
	for i, block := range m.Content {
		got := f.blocks[i]
		arguments := string(block.Arguments)
		if f.texts[i] == "" && arguments == "{}" {
			arguments = ""
		}
		if got.Type != block.Type || got.ID != block.ID || got.Name != block.Name || f.texts[i] != block.Text+block.Thinking+arguments {
			t.Errorf("block %d: the deltas tell %+v %q, the message %+v", i, got, f.texts[i], block)
		}
	}
}

// awkward hands out a body in pieces as given by wrap.
type awkward struct{ wrap func(io.Reader) io.Reader }

func (a awkward) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{a.wrap(response.Body), response.Body}
	}
	return response, err
}

func testConfig(kind, url string) Config {
	return Config{Type: kind, Provider: "test", BaseURL: url, Key: "k-secret", KeyEnv: "TEST_KEY", Model: "the-model"}
}

// build returns a model with short pauses.
func build(t *testing.T, config Config) (agent.Model, *caller) {
	t.Helper()
	made, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	var c *caller
	switch m := made.(type) {
	case *openAI:
		c = &m.caller
	case *anthropicModel:
		c = &m.caller
	case *responsesModel:
		c = &m.caller
	case *googleModel:
		c = &m.caller
	}
	c.retry.base = 1
	return made, c
}

func ask(text string) agent.Request {
	return agent.Request{Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text(text)}}}}
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// TestRecorded: recorded responses of real providers yield the message that they contain,
// however the bytes are split.
func TestRecorded(t *testing.T) {
	bodies, err := filepath.Glob("testdata/recorded/*/*.sse")
	if err != nil || len(bodies) < 90 {
		t.Fatalf("%d recorded bodies, error %v", len(bodies), err)
	}
	wraps := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	}
	for _, path := range bodies {
		kind := filepath.Base(filepath.Dir(path))
		t.Run(kind+"/"+strings.TrimSuffix(filepath.Base(path), ".sse"), func(t *testing.T) {
			body, want := readRecorded(t, path)
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(body) // the client notices if this fails
			})
			for name, wrap := range wraps {
				made, c := build(t, testConfig(kind, url))
				c.http.Transport = awkward{wrap}
				var deltas fold
				message := made.Stream(t.Context(), ask("go"), deltas.emit)
				got := goldenOf(t, message)
				forgetMadeIDs(t, &got, want)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s:\ngot  %+v\nwant %+v\nerror %q", name, got, want, message.ErrorMessage)
				}
				deltas.check(t, message)
				if message.Provider != "test" || message.Model != "the-model" || message.API == "" {
					t.Errorf("%s: origin %q %q %q", name, message.API, message.Provider, message.Model)
				}
			}
		})
	}
}

// forgetMadeIDs removes the ids of calls to which the provider gave none.
func forgetMadeIDs(t *testing.T, got *golden, want golden) {
	t.Helper()
	for i := range min(len(got.Calls), len(want.Calls)) {
		if want.Calls[i].ID == "" {
			if len(got.Calls[i].ID) < 20 {
				t.Errorf("call %d has the id %q", i, got.Calls[i].ID)
			}
			got.Calls[i].ID = ""
		}
	}
}

func readRecorded(t *testing.T, path string) ([]byte, golden) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(strings.TrimSuffix(path, ".sse") + ".golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	return body, want
}

// TestCutStreams: a body that ends before its end marker is never taken for complete: the
// call is retried, and finally an error.
func TestCutStreams(t *testing.T) {
	for _, name := range []string{"openai/groq-kimi-k2-multi-tool-0", "anthropic/claude-sonnet-4-tool-0",
		"openai-responses/openai-o4-mini-tool-0", "google/gemini-3-pro-preview-multi-tool-0"} {
		kind := filepath.Dir(name)
		body, want := readRecorded(t, "testdata/recorded/"+name+".sse")
		var cut int
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(body[:cut]) // the client notices if this fails
		})
		for cut = 0; cut < len(body); cut += 97 {
			made, c := build(t, testConfig(kind, url))
			c.retry.tries = 1
			var deltas fold
			message := made.Stream(t.Context(), ask("go"), deltas.emit)
			if message.StopReason == session.StopError {
				if len(deltas.resets) != 1 || !strings.Contains(message.ErrorMessage, "It was tried 2 times.") {
					t.Errorf("%s cut at %d: %d resets, error %q", name, cut, len(deltas.resets), message.ErrorMessage)
				}
				continue
			}
			// The marker may follow everything that matters except the usage.
			got := goldenOf(t, message)
			got.Usage, want.Usage = nil, nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s cut at %d of %d was taken for whole", name, cut, len(body))
			}
		}
	}
}
