package transcripts

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// claudeBlock is a block of a message's content.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

// claudeOmitted are kinds of lines that are Claude Code's bookkeeping: what it adds to requests,
// its state, and copies of what other lines say.
var claudeOmitted = map[string]bool{
	"queue-operation": true, "attachment": true, "api-request": true, "api-request-shape": true, "api-request-blob": true,
	"last-prompt": true, "tools-used": true, "atis-latch": true, "file-history-snapshot": true, "file-history-delta": true,
	"progress": true, "mode": true, "permission-mode": true, "cost-state": true, "custom-title": true, "ai-title": true,
	"summary": true, "agent-name": true, "agent-setting": true, "agent-color": true, "tag": true, "pr-link": true,
	"content-replacement": true, "marble-origami-commit": true, "marble-origami-snapshot": true, "worktree-state": true,
	"bridge-session": true,
}

// claude converts one conversation: that of a session or that of a subagent.
type claude struct {
	*builder
	info   Info
	agents map[string]string // transcripts of subagents by id; nil for those of a subagent

	at      map[string]string // entry after a line: id by uuid
	pending claudePending
	side    map[string]*claude // conversations of subagents inside the file of the session, by uuid
	order   []*claude
	calls   map[string]claudeBlock // calls of subagents by id
}

// claudePending is a message of the model that may continue in the next line.
type claudePending struct {
	id    string
	at    time.Time
	uuids []string
	m     session.Message
}

func newClaude(id string, agents map[string]string) *claude {
	return &claude{
		builder: newBuilder(Claude), info: Info{Source: Claude, ID: id}, agents: agents,
		at: map[string]string{}, side: map[string]*claude{}, calls: map[string]claudeBlock{},
	}
}

func (c *claude) read(ctx context.Context, root *os.Root, path string) (Transcript, error) {
	err := eachLine(ctx, root, path, &c.info, &c.report, c.line)
	if err == nil {
		err = c.flush()
	}
	return Transcript{Info: c.info, Items: c.items, Report: c.report}, err
}

// chains returns the conversations of subagents that were inside the file.
func (c *claude) chains() []Transcript {
	var list []Transcript
	for i, s := range c.order {
		if err := s.flush(); err != nil || len(s.items) == 0 || i >= maxChildren {
			continue
		}
		s.info.ID, s.info.Parent = c.info.ID+"/"+s.info.ID, c.info.ID
		s.info.Updated = s.last
		list = append(list, Transcript{Info: s.info, Items: s.items, Report: s.report})
	}
	return list
}

func (c *claude) line(raw []byte) error {
	var l claudeLine
	if exactjson.Unmarshal(raw, &l) != nil {
		c.report.Damaged++
		return nil
	}
	c.describe(&l)
	if l.IsSidechain && c.agents != nil {
		return c.aside(&l, raw)
	}
	switch {
	case l.Type == "assistant":
		return c.answer(&l, raw)
	case l.Type == "user":
		return c.said(&l, raw)
	case l.Type == "system" && l.Subtype == "compact_boundary", claudeOmitted[l.Type]:
		c.report.Omitted++
		c.follow(&l)
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	kind := l.Type
	if l.Subtype != "" {
		kind += "." + l.Subtype
	}
	err := c.foreign(parseTime(l.Timestamp), kind, raw)
	c.at[l.UUID] = c.leaf
	return err
}

func (c *claude) describe(l *claudeLine) {
	c.info.Folder, c.info.Version = first(c.info.Folder, l.Cwd), first(l.Version, c.info.Version)
	if c.info.Created.IsZero() {
		c.info.Created = parseTime(l.Timestamp)
	}
	switch title := l.title(); {
	case title != "" && (l.Type == "custom-title" || !c.info.Named):
		c.info.Title, c.info.Named = title, l.Type == "custom-title"
	case c.info.Title == "":
		c.info.Title = l.prompt()
	}
}

// aside adds a line to the conversation of a subagent inside the file.
func (c *claude) aside(l *claudeLine, raw []byte) error {
	s := c.side[l.ParentUUID]
	if s == nil {
		s = newClaude(first(l.AgentID, l.UUID), nil)
		c.order = append(c.order, s)
	}
	c.side[l.UUID] = s
	return s.line(raw)
}

// follow notes where a line that became no entry stands, so that its successors are found.
func (c *claude) follow(l *claudeLine) {
	if l.UUID == "" {
		return
	}
	if at, ok := c.at[first(l.ParentUUID, l.LogicalParent)]; ok {
		c.at[l.UUID] = at
	} else {
		c.at[l.UUID] = c.leaf
	}
}

// answer adds a line of the model. Lines with the same id are one message.
func (c *claude) answer(l *claudeLine, raw []byte) error {
	if c.pending.id != l.Message.ID || l.Message.ID == "" || l.IsAPIError {
		if err := c.flush(); err != nil {
			return err
		}
		c.pending = claudePending{id: l.Message.ID, at: parseTime(l.Timestamp)}
	}
	var blocks []claudeBlock
	if len(l.Message.Content) > 0 && exactjson.Unmarshal(l.Message.Content, &blocks) != nil {
		c.report.Damaged++
		return nil
	}
	p := &c.pending
	p.uuids = append(p.uuids, l.UUID)
	p.m.API, p.m.Provider, p.m.Model = "anthropic-messages", "anthropic", first(l.Message.Model, p.m.Model)
	if usage := l.Message.Usage.usage(); usage != nil {
		p.m.Usage = usage
	}
	calls := false
	for _, block := range blocks {
		content, ok := claudeContent(block)
		if !ok {
			if err := c.foreign(p.at, "block."+block.Type, raw); err != nil {
				return err
			}
			continue
		}
		if calls = calls || content.Type == session.BlockToolCall; content.Type == session.BlockToolCall {
			c.calls[block.ID] = block
		}
		p.m.Content = append(p.m.Content, content)
	}
	p.m.StopReason = stopped(l.Message.StopReason, calls || p.m.StopReason == session.StopToolUse)
	if l.IsAPIError {
		p.m.StopReason, p.m.ErrorMessage, p.m.Content = session.StopError, first(claudeText(l.Message.Content), "The request failed."), nil
		return c.flush()
	}
	return nil
}

func claudeContent(block claudeBlock) (session.Block, bool) {
	switch block.Type {
	case "text":
		return session.Text(block.Text), true
	case "thinking":
		return session.Block{Type: session.BlockThinking, Thinking: block.Thinking, ThinkingSignature: block.Signature}, true
	case "redacted_thinking":
		return session.Block{Type: session.BlockThinking, ThinkingSignature: block.Data, Redacted: true}, true
	case "tool_use", "server_tool_use":
		if block.ID == "" || block.Name == "" {
			return session.Block{}, false
		}
		return session.Block{Type: session.BlockToolCall, ID: block.ID, Name: block.Name, Arguments: arguments(block.Input)}, true
	case "image":
		return imageBlock(block.Source.MediaType, block.Source.Data), true
	}
	return session.Block{}, false
}

// flush adds the message of the model that was waiting for more lines.
func (c *claude) flush() error {
	p := c.pending
	if c.pending = (claudePending{}); len(p.uuids) == 0 {
		return nil
	}
	err := c.assistant(p.at, p.m)
	for _, uuid := range p.uuids {
		c.at[uuid] = c.leaf
	}
	return err
}

// said adds a prompt, the results of calls, or a summary.
func (c *claude) said(l *claudeLine, raw []byte) error {
	if err := c.flush(); err != nil {
		return err
	}
	at := parseTime(l.Timestamp)
	defer func() { c.at[l.UUID] = c.leaf }()
	switch {
	case l.IsCompactSummary:
		return c.summary(at, claudeText(l.Message.Content))
	case l.IsMeta:
		return c.foreign(at, "user.meta", raw)
	}
	content, results, err := c.prompt(l, raw)
	if err != nil {
		return err
	}
	for _, result := range results {
		if err := c.claudeResult(at, l, result); err != nil {
			return err
		}
	}
	if len(content) == 0 {
		return nil
	}
	if len(results) == 0 {
		c.branch(l)
	}
	return c.user(at, content)
}

// prompt splits the content of a line of the user.
func (c *claude) prompt(l *claudeLine, raw []byte) (content session.Content, results []claudeBlock, _ error) {
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		if strings.TrimSpace(text) != "" {
			content = session.Content{session.Text(text)}
		}
		return content, nil, nil
	}
	var blocks []claudeBlock
	if exactjson.Unmarshal(l.Message.Content, &blocks) != nil {
		c.report.Damaged++
		return nil, nil, nil
	}
	for _, block := range blocks {
		if block.Type == "tool_result" {
			results = append(results, block)
			continue
		}
		part, ok := claudeContent(block)
		if !ok || part.Type == session.BlockThinking || part.Type == session.BlockToolCall {
			if err := c.foreign(parseTime(l.Timestamp), "block."+block.Type, raw); err != nil {
				return nil, nil, err
			}
			continue
		}
		content = append(content, part)
	}
	return content, results, nil
}

// branch moves to where a prompt stands if the conversation was rewound before it: another
// prompt is between there and the last entry.
func (c *claude) branch(l *claudeLine) {
	target, known := c.at[l.ParentUUID]
	if l.ParentUUID == "" || !known || target == c.leaf {
		return
	}
	prompts := 0
	for id := c.leaf; id != target; {
		if id == "" {
			return // it is not on this branch: lines are missing
		}
		item := c.items[c.byID[id]]
		if item.Message != nil && item.Message.Role == session.RoleUser {
			prompts++
		}
		id = item.Parent
	}
	if prompts > 0 {
		c.leaf, c.open = target, nil
	}
}

func (c *claude) claudeResult(at time.Time, l *claudeLine, block claudeBlock) error {
	var content session.Content
	var text string
	var blocks []claudeBlock
	if json.Unmarshal(block.Content, &text) == nil {
		content = session.Content{session.Text(text)}
	} else if len(block.Content) > 0 && exactjson.Unmarshal(block.Content, &blocks) == nil {
		for _, b := range blocks {
			if part, ok := claudeContent(b); ok && (part.Type == session.BlockText || part.Type == session.BlockImage) {
				content = append(content, part)
			} else if raw, err := session.Encode(b); err == nil {
				content = append(content, session.Text(string(raw)))
			}
		}
	}
	if err := c.result(at, block.ToolUseID, content, block.IsError, claudeDetails(l.Result)); err != nil {
		return err
	}
	return c.subagent(at, l, block.ToolUseID)
}

// subagent links a call to the transcript of the subagent that worked for it.
func (c *claude) subagent(at time.Time, l *claudeLine, callID string) error {
	var result struct {
		AgentID string `json:"agentId"`
	}
	if len(l.Result) == 0 || exactjson.Unmarshal(l.Result, &result) != nil || c.agents[result.AgentID] == "" {
		return nil
	}
	var input struct {
		Description  string `json:"description"`
		SubagentType string `json:"subagent_type"`
	}
	_ = exactjson.Unmarshal(c.calls[callID].Input, &input) // then the subagent has no title
	return c.crew(at, callID, c.info.ID+"/"+result.AgentID, input.SubagentType, input.Description)
}

// claudeDetails returns details of a result for people: the change of a file as a diff.
func claudeDetails(raw json.RawMessage) json.RawMessage {
	var result struct {
		FilePath string `json:"filePath"`
		Type     string `json:"type"`
		Content  string `json:"content"`
		Patch    []struct {
			OldStart int      `json:"oldStart"`
			OldLines int      `json:"oldLines"`
			NewStart int      `json:"newStart"`
			NewLines int      `json:"newLines"`
			Lines    []string `json:"lines"`
		} `json:"structuredPatch"`
	}
	if len(raw) == 0 || exactjson.Unmarshal(raw, &result) != nil || result.FilePath == "" {
		return nil
	}
	d := diff{path: result.FilePath, created: result.Type == "create"}
	for _, h := range result.Patch {
		d.hunk(h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Lines)
	}
	if d.created && len(result.Patch) == 0 {
		d.all(result.Content)
	}
	return d.details()
}
