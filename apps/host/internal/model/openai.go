package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiOpenAI is how messages of this protocol are marked; it is Pi's name for it.
const apiOpenAI = "openai-completions"

// maxErrorBody bounds how much of an error answer is read, in bytes.
const maxErrorBody = 64 << 10

// openAI speaks chat completions with any server that does.
type openAI struct{ caller }

func newOpenAI(config Config) *openAI { return &openAI{newCaller(config, DefaultOpenAIURL)} }

// Stream makes one model call.
func (o *openAI) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	body, err := session.Encode(chatRequestOf(o.config, req))
	return o.run(ctx, apiOpenAI, false, emit, func(ctx context.Context, a *assembler) (ending, *failure) {
		if err != nil {
			return ending{}, &failure{text: "The prompt could not be written as JSON: " + err.Error()}
		}
		return o.once(ctx, body, a)
	})
}

func (o *openAI) once(ctx context.Context, body []byte, a *assembler) (ending, *failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.config.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return ending{}, &failure{text: fmt.Sprintf("The base_url %q in config.toml is not a URL.", o.config.BaseURL)}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("User-Agent", "scorel")
	if o.config.Key != "" {
		request.Header.Set("Authorization", "Bearer "+string(o.config.Key))
	}
	response, err := o.http.Do(request)
	if err != nil {
		return ending{}, o.config.explainError(err)
	}
	defer response.Body.Close()
	touch(ctx)
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // what came is all there is to say
		return ending{}, &failure{
			text: o.config.explainStatus(response.StatusCode, text), retry: transient(response.StatusCode),
			after: retryAfter(response.Header, time.Now()),
		}
	}
	stream := &chatStream{a: a, config: o.config}
	if err := stream.read(ctx, response); err != nil {
		return ending{}, stream.broken(err)
	}
	return stream.end()
}

// read takes the whole answer: a stream, or one object from a server that does
// not stream.
func (s *chatStream) read(ctx context.Context, response *http.Response) error {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && kind == "application/json" {
		data, err := io.ReadAll(io.LimitReader(response.Body, maxEvent))
		if err != nil {
			return err
		}
		err = s.chunk(data)
		s.done = true
		return err
	}
	if kind == "text/html" {
		return &streamError{text: fmt.Sprintf("%s is a web page, not an OpenAI-compatible server: check the base_url in config.toml.", s.config.subject())}
	}
	return readSSE(response.Body, func() { touch(ctx) }, s.chunk)
}

// chatStream follows one answer.
type chatStream struct {
	a      *assembler
	config Config

	calls  []openCall
	id     string
	usage  *session.Usage
	finish string
	done   bool
}

// openCall is a tool call that has begun.
type openCall struct {
	index int
	id    string // as the server gave it; may be ""
	block int
}

// streamError is an error that the server sent in the stream.
type streamError struct {
	text  string
	retry bool
}

func (e *streamError) Error() string { return e.text }

func (s *chatStream) chunk(data []byte) error {
	if s.done || string(data) == "[DONE]" {
		s.done = true
		return nil
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return &streamError{text: fmt.Sprintf("%s sent something that is not JSON of this protocol: check that base_url leads to an OpenAI-compatible server.%s",
			s.config.subject(), s.config.quote(string(data)))}
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return s.serverError(data, chunk.Error)
	}
	if s.id == "" {
		s.id = chunk.ID
	}
	if chunk.Usage != nil {
		s.usage = chunk.Usage.usage()
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 { // only one was asked for
			continue
		}
		if choice.FinishReason != "" {
			s.finish = choice.FinishReason
		}
		s.delta(choice.Delta)
		s.delta(choice.Message)
	}
	return nil
}

func (s *chatStream) delta(d *chatDelta) {
	if d == nil {
		return
	}
	reasoning := d.ReasoningContent
	if reasoning == "" { // some servers send both, with the same text
		reasoning = d.Reasoning
	}
	s.a.extend(session.BlockThinking, string(reasoning))
	s.a.extend(session.BlockText, string(d.Content))
	s.a.extend(session.BlockText, string(d.Refusal))
	for _, call := range d.ToolCalls {
		s.call(call)
	}
}
