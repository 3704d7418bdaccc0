package transcripts

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// openCodeMessage is a message of opencode without its parts.
type openCodeMessage struct {
	Role       string `json:"role"`
	ModelID    string `json:"modelID"`
	ProviderID string `json:"providerID"`
	Finish     string `json:"finish"`
	Summary    any    `json:"summary"` // true in the answer to a compaction
	Time       struct {
		Created   int64 `json:"created"`
		Completed int64 `json:"completed"`
	} `json:"time"`
	Cost   float64         `json:"cost"`
	Tokens *openCodeTokens `json:"tokens"`
	Error  *struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

type openCodeTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Total     int `json:"total"`
	Cache     struct {
		Read  int `json:"read"`
		Write int `json:"write"`
	} `json:"cache"`
}

func (t *openCodeTokens) usage(cost float64) *session.Usage {
	if t == nil {
		return nil
	}
	u := &session.Usage{Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write, TotalTokens: t.Total}
	if u.TotalTokens == 0 {
		u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	}
	u.Cost.Total = cost
	return u
}

// openCodePart is a part of a message.
type openCodePart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Synthetic bool            `json:"synthetic"`
	Ignored   bool            `json:"ignored"`
	Mime      string          `json:"mime"`
	Filename  string          `json:"filename"`
	URL       string          `json:"url"`
	CallID    string          `json:"callID"`
	Tool      string          `json:"tool"`
	State     openCodeState   `json:"state"`
	Tokens    *openCodeTokens `json:"tokens"`
	Cost      float64         `json:"cost"`
}

type openCodeState struct {
	Status   string          `json:"status"`
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Error    string          `json:"error"`
	Title    string          `json:"title"`
	Metadata struct {
		Diff      string `json:"diff"`
		SessionID string `json:"sessionId"`
		Exit      *int   `json:"exit"`
	} `json:"metadata"`
	Time struct {
		Start int64 `json:"start"`
		End   int64 `json:"end"`
	} `json:"time"`
	Attachments []openCodePart `json:"attachments"`
}

// openCodeOmitted are parts that are bookkeeping: where a step begins and what the files were.
var openCodeOmitted = map[string]bool{"step-start": true, "snapshot": true, "patch": true, "compaction": true}

// openCode converts one session.
type openCode struct {
	*builder
	held *openCodeHeld
}

// openCodeHeld is the last message of a session, which opencode may still be writing.
type openCodeHeld struct {
	message openCodeMessage
	parts   []openCodeRecord
}

// message adds the previous message of the model, and a prompt at once.
func (c *openCode) message(record openCodeRecord, parts []openCodeRecord) error {
	if err := c.release(); err != nil {
		return err
	}
	var m openCodeMessage
	if exactjson.Unmarshal(record.data, &m) != nil {
		c.report.Damaged++
		return nil
	}
	switch m.Role {
	case "user":
		return c.prompt(millis(m.Time.Created), parts)
	case "assistant":
		c.held = &openCodeHeld{m, parts}
		return nil
	}
	return c.foreign(millis(m.Time.Created), "message."+m.Role, record.data)
}

// end adds the last message, if it is complete.
func (c *openCode) end() error {
	if c.held != nil && c.held.message.Time.Completed == 0 && c.held.message.Error == nil {
		c.report.Unfinished += 1 + len(c.held.parts)
		return nil
	}
	return c.release()
}

func (c *openCode) prompt(at time.Time, parts []openCodeRecord) error {
	var content session.Content
	for _, record := range parts {
		var part openCodePart
		switch {
		case exactjson.Unmarshal(record.data, &part) != nil:
			c.report.Damaged++
		case part.Type == "text" && (part.Synthetic || part.Ignored):
			if err := c.foreign(at, "text.synthetic", record.data); err != nil {
				return err
			}
		case part.Type == "text":
			if part.Text != "" {
				content = append(content, session.Text(part.Text))
			}
		case part.Type == "file":
			content = append(content, openCodeFile(&part))
		case openCodeOmitted[part.Type]:
			c.report.Omitted++
		default:
			if err := c.foreign(at, "part."+part.Type, record.data); err != nil {
				return err
			}
		}
	}
	return c.user(at, content)
}

func openCodeFile(part *openCodePart) session.Block {
	if mediaType, data, ok := dataURL(part.URL); ok {
		return imageBlock(mediaType, data)
	}
	return session.Text(fmt.Sprintf("[file %s %s]", first(part.Filename, part.URL), part.Mime))
}

// release adds the message that was held back.
func (c *openCode) release() error {
	held := c.held
	if c.held = nil; held == nil {
		return nil
	}
	if held.message.Summary == true {
		return c.compaction(held)
	}
	s := &openCodeStep{openCode: c, m: &held.message, at: millis(held.message.Time.Created)}
	for _, record := range held.parts {
		var part openCodePart
		if exactjson.Unmarshal(record.data, &part) != nil {
			c.report.Damaged++
			continue
		}
		if err := s.part(&part, record.data); err != nil {
			return err
		}
	}
	return s.end()
}

// compaction adds the summary that replaces what came before.
func (c *openCode) compaction(held *openCodeHeld) error {
	text := ""
	for _, record := range held.parts {
		var part openCodePart
		if exactjson.Unmarshal(record.data, &part) == nil && part.Type == "text" {
			text += part.Text
		}
	}
	return c.summary(millis(held.message.Time.Created), text)
}

// openCodeStep is one call of the model in a message, and the results of its tool calls.
type openCodeStep struct {
	*openCode
	m       *openCodeMessage
	at      time.Time
	content session.Content
	calls   []openCodePart
	added   int // steps that the message had before
	usage   *session.Usage
}

func (s *openCodeStep) part(part *openCodePart, raw json.RawMessage) error {
	switch {
	case part.Type == "text":
		if part.Text != "" {
			s.content = append(s.content, session.Text(part.Text))
		}
	case part.Type == "reasoning":
		s.content = append(s.content, session.Block{Type: session.BlockThinking, Thinking: part.Text})
	case part.Type == "tool" && part.CallID != "" && part.Tool != "":
		s.content = append(s.content, session.Block{Type: session.BlockToolCall, ID: part.CallID, Name: part.Tool, Arguments: arguments(part.State.Input)})
		s.calls = append(s.calls, *part)
	case part.Type == "step-finish":
		s.usage = part.Tokens.usage(part.Cost)
		return s.finish("", "")
	case openCodeOmitted[part.Type]:
		s.report.Omitted++
	default:
		return s.foreign(s.at, "part."+part.Type, raw)
	}
	return nil
}

// finish adds the step.
func (s *openCodeStep) finish(reason session.StopReason, failure string) error {
	m := session.Message{API: "opencode", Provider: s.m.ProviderID, Model: s.m.ModelID, Content: s.content, Usage: s.usage, StopReason: reason, ErrorMessage: failure}
	if reason == "" {
		m.StopReason = stopped(s.m.Finish, len(s.calls) > 0)
	}
	calls := s.calls
	s.content, s.calls, s.usage = nil, nil, nil
	if err := s.assistant(s.at, m); err != nil {
		return err
	}
	s.added++
	for _, call := range calls {
		if err := s.called(&call); err != nil {
			return err
		}
	}
	return nil
}

func (s *openCodeStep) called(part *openCodePart) error {
	state, text := &part.State, part.State.Output
	at := millis(state.Time.End)
	switch state.Status {
	case "completed":
	case "error":
		text = state.Error
	default: // it was running when opencode ended
		return nil
	}
	content := session.Content{session.Text(text)}
	for _, file := range state.Attachments {
		content = append(content, openCodeFile(&file))
	}
	if err := s.result(at, part.CallID, content, state.Status == "error", diffDetails(state.Metadata.Diff)); err != nil {
		return err
	}
	if part.Tool != "task" || !validID(state.Metadata.SessionID) {
		return nil
	}
	var input struct {
		Description  string `json:"description"`
		SubagentType string `json:"subagent_type"`
	}
	_ = exactjson.Unmarshal(state.Input, &input) // then the subagent has no title
	return s.crew(at, part.CallID, state.Metadata.SessionID, input.SubagentType, input.Description)
}

// end adds what came after the last step, and the error of the message.
func (s *openCodeStep) end() error {
	if s.added == 0 || len(s.content) > 0 {
		if s.usage == nil && s.added == 0 {
			s.usage = s.m.Tokens.usage(s.m.Cost)
		}
		if s.m.Error == nil {
			return s.finish("", "")
		}
	}
	switch e := s.m.Error; {
	case e == nil:
		return nil
	case e.Name == "MessageAbortedError":
		return s.finish(session.StopAborted, first(e.Data.Message, "Aborted"))
	default:
		return s.finish(session.StopError, first(e.Data.Message, e.Name, "The request failed."))
	}
}
