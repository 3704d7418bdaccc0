package model

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// call takes a piece of a tool call: mostly the name first and then the
// arguments bit by bit, from some servers all at once.
func (s *chatStream) call(d callDelta) {
	open := s.find(d)
	if open == nil {
		if d.Function.Name == "" {
			return // a piece of nothing that has begun
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

// find returns the call that a piece belongs to. The index decides, unless the
// ids differ: some servers give every call the index 0.
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
			return open // it goes on with the last one
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

// end judges a stream that was read to its end.
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
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s stopped: its content filter did not let the answer pass.", s.config.subject())
	case "error":
		return end, &failure{retry: true, text: fmt.Sprintf("%s stopped with an error.", s.config.subject())}
	default: // stop, tool_calls, function_call and words of single servers
		end.stop = session.StopEnd
	}
	if end.stop == session.StopEnd && len(s.calls) > 0 {
		end.stop = session.StopToolUse
	}
	return end, nil
}

// usage separates what came from the cache. Some servers leave reasoning out of
// completion_tokens; the total has it.
func (u *chatUsage) usage() *session.Usage {
	cached := min(u.PromptDetails.CachedTokens, u.PromptTokens)
	output := max(u.CompletionTokens, u.TotalTokens-u.PromptTokens)
	return &session.Usage{
		Input: u.PromptTokens - cached, Output: output, CacheRead: cached,
		TotalTokens: max(u.TotalTokens, u.PromptTokens+output),
	}
}
