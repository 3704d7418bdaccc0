package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// claudeLine is a line of a Claude Code transcript (projects/<folder>/<session>.jsonl). All
// kinds of lines share it.
type claudeLine struct {
	Type             string `json:"type"`
	Subtype          string `json:"subtype"`
	UUID             string `json:"uuid"`
	ParentUUID       string `json:"parentUuid"`
	LogicalParent    string `json:"logicalParentUuid"`
	SessionID        string `json:"sessionId"`
	AgentID          string `json:"agentId"`
	Timestamp        string `json:"timestamp"`
	Cwd              string `json:"cwd"`
	Version          string `json:"version"`
	IsSidechain      bool   `json:"isSidechain"`
	IsMeta           bool   `json:"isMeta"`
	IsCompactSummary bool   `json:"isCompactSummary"`
	IsAPIError       bool   `json:"isApiErrorMessage"`

	Summary     string          `json:"summary"`
	CustomTitle string          `json:"customTitle"`
	AITitle     string          `json:"aiTitle"`
	Result      json.RawMessage `json:"toolUseResult"`
	Message     claudeMessage   `json:"message"`
}

type claudeMessage struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *claudeUsage    `json:"usage"`
}

type claudeUsage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

func (u *claudeUsage) usage() *session.Usage {
	if u == nil {
		return nil
	}
	return &session.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		TotalTokens: u.Input + u.Output + u.CacheRead + u.CacheWrite,
	}
}

// title returns the name that a line gives its session, or "".
func (l *claudeLine) title() string {
	switch l.Type {
	case "custom-title":
		return titleOf(l.CustomTitle)
	case "ai-title":
		return titleOf(l.AITitle)
	case "summary":
		return titleOf(l.Summary)
	}
	return ""
}

// prompt returns the text of a prompt that a person wrote, or "".
func (l *claudeLine) prompt() string {
	if l.Type != "user" || l.IsMeta || l.IsSidechain || l.IsCompactSummary {
		return ""
	}
	text := claudeText(l.Message.Content)
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, "Caveat:") { // what a command printed
		return ""
	}
	return titleOf(text)
}

// claudeText returns the text of a message without tool results.
func claudeText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []claudeBlock
	if exactjson.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, block := range blocks {
		if block.Type == "text" {
			parts = append(parts, block.Text)
		}
	}
	return strings.Join(parts, "\n")
}

const claudeFolder = "projects"

func (r *Reader) listClaude(ctx context.Context) (list []Info, damaged int, err error) {
	root, err := r.openRoot(Claude, claudeFolder)
	if root == nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }() // only read
	paths, err := newest(ctx, root, ".", 1, isClaudeSession)
	if err != nil {
		return nil, 0, err
	}
	for _, path := range paths {
		info, ok, err := claudeHead(ctx, root, path)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			list = append(list, info)
		} else {
			damaged++
		}
	}
	return list, damaged, nil
}

func isClaudeSession(path string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	return ok && validID(name) && !strings.HasPrefix(name, "agent-") && filepath.Dir(path) != "."
}

// claudeHead describes a transcript by its beginning and its end.
func claudeHead(ctx context.Context, root *os.Root, path string) (Info, bool, error) {
	info := Info{Source: Claude, ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	prompts := 0
	err := heads(ctx, root, path, &info, func(line []byte) bool {
		var l claudeLine
		if exactjson.Unmarshal(line, &l) != nil {
			return true
		}
		info.Folder, info.Version = first(info.Folder, l.Cwd), first(l.Version, info.Version)
		if at := parseTime(l.Timestamp); info.Created.IsZero() {
			info.Created = at
		}
		if title := l.title(); title != "" && (l.Type != "ai-title" || !info.Named) {
			info.Title, info.Named = title, l.Type == "custom-title" || !info.Named
		}
		if l.Type == "user" || l.Type == "assistant" {
			prompts++
		}
		if info.Title == "" {
			info.Title = l.prompt()
		}
		return true
	})
	return info, prompts > 0, err
}

func (r *Reader) readClaude(ctx context.Context, id string) (Transcript, error) {
	root, err := r.openRoot(Claude, claudeFolder)
	if err != nil || root == nil {
		return Transcript{}, errors.Join(err, ErrNotFound)
	}
	defer func() { _ = root.Close() }() // only read
	found := ""
	err = files(ctx, root, ".", 1, isClaudeSession, func(path string) {
		if filepath.Base(path) == id+".jsonl" {
			found = path
		}
	})
	if err != nil || found == "" {
		return Transcript{}, errors.Join(err, ErrNotFound)
	}
	agents, err := claudeAgents(ctx, root, found, id)
	if err != nil {
		return Transcript{}, err
	}
	c := newClaude(id, agents)
	t, err := c.read(ctx, root, found)
	if err != nil {
		return Transcript{}, err
	}
	t.ID = id
	for _, agent := range slices.Sorted(keys(agents)) {
		child, err := newClaude(id+"/"+agent, nil).read(ctx, root, agents[agent])
		switch {
		case err != nil:
			return Transcript{}, err
		case len(child.Items) == 0:
			continue
		}
		child.ID, child.Parent = id+"/"+agent, id
		t.Children = append(t.Children, child)
	}
	t.Children = append(t.Children, c.chains()...)
	return t, nil
}

// claudeAgents finds the transcripts of a session's subagents: in a folder of their own, and in
// older versions beside it.
func claudeAgents(ctx context.Context, root *os.Root, path, id string) (map[string]string, error) {
	agents := map[string]string{}
	isAgent := func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), "agent-") && strings.HasSuffix(path, ".jsonl")
	}
	put := func(path string) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
		if validID(name) && len(agents) < maxChildren {
			agents[name] = path
		}
	}
	if err := files(ctx, root, filepath.Join(filepath.Dir(path), id, "subagents"), 2, isAgent, put); err != nil {
		return nil, err
	}
	var beside []string
	err := files(ctx, root, filepath.Dir(path), 0, isAgent, func(path string) { beside = append(beside, path) })
	for _, path := range beside {
		lines, _, openErr := openLines(ctx, root, path, maxHead)
		if openErr != nil {
			continue
		}
		var l claudeLine
		line, readErr := lines.next()
		if readErr == nil && exactjson.Unmarshal(line, &l) == nil && l.SessionID == id {
			put(path)
		}
		if err = errors.Join(err, lines.close()); readErr != nil && !errors.Is(readErr, io.EOF) {
			err = errors.Join(err, ctx.Err())
		}
	}
	return agents, err
}
