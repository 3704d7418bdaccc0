package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiAnthropic is how messages of this protocol are marked; it is Pi's name for it.
const apiAnthropic = "anthropic-messages"

// anthropicModel speaks the messages API.
type anthropicModel struct {
	caller
	client anthropic.Client
}

func newAnthropic(config Config) *anthropicModel {
	c := newCaller(config, DefaultAnthropicURL)
	return &anthropicModel{caller: c, client: anthropic.NewClient(
		// Whatever the environment says, key and address are the configured ones.
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(c.config.BaseURL),
		option.WithAPIKey(string(c.config.Key)),
		option.WithHTTPClient(c.http),
		option.WithMaxRetries(0), // run does that, and tells the entries
	)}
}

// Stream makes one model call.
func (m *anthropicModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	params, err := anthropicRequest(m.config, req)
	return m.run(ctx, apiAnthropic, true, emit, func(ctx context.Context, a *assembler) (ending, *failure) {
		if err != nil {
			return ending{}, &failure{text: "The prompt could not be written: " + err.Error()}
		}
		return m.once(ctx, params, a)
	})
}

func (m *anthropicModel) once(ctx context.Context, params anthropic.MessageNewParams, a *assembler) (ending, *failure) {
	stream := m.client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	follow := &anthropicStream{a: a, blocks: map[int64]int{}, usage: &session.Usage{}}
	a.usage = follow.usage
	for stream.Next() {
		touch(ctx)
		event := stream.Current()
		follow.event(&event)
	}
	if err := stream.Err(); err != nil {
		return ending{}, m.explain(err)
	}
	if !follow.stopped {
		return ending{}, m.config.brokeOff()
	}
	return follow.end(m.config), nil
}

// explain turns an error of the SDK into a failure.
func (m *anthropicModel) explain(err error) *failure {
	var answer *anthropic.Error
	if !errors.As(err, &answer) {
		return m.config.explainError(err)
	}
	status := answer.StatusCode
	if status == 200 { // sent in the middle of the stream
		status = statusOf(string(answer.Type()))
	}
	var after time.Duration
	if answer.Response != nil {
		after = retryAfter(answer.Response.Header, time.Now())
	}
	return m.config.refused(status, []byte(answer.RawJSON()), after)
}

// statusOf gives the HTTP status that an error type stands for.
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

// anthropicStream follows one answer. The SDK's own accumulator fills a block
// only when it is closed, so a cancelled answer would have no text in it.
type anthropicStream struct {
	a       *assembler
	blocks  map[int64]int // the provider's index to ours
	usage   *session.Usage
	id      string
	stop    anthropic.StopReason
	stopped bool
}

func (s *anthropicStream) event(event *anthropic.MessageStreamEventUnion) {
	switch event.Type {
	case "message_start":
		s.id, s.a.begun = event.Message.ID, true
		u := event.Message.Usage
		s.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "content_block_start":
		s.start(event.Index, &event.ContentBlock)
	case "content_block_delta":
		s.delta(event.Index, &event.Delta)
	case "content_block_stop":
		if index, ok := s.blocks[event.Index]; ok {
			s.a.blocks[index].closed = true
		}
	case "message_delta":
		s.stop, s.a.told = event.Delta.StopReason, true
		u := event.Usage
		s.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "message_stop":
		s.stopped = true
	}
}

// count takes the latest figures; those that an event leaves out stay.
func (s *anthropicStream) count(input, output, cacheRead, cacheWrite int64) {
	u := s.usage
	for _, figure := range []struct {
		to   *int
		from int64
	}{{&u.Input, input}, {&u.Output, output}, {&u.CacheRead, cacheRead}, {&u.CacheWrite, cacheWrite}} {
		if figure.from > 0 {
			*figure.to = int(figure.from)
		}
	}
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
}

func (s *anthropicStream) start(index int64, b *anthropic.ContentBlockStartEventContentBlockUnion) {
	switch b.Type {
	case "text":
		s.blocks[index] = s.a.open(session.BlockText, "", "")
		s.a.grow(s.blocks[index], b.Text)
	case "thinking":
		s.blocks[index] = s.a.open(session.BlockThinking, "", "")
		s.a.grow(s.blocks[index], b.Thinking)
		s.a.blocks[s.blocks[index]].signature = b.Signature
	case "redacted_thinking":
		s.blocks[index] = s.a.open(session.BlockThinking, "", "")
		ours := s.a.blocks[s.blocks[index]]
		ours.signature, ours.redacted = b.Data, true
	case "tool_use":
		s.blocks[index] = s.a.open(session.BlockToolCall, b.ID, b.Name)
	}
}

func (s *anthropicStream) delta(index int64, d *anthropic.MessageStreamEventUnionDelta) {
	ours, ok := s.blocks[index]
	if !ok {
		return // a block of a kind that is not used
	}
	switch d.Type {
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

func (s *anthropicStream) end(config Config) ending {
	end := ending{usage: s.usage, responseID: s.id, stop: session.StopEnd}
	switch s.stop {
	case anthropic.StopReasonToolUse:
		end.stop = session.StopToolUse
	case anthropic.StopReasonMaxTokens:
		end.stop = session.StopLength
	case anthropic.StopReasonRefusal:
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s refused to answer this.", config.subject())
	case anthropic.StopReasonModelContextWindowExceeded:
		end.stop, end.errorText, end.overflow = session.StopError, config.tooLong(""), true
	}
	return end
}
