package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiResponses marks messages of this protocol; it is Pi's name for it.
const apiResponses = "openai-responses"

// responsesModel uses the responses API with any compatible server.
type responsesModel struct{ caller }

func newResponses(config Config) *responsesModel {
	return &responsesModel{newCaller(config, DefaultOpenAIURL)}
}

// Stream makes one model call.
func (m *responsesModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	body, err := session.Encode(responsesRequestOf(m.config, req))
	return m.run(ctx, apiResponses, true, emit, written(body, err, m.once))
}

func (m *responsesModel) once(ctx context.Context, body []byte, a *assembler) (ending, *failure) {
	response, fail := m.post(ctx, m.config.BaseURL+"/responses", m.config.bearer(), body)
	if fail != nil {
		return ending{}, fail
	}
	defer response.Body.Close()
	stream := &responsesStream{a: a, config: m.config, blocks: map[int]int{}}
	if fail := m.events(ctx, response, stream.event); fail != nil {
		return ending{}, fail
	}
	return stream.end()
}

// responsesStream reads one response.
type responsesStream struct {
	a      *assembler
	config Config
	blocks map[int]int // the provider's index of an item to the assembler's
	id     string
	last   string // the event that ended the response
	body   *responseBody
}

func (s *responsesStream) event(data []byte) error {
	if s.last != "" || string(data) == "[DONE]" {
		return nil
	}
	var event responseEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return s.config.notProtocol(data)
	}
	s.a.begun = s.a.begun || event.Type != "error"
	if event.Response != nil && event.Response.ID != "" {
		s.id = event.Response.ID
	}
	switch event.Type {
	case "response.output_item.added":
		if event.Item != nil && event.Item.Type == "function_call" {
			s.blocks[event.OutputIndex] = s.a.open(session.BlockToolCall, event.Item.CallID, event.Item.Name)
		}
	case "response.output_text.delta", "response.refusal.delta":
		s.grow(event.OutputIndex, session.BlockText, string(event.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.grow(event.OutputIndex, session.BlockThinking, string(event.Delta))
	case "response.reasoning_summary_part.added": // a new paragraph
		if _, ok := s.blocks[event.OutputIndex]; ok {
			s.grow(event.OutputIndex, session.BlockThinking, "\n\n")
		}
	case "response.function_call_arguments.delta":
		if index, ok := s.blocks[event.OutputIndex]; ok {
			s.a.grow(index, string(event.Delta))
		}
	case "response.output_item.done":
		s.done(event.OutputIndex, event.Item)
	case "response.completed", "response.incomplete", "response.failed":
		s.last, s.body = event.Type, event.Response
		s.a.usage = s.body.usage()
		s.a.complete = s.a.usage != nil
	case "error":
		return &streamError{*s.config.reported(event.Message, event.Code)}
	}
	return nil
}

// grow appends text to the block of an item, which begins with its first piece.
func (s *responsesStream) grow(item int, kind session.BlockType, text string) {
	if text == "" {
		return
	}
	if _, ok := s.blocks[item]; !ok {
		s.blocks[item] = s.a.open(kind, "", "")
	}
	s.a.grow(s.blocks[item], text)
}

// done handles a complete item: what it contains beyond the pieces already received.
func (s *responsesStream) done(at int, item *responseItem) {
	if item == nil {
		return
	}
	_, begun := s.blocks[at]
	switch item.Type {
	case "message":
		for _, part := range item.Content {
			if !begun { // from a server that sends no pieces
				s.grow(at, session.BlockText, part.Text+part.Refusal)
			}
		}
	case "reasoning":
		s.thought(at, item)
	case "function_call":
		if !begun {
			s.blocks[at] = s.a.open(session.BlockToolCall, item.CallID, item.Name)
		}
		block := s.a.blocks[s.blocks[at]]
		if block.text.Len() == 0 {
			s.a.grow(s.blocks[at], string(item.Arguments))
		}
		block.closed = true
	}
}

func (s *responsesStream) thought(at int, item *responseItem) {
	if _, begun := s.blocks[at]; !begun {
		var texts []string
		for _, part := range item.Summary {
			texts = append(texts, part.Text)
		}
		s.grow(at, session.BlockThinking, strings.Join(texts, "\n\n"))
	}
	if item.EncryptedContent == "" {
		return
	}
	if _, begun := s.blocks[at]; !begun {
		s.blocks[at] = s.a.open(session.BlockThinking, "", "")
	}
	kept, err := session.Encode(reasoningItem{"reasoning", item.ID, append([]summaryPart{}, item.Summary...), item.EncryptedContent})
	if err == nil { // cannot fail: strings can always be encoded
		s.a.blocks[s.blocks[at]].signature = string(kept)
	}
}

// end returns the result of a stream that was read to its end.
func (s *responsesStream) end() (ending, *failure) {
	end := ending{responseID: s.id, stop: session.StopEnd, usage: s.body.usage()}
	switch {
	case s.last == "":
		return end, s.config.brokeOff()
	case s.last == "response.failed":
		if s.body == nil || s.body.Error == nil {
			return end, s.config.reported("", "")
		}
		return end, s.config.reported(s.body.Error.Message, s.body.Error.Code)
	case s.last == "response.incomplete" && s.body != nil && s.body.Incomplete != nil && s.body.Incomplete.Reason == "content_filter":
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s stopped: its content filter blocked the answer.", s.config.subject())
	case s.last == "response.incomplete":
		end.stop = session.StopLength
	case len(s.a.whole().ToolCalls()) > 0:
		end.stop = session.StopToolUse
	}
	return end, nil
}

func (b *responseBody) usage() *session.Usage {
	if b == nil || b.Usage == nil {
		return nil
	}
	u := b.Usage
	cached := min(u.InputDetails.CachedTokens, u.InputTokens)
	return &session.Usage{
		Input: u.InputTokens - cached, Output: u.OutputTokens, CacheRead: cached,
		TotalTokens: max(u.TotalTokens, u.InputTokens+u.OutputTokens),
	}
}
