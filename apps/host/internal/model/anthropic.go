package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiAnthropic marks messages of this protocol; it is Pi's name for it.
const apiAnthropic = "anthropic-messages"

// anthropicModel uses the messages API.
type anthropicModel struct{ caller }

func newAnthropic(config Config) *anthropicModel {
	return &anthropicModel{newCaller(config, DefaultAnthropicURL)}
}

// Stream makes one model call.
func (m *anthropicModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	body, err := anthropicRequest(m.config, req)
	return m.run(ctx, apiAnthropic, true, emit, written(body, err, m.once))
}

func (m *anthropicModel) once(ctx context.Context, body []byte, a *assembler) (ending, *failure) {
	header := http.Header{}
	header.Set("Anthropic-Version", anthropicVersion)
	if m.config.Key != "" {
		header.Set("X-Api-Key", string(m.config.Key))
	}
	response, fail := m.post(ctx, m.config.BaseURL+"/v1/messages", header, body)
	if fail != nil {
		return ending{}, fail
	}
	defer response.Body.Close()
	stream := &anthropicStream{a: a, config: m.config, blocks: map[int]int{}, usage: &session.Usage{}}
	a.usage = stream.usage
	if fail := m.events(ctx, response, stream.event); fail != nil {
		return ending{}, fail
	}
	if !stream.stopped {
		return ending{}, m.config.brokeOff()
	}
	return stream.end(), nil
}

// statusOf returns the HTTP status that corresponds to an error type.
func statusOf(kind string) int {
	switch kind {
	case "invalid_request_error":
		return 400
	case "authentication_error":
		return 401
	case "permission_error":
		return 403
	case "not_found_error":
		return 404
	case "request_too_large":
		return 413
	case "rate_limit_error":
		return 429
	case "overloaded_error":
		return 529
	}
	return 500
}

// anthropicStream reads one response.
type anthropicStream struct {
	a       *assembler
	config  Config
	blocks  map[int]int // the provider's index to the assembler's
	usage   *session.Usage
	id      string
	stop    string
	stopped bool
}

func (s *anthropicStream) event(data []byte) error {
	var event anthropicEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return s.config.notProtocol(data)
	}
	switch event.Type {
	case "message_start":
		s.id, s.a.begun = event.Message.ID, true
		s.count(event.Message.Usage)
	case "content_block_start":
		s.start(event)
	case "content_block_delta":
		s.delta(event)
	case "content_block_stop":
		if index, ok := s.blocks[event.Index]; ok {
			s.a.blocks[index].closed = true
		}
	case "message_delta":
		s.stop, s.a.complete = event.Delta.StopReason, true
		s.count(event.Usage)
	case "message_stop":
		s.stopped = true
	case "error":
		return &streamError{*s.config.refused(statusOf(event.Error.Type), data, 0)}
	}
	return nil
}

// count takes the latest usage; fields that an event omits keep their values.
func (s *anthropicStream) count(figures anthropicUsage) {
	u := s.usage
	for _, figure := range []struct {
		to   *int
		from int
	}{{&u.Input, figures.Input}, {&u.Output, figures.Output}, {&u.CacheRead, figures.CacheRead}, {&u.CacheWrite, figures.CacheWrite}} {
		if figure.from > 0 {
			*figure.to = figure.from
		}
	}
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
}

func (s *anthropicStream) start(event anthropicEvent) {
	b := event.Block
	var ours int
	switch b.Type {
	case "text":
		ours = s.a.open(session.BlockText, "", "")
		s.a.grow(ours, b.Text)
	case "thinking":
		ours = s.a.open(session.BlockThinking, "", "")
		s.a.grow(ours, b.Thinking)
		s.a.blocks[ours].signature = b.Signature
	case "redacted_thinking":
		ours = s.a.open(session.BlockThinking, "", "")
		s.a.blocks[ours].signature, s.a.blocks[ours].redacted = b.Data, true
	case "tool_use":
		ours = s.a.open(session.BlockToolCall, b.ID, b.Name)
	default:
		return // a block of an unsupported kind
	}
	s.blocks[event.Index] = ours
}

func (s *anthropicStream) delta(event anthropicEvent) {
	ours, ok := s.blocks[event.Index]
	if !ok {
		return
	}
	switch d := event.Delta; d.Type {
	case "text_delta":
		s.a.grow(ours, d.Text)
	case "thinking_delta":
		s.a.grow(ours, d.Thinking)
	case "input_json_delta":
		s.a.grow(ours, d.PartialJSON)
	case "signature_delta":
		s.a.blocks[ours].signature += d.Signature
	}
}

func (s *anthropicStream) end() ending {
	end := ending{usage: s.usage, responseID: s.id, stop: session.StopEnd}
	switch s.stop {
	case "tool_use":
		end.stop = session.StopToolUse
	case "max_tokens":
		end.stop = session.StopLength
	case "refusal":
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s refused to answer this.", s.config.subject())
	case "model_context_window_exceeded":
		end.stop, end.errorText, end.overflow = session.StopError, s.config.tooLong(""), true
	}
	return end
}
