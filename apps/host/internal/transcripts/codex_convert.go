package transcripts

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// codex converts one rollout.
type codex struct {
	*builder
	info     Info
	meta     bool // the rollout has said what it is
	provider string
	model    string
	pending  codexPending
	diffs    map[string]json.RawMessage // details of results that have not come yet, by call id
	byUsage  bool                       // the rollout has records of single requests
}

// codexPending is a message of the model that may have more parts.
type codexPending struct {
	at time.Time
	m  session.Message
}

func newCodex(id string) *codex {
	return &codex{builder: newBuilder(Codex), info: Info{Source: Codex, ID: id}, diffs: map[string]json.RawMessage{}, provider: "openai"}
}

// codexOmitted are events that repeat what response items say, or are bookkeeping.
var codexOmitted = map[string]bool{
	"user_message": true, "agent_message": true, "agent_reasoning": true, "agent_reasoning_raw_content": true, "item_completed": true,
	"task_started": true, "task_complete": true, "turn_started": true, "turn_complete": true, "thread_settings_applied": true,
	"context_compacted": true, "mcp_tool_call_end": true, "web_search_end": true, "image_generation_end": true, "exec_command_end": true,
	"sub_agent_activity": true, "token_count": true,
}

func (c *codex) line(raw []byte) error {
	var l codexLine
	if exactjson.Unmarshal(raw, &l) != nil {
		c.report.Damaged++
		return nil
	}
	at := parseTime(l.Timestamp)
	if len(l.Payload) == 0 { // a version before 0.30, which writes the payload alone
		return c.bare(at, l.Type, raw)
	}
	switch l.Type {
	case "session_meta":
		return c.describe(l.Payload)
	case "response_item":
		return c.item(at, l.Payload)
	case "event_msg":
		return c.event(at, l.Payload)
	case "turn_context":
		var turn struct {
			Model string `json:"model"`
		}
		if exactjson.Unmarshal(l.Payload, &turn) == nil {
			c.model = first(turn.Model, c.model)
		}
		c.report.Omitted++
		return nil
	case "compacted":
		return c.compacted(at, l.Payload)
	case "token_usage_record":
		c.byUsage = true
		return c.usage(l.Payload, "usage")
	case "world_state":
		c.report.Omitted++
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.foreign(at, l.Type, l.Payload)
}

// bare adds a line without an envelope.
func (c *codex) bare(at time.Time, kind string, raw []byte) error {
	var record struct {
		RecordType string `json:"record_type"`
		ID         string `json:"id"`
	}
	switch {
	case exactjson.Unmarshal(raw, &record) != nil:
		c.report.Damaged++
		return nil
	case record.RecordType != "":
		c.report.Omitted++
		return nil
	case kind == "" && record.ID != "" && !c.meta:
		return c.describe(raw)
	}
	return c.item(at, raw)
}

func (c *codex) describe(raw json.RawMessage) error {
	var m codexMeta
	if exactjson.Unmarshal(raw, &m) != nil {
		c.report.Damaged++
		return nil
	}
	if c.meta { // of the conversation that this one was forked from
		c.report.Omitted++
		return nil
	}
	c.meta = true
	c.info.Folder, c.info.Version, c.info.Created = m.Cwd, m.CLIVersion, parseTime(m.Timestamp)
	c.last = c.info.Created // for records without a time
	c.provider = first(m.Provider, c.provider)
	if c.info.Parent = m.parent(); c.info.Parent == "" && m.helper() {
		c.info.Parent = "codex" // a review or a compaction of Codex itself
	}
	return nil
}

// codexItem is a response item.
type codexItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Summary []codexText     `json:"summary"`
	Sealed  string          `json:"encrypted_content"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Input   string          `json:"input"`
	CallID  string          `json:"call_id"`
	ID      string          `json:"id"`
	Action  json.RawMessage `json:"action"`
	Output  json.RawMessage `json:"output"`
}

type codexText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

func (c *codex) item(at time.Time, raw json.RawMessage) error {
	var item codexItem
	if exactjson.Unmarshal(raw, &item) != nil {
		c.report.Damaged++
		return nil
	}
	switch item.Type {
	case "message":
		return c.said(at, &item, raw)
	case "reasoning":
		var content []codexText
		_ = json.Unmarshal(item.Content, &content) // absent where the reasoning is sealed
		for _, part := range append(slices.Clone(item.Summary), content...) {
			c.part(at, session.Block{Type: session.BlockThinking, Thinking: part.Text})
		}
		return nil
	case "function_call":
		return c.call(at, first(item.CallID, item.ID), item.Name, json.RawMessage(item.Args))
	case "custom_tool_call":
		input, err := session.Encode(map[string]string{inputName(item.Name): item.Input})
		if err != nil {
			return err
		}
		return c.call(at, first(item.CallID, item.ID), item.Name, input)
	case "local_shell_call", "web_search_call":
		return c.call(at, first(item.CallID, item.ID), strings.TrimSuffix(item.Type, "_call"), item.Action)
	case "function_call_output", "custom_tool_call_output":
		return c.output(at, &item)
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.foreign(at, item.Type, raw)
}

// inputName returns the name of the only argument of a tool that takes text.
func inputName(tool string) string {
	if tool == "apply_patch" {
		return "patch"
	}
	return "input"
}

// part adds a part to the message of the model.
func (c *codex) part(at time.Time, block session.Block) {
	if len(c.pending.m.Content) == 0 {
		c.pending.at = at
	}
	c.pending.m.Content = append(c.pending.m.Content, block)
}

func (c *codex) call(at time.Time, id, name string, args json.RawMessage) error {
	if id == "" || name == "" {
		c.report.Damaged++
		return nil
	}
	c.part(at, session.Block{Type: session.BlockToolCall, ID: id, Name: name, Arguments: arguments(args)})
	c.pending.m.StopReason = session.StopToolUse
	if name == "web_search" { // its result is not in the rollout
		return c.flush()
	}
	return nil
}

// flush adds the message of the model that was waiting for more parts.
func (c *codex) flush() error {
	p := c.pending
	c.pending = codexPending{}
	if len(p.m.Content) == 0 {
		return nil
	}
	p.m.API, p.m.Provider, p.m.Model = "openai-responses", c.provider, c.model
	if p.m.StopReason == "" {
		p.m.StopReason = session.StopEnd
	}
	return c.assistant(p.at, p.m)
}

// codexHarness begin messages that Codex adds in the name of the user.
var codexHarness = []string{
	"<environment_context>", "<user_instructions>", "<permissions instructions>", "<skills_instructions>", "<apps_instructions>",
	"<turn_aborted>", "<user_shell_command>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<subagent_notification>", "<collaboration_mode>",
}

func (c *codex) said(at time.Time, item *codexItem, raw json.RawMessage) error {
	content, text := codexContent(item.Content)
	if item.Role == "assistant" {
		for _, block := range content {
			c.part(at, block)
		}
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	harness := slices.ContainsFunc(codexHarness, func(prefix string) bool { return strings.HasPrefix(strings.TrimSpace(text), prefix) })
	if item.Role != "user" || harness {
		return c.foreign(at, "message."+item.Role, raw)
	}
	c.info.Title = first(c.info.Title, titleOf(text))
	return c.user(at, content)
}

func codexContent(raw json.RawMessage) (content session.Content, text string) {
	var parts []codexText
	if exactjson.Unmarshal(raw, &parts) != nil {
		return nil, ""
	}
	for _, part := range parts {
		switch mediaType, data, isData := dataURL(part.ImageURL); {
		case isData:
			content = append(content, imageBlock(mediaType, data))
		case part.ImageURL != "":
			content = append(content, session.Text("[image "+part.ImageURL+"]"))
		case part.Text != "":
			content = append(content, session.Text(part.Text))
			text += part.Text
		}
	}
	return content, text
}

func (c *codex) output(at time.Time, item *codexItem) error {
	if err := c.flush(); err != nil {
		return err
	}
	var text string
	var nested struct {
		Content string `json:"content"`
		Success *bool  `json:"success"`
	}
	isError := false
	content, _ := codexContent(item.Output)
	switch {
	case json.Unmarshal(item.Output, &text) == nil:
		content = session.Content{session.Text(codexOutput(text, &isError))}
	case content == nil && exactjson.Unmarshal(item.Output, &nested) == nil:
		content = session.Content{session.Text(nested.Content)}
		isError = nested.Success != nil && !*nested.Success
	}
	details := c.diffs[item.CallID]
	delete(c.diffs, item.CallID)
	return c.result(at, item.CallID, content, isError, details)
}

// codexOutput unwraps the output of a command, which some versions store as JSON.
func codexOutput(text string, isError *bool) string {
	var wrapped struct {
		Output   *string `json:"output"`
		Metadata struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	if !strings.HasPrefix(text, "{") || exactjson.Unmarshal([]byte(text), &wrapped) != nil || wrapped.Output == nil {
		return text
	}
	*isError = wrapped.Metadata.ExitCode != 0
	return *wrapped.Output
}
