package model

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// call handles a piece of a tool call: usually the name first and then the arguments in
// pieces; some servers send everything at once.
func (s *chatStream) call(d callDelta) {
	open := s.find(d)
	if open == nil {
		if d.Function.Name == "" {
			return // it belongs to no call
		}
		id := d.ID
		if id == "" {
			id = "call_" + rand.Text()
		}
		index := len(s.calls)
		if d.Index != nil {
			index = *d.Index
		}
		s.calls = append(s.calls, openCall{index: index, id: d.ID, block: s.a.open(session.BlockToolCall, id, d.Function.Name)})
		open = &s.calls[len(s.calls)-1]
	}
	s.a.grow(open.block, string(d.Function.Arguments))
}

// find returns the call that a piece belongs to. The index decides, unless the ids differ:
// some servers give every call the index 0.
func (s *chatStream) find(d callDelta) *openCall {
	for i := len(s.calls) - 1; i >= 0; i-- {
		open := &s.calls[i]
		sameID := d.ID == "" || open.id == "" || d.ID == open.id
		switch {
		case d.Index != nil && open.index == *d.Index && sameID:
			return open
		case d.Index == nil && d.ID != "" && d.ID == open.id:
			return open
		case d.Index == nil && d.ID == "" && d.Function.Name == "":
			return open // it continues the last call
		}
	}
	return nil
}

func (s *chatStream) serverError(data []byte, raw json.RawMessage) error {
	var inner struct {
		Code json.Number `json:"code"`
	}
	status := int64(0)
	if json.Unmarshal(raw, &inner) == nil { // code is often a word
		status, _ = inner.Code.Int64()
	}
	if status >= 400 && status < 600 {
		return &streamError{*s.config.refused(int(status), data, 0)}
	}
	return &streamError{*s.config.reported(errorText(data), string(data))}
}

// end returns the result of a stream that was read to its end.
func (s *chatStream) end() (ending, *failure) {
	end := ending{usage: s.usage, responseID: s.id}
	switch s.finish {
	case "":
		if !s.done {
			return end, s.config.brokeOff()
		}
		end.stop = session.StopEnd
	case "length", "max_tokens":
		end.stop = session.StopLength
	case "content_filter":
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s stopped: its content filter blocked the answer.", s.config.subject())
	case "error":
		return end, &failure{retry: true, text: fmt.Sprintf("%s stopped with an error.", s.config.subject())}
	default: // stop, tool_calls, function_call and reasons of individual servers
		end.stop = session.StopEnd
	}
	if end.stop == session.StopEnd && len(s.calls) > 0 {
		end.stop = session.StopToolUse
	}
	return end, nil
}

// usage separates cached tokens. Some servers omit reasoning from completion_tokens, but
// the total includes it.
func (u *chatUsage) usage() *session.Usage {
	cached := min(u.PromptDetails.CachedTokens, u.PromptTokens)
	output := max(u.CompletionTokens, u.TotalTokens-u.PromptTokens)
	return &session.Usage{
		Input: u.PromptTokens - cached, Output: output, CacheRead: cached,
		TotalTokens: max(u.TotalTokens, u.PromptTokens+output),
	}
}
