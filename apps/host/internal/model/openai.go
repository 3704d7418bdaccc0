package model

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiOpenAI marks messages of this protocol; it is Pi's name for it.
const apiOpenAI = "openai-completions"

// openAI uses chat completions with any compatible server.
type openAI struct{ caller }

func newOpenAI(config Config) *openAI { return &openAI{newCaller(config, DefaultOpenAIURL)} }

// Stream makes one model call.
func (o *openAI) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	body, err := session.Encode(chatRequestOf(o.config, req))
	return o.run(ctx, apiOpenAI, false, emit, written(body, err, o.once))
}

func (o *openAI) once(ctx context.Context, body []byte, a *assembler) (ending, *failure) {
	response, fail := o.post(ctx, o.config.BaseURL+"/chat/completions", o.config.bearer(), body)
	if fail != nil {
		return ending{}, fail
	}
	defer response.Body.Close()
	stream := &chatStream{a: a, config: o.config}
	if err := stream.read(ctx, response); err != nil {
		return ending{}, o.config.broken(err)
	}
	return stream.end()
}

// read reads the whole response: a stream, or a single object from a server that does not
// stream.
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
		return s.config.notProvider()
	}
	return readSSE(response.Body, func() { touch(ctx) }, s.chunk)
}

// chatStream reads one response.
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
	id    string // from the server; may be ""
	block int
}

func (s *chatStream) chunk(data []byte) error {
	if s.done || string(data) == "[DONE]" {
		s.done = true
		return nil
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return s.config.notProtocol(data)
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return s.serverError(data, chunk.Error)
	}
	s.a.begun = true
	if s.id == "" {
		s.id = chunk.ID
	}
	if chunk.Usage != nil {
		s.usage = chunk.Usage.usage()
		s.a.usage = s.usage
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 { // only one was requested
			continue
		}
		if choice.FinishReason != "" {
			s.finish = choice.FinishReason
		}
		s.delta(choice.Delta)
		s.delta(choice.Message)
	}
	s.a.complete = s.usage != nil && s.finish != "" // some servers report usage in every chunk
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
