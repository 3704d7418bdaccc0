package transcripts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// geminiMessage is a message of a chat.
type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	ToolCalls []geminiCall `json:"toolCalls"`
	Tokens    *struct {
		Input    int `json:"input"`
		Output   int `json:"output"`
		Cached   int `json:"cached"`
		Thoughts int `json:"thoughts"`
		Tool     int `json:"tool"`
		Total    int `json:"total"`
	} `json:"tokens"`
}

type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    json.RawMessage `json:"result"`
	Status    string          `json:"status"`
	Timestamp string          `json:"timestamp"`
	Display   json.RawMessage `json:"resultDisplay"`
}

// geminiPart is a part of a content. A content may be one part, a list of them, or a string.
type geminiPart struct {
	Text       string `json:"text"`
	Thought    bool   `json:"thought"`
	InlineData *struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
	FunctionCall     *geminiCall `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	raw json.RawMessage
}

// gemini converts one chat.
type gemini struct {
	*builder
	info Info
}

func newGemini() *gemini { return &gemini{builder: newBuilder(Gemini), info: Info{Source: Gemini}} }

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func geminiParts(raw json.RawMessage) []geminiPart {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	parts := make([]geminiPart, 0, len(list))
	for _, each := range list {
		part := geminiPart{raw: each}
		if json.Unmarshal(each, &part.Text) != nil && exactjson.Unmarshal(each, &part) != nil {
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

// content returns the parts of a message besides results of calls.
func (c *gemini) content(raw json.RawMessage) (content session.Content) {
	for _, part := range geminiParts(raw) {
		switch call := part.FunctionCall; {
		case part.FunctionResponse != nil:
		case call != nil && call.ID != "" && call.Name != "":
			content = append(content, session.Block{Type: session.BlockToolCall, ID: call.ID, Name: call.Name, Arguments: arguments(call.Args)})
		case part.Thought:
			content = append(content, session.Block{Type: session.BlockThinking, Thinking: part.Text})
		case part.InlineData != nil:
			content = append(content, imageBlock(part.InlineData.MimeType, part.InlineData.Data))
		case part.Text != "":
			content = append(content, session.Text(part.Text))
		case len(part.raw) > 2 && part.raw[0] == '{':
			content = append(content, session.Text(string(part.raw)))
		}
	}
	return content
}

// responses adds the results in a message of the user. The message with the calls has most of
// them too; after a conversation was continued, they are only here.
func (c *gemini) responses(m *geminiMessage) error {
	for _, part := range geminiParts(m.Content) {
		response := part.FunctionResponse
		switch {
		case response == nil:
		case !slices.Contains(c.open, response.ID):
			c.report.Omitted++
		default:
			content := session.Content{session.Text(geminiOutput(response.Response))}
			if err := c.result(parseTime(m.Timestamp), response.ID, content, geminiFailed(response.Response), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// geminiFailed reports whether a response of a function is an error.
func geminiFailed(raw json.RawMessage) bool {
	var response struct {
		Error *string `json:"error"`
	}
	return exactjson.Unmarshal(raw, &response) == nil && response.Error != nil
}

func (c *gemini) message(raw json.RawMessage) error {
	var m geminiMessage
	if exactjson.Unmarshal(raw, &m) != nil {
		c.report.Damaged++
		return nil
	}
	at := parseTime(m.Timestamp)
	switch m.Type {
	case "user":
		if err := c.responses(&m); err != nil {
			return err
		}
		content := c.content(m.Content)
		text := strings.TrimSpace(content.Plain())
		if strings.HasPrefix(text, "<session_context>") || strings.HasPrefix(text, "<hook_context>") { // generated again each time
			c.report.Omitted++
			return nil
		}
		c.info.Title = first(c.info.Title, titleOf(text))
		return c.user(at, content)
	case "gemini":
		return c.answer(&m)
	}
	return c.foreign(at, m.Type, raw)
}

func (c *gemini) answer(m *geminiMessage) error {
	at := parseTime(m.Timestamp)
	out := session.Message{API: "google-gemini", Provider: "google", Model: m.Model}
	for _, thought := range m.Thoughts {
		text := thought.Description
		if thought.Subject != "" {
			text = "**" + thought.Subject + "**\n\n" + text
		}
		out.Content = append(out.Content, session.Block{Type: session.BlockThinking, Thinking: text})
	}
	has := map[string]bool{}
	for _, block := range c.content(m.Content) {
		if block.Type != session.BlockText || strings.TrimSpace(block.Text) != "" {
			out.Content = append(out.Content, block)
			has[block.ID] = true
		}
	}
	for _, call := range m.ToolCalls {
		switch {
		case call.ID == "" || call.Name == "":
			c.report.Damaged++
			continue
		case has[call.ID]:
			continue
		}
		out.Content = append(out.Content, session.Block{Type: session.BlockToolCall, ID: call.ID, Name: call.Name, Arguments: arguments(call.Args)})
	}
	out.StopReason = stopped("", len(out.Content.ToolCalls()) > 0)
	if t := m.Tokens; t != nil {
		out.Usage = &session.Usage{Input: max(t.Input-t.Cached, 0) + t.Tool, CacheRead: t.Cached, Output: t.Output + t.Thoughts, TotalTokens: t.Total}
	}
	if err := c.assistant(at, out); err != nil {
		return err
	}
	for _, call := range m.ToolCalls {
		if err := c.called(&call); err != nil {
			return err
		}
	}
	return nil
}

// called adds the result of a call; without one the call is still running, or was ended with the
// program.
func (c *gemini) called(call *geminiCall) error {
	done := call.Status == "success" || call.Status == "error" || call.Status == "cancelled"
	if call.ID == "" || call.Name == "" || !done {
		return nil
	}
	var content session.Content
	for _, part := range geminiParts(call.Result) {
		switch {
		case part.FunctionResponse != nil:
			content = append(content, session.Text(geminiOutput(part.FunctionResponse.Response)))
		case part.InlineData != nil:
			content = append(content, imageBlock(part.InlineData.MimeType, part.InlineData.Data))
		case part.Text != "":
			content = append(content, session.Text(part.Text))
		}
	}
	return c.result(parseTime(call.Timestamp), call.ID, content, call.Status != "success", geminiDetails(call.Display))
}

// geminiOutput returns the text of a response of a function.
func geminiOutput(raw json.RawMessage) string {
	var response struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	if exactjson.Unmarshal(raw, &response) == nil {
		switch {
		case response.Output != nil:
			return *response.Output
		case response.Error != nil:
			return *response.Error
		}
	}
	return string(raw)
}

func geminiDetails(display json.RawMessage) json.RawMessage {
	var change struct {
		FileDiff string `json:"fileDiff"`
	}
	if len(display) == 0 || display[0] != '{' || exactjson.Unmarshal(display, &change) != nil {
		return nil
	}
	return diffDetails(change.FileDiff)
}
