package model

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiGoogle marks messages of this protocol; it is Pi's name for it.
const apiGoogle = "google-generative-ai"

// googleModel uses Gemini's generateContent.
type googleModel struct{ caller }

func newGoogle(config Config) *googleModel { return &googleModel{newCaller(config, DefaultGoogleURL)} }

// Stream makes one model call.
func (m *googleModel) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	body, err := session.Encode(googleRequestOf(m.config, req))
	// Signatures are optional on Gemini's thoughts, so thinking without one can be kept.
	return m.run(ctx, apiGoogle, false, emit, written(body, err, m.once))
}

func (m *googleModel) once(ctx context.Context, body []byte, a *assembler) (ending, *failure) {
	header := http.Header{}
	if m.config.Key != "" {
		header.Set("X-Goog-Api-Key", string(m.config.Key))
	}
	address := m.config.BaseURL + "/models/" + googlePath(m.config.Model) + ":streamGenerateContent?alt=sse"
	response, fail := m.post(ctx, address, header, body)
	if fail != nil {
		return ending{}, fail
	}
	defer response.Body.Close()
	stream := &googleStream{a: a, config: m.config}
	if fail := m.events(ctx, response, stream.chunk); fail != nil {
		return ending{}, fail
	}
	return stream.end()
}

// googlePath returns the path of a model. Slashes of its id separate segments; other special
// characters are escaped.
func googlePath(id string) string {
	parts := strings.Split(strings.TrimPrefix(id, "models/"), "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// googleStream reads one response.
type googleStream struct {
	a       *assembler
	config  Config
	id      string
	usage   *session.Usage
	finish  string
	blocked string
}

func (s *googleStream) chunk(data []byte) error {
	var chunk googleChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return s.config.notProtocol(data)
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return s.serverError(data, chunk.Error)
	}
	s.a.begun = true
	if s.id == "" {
		s.id = chunk.ResponseID
	}
	if chunk.Usage != nil && chunk.Usage.Total > 0 {
		s.usage = chunk.Usage.usage()
		s.a.usage = s.usage
	}
	if chunk.PromptFeedback != nil {
		s.blocked = chunk.PromptFeedback.BlockReason
	}
	for _, candidate := range chunk.Candidates {
		if candidate.Index != 0 { // only one was requested
			continue
		}
		if candidate.FinishReason != "" {
			s.finish = candidate.FinishReason
		}
		for _, part := range candidate.Content.Parts {
			s.part(part)
		}
	}
	s.a.complete = s.usage != nil && s.finish != ""
	return nil
}

func (s *googleStream) part(p googlePart) {
	if p.FunctionCall != nil {
		s.call(p)
		return
	}
	kind := session.BlockText
	if p.Thought {
		kind = session.BlockThinking
	}
	s.a.extend(kind, p.Text)
	// A signature may follow its text, in a part without text.
	if last := len(s.a.blocks) - 1; p.ThoughtSignature != "" && last >= 0 && s.a.blocks[last].kind == kind {
		s.a.blocks[last].signature = p.ThoughtSignature
	}
}

// call handles a tool call, which always arrives complete.
func (s *googleStream) call(p googlePart) {
	id := p.FunctionCall.ID
	if id == "" { // older models send none
		id = "call_" + rand.Text()
	}
	index := s.a.open(session.BlockToolCall, id, p.FunctionCall.Name)
	arguments := bytes.TrimSpace(p.FunctionCall.Args)
	if string(arguments) == "null" {
		arguments = nil
	}
	s.a.grow(index, string(arguments))
	s.a.blocks[index].signature, s.a.blocks[index].closed = p.ThoughtSignature, true
}

func (s *googleStream) serverError(data []byte, raw json.RawMessage) error {
	var inner struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(raw, &inner) == nil && inner.Code >= 400 && inner.Code < 600 {
		return &streamError{*s.config.refused(inner.Code, data, retryDelay(data))}
	}
	return &streamError{*s.config.reported(errorText(data), string(data))}
}

// end returns the result of a stream that was read to its end.
func (s *googleStream) end() (ending, *failure) {
	end := ending{usage: s.usage, responseID: s.id, stop: session.StopEnd}
	switch s.finish {
	case "":
		if s.blocked == "" {
			return end, s.config.brokeOff()
		}
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s refused to answer this (%s).", s.config.subject(), s.blocked)
	case "STOP":
		if len(s.a.whole().ToolCalls()) > 0 {
			end.stop = session.StopToolUse
		}
	case "MAX_TOKENS":
		end.stop = session.StopLength
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "FINISH_REASON_UNSPECIFIED":
		return end, &failure{retry: true, text: fmt.Sprintf("%s stopped without an answer (%s).", s.config.subject(), s.finish)}
	default: // SAFETY, RECITATION, BLOCKLIST and other reasons to withhold an answer
		end.stop, end.errorText = session.StopError, fmt.Sprintf("%s stopped: its filter blocked the answer (%s).", s.config.subject(), s.finish)
	}
	return end, nil
}

// usage counts thoughts as output, because they are billed as output.
func (u *googleUsage) usage() *session.Usage {
	cached := min(u.Cached, u.Prompt)
	output := u.Candidates + u.Thoughts
	return &session.Usage{
		Input: u.Prompt - cached, Output: output, CacheRead: cached, TotalTokens: max(u.Total, u.Prompt+output),
	}
}

// retryDelay returns how long Google asks to wait, which is in the body.
func retryDelay(body []byte) time.Duration {
	var answer struct {
		Error struct {
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return 0
	}
	for _, detail := range answer.Error.Details {
		if d, err := time.ParseDuration(detail.RetryDelay); err == nil && d > 0 {
			return d
		}
	}
	return 0
}
