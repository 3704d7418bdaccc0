// Package transcript shows a session as lines: prompts, answers, reasoning, tool calls. It
// renders only what is visible, so the length of a session does not matter.
package transcript

import (
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Model is the transcript of one session on a part of the screen. It belongs to the goroutine
// of the screen.
type Model struct {
	theme  *theme.Theme
	style  style
	height int

	items []*item          // of the log
	tail  []*item          // what still arrives
	calls map[string]*item // calls without a result, by id
	moved int              // of the projection that items were made from
	taken int              // entries of its path

	// The view follows the end, or begins at a line of an item.
	follow bool
	top    *item
	line   int
	unseen bool // something arrived below the view
}

// New returns an empty transcript that follows its end.
func New(t *theme.Theme) *Model {
	return &Model{theme: t, follow: true, calls: map[string]*item{}, style: style{width: 80, dark: t.Dark}, height: 24}
}

// SetTheme changes the colors.
func (m *Model) SetTheme(t *theme.Theme) { m.theme, m.style.dark = t, t.Dark }

// SetSize changes the size in cells.
func (m *Model) SetSize(width, height int) { m.style.width, m.height = max(width, 8), max(height, 0) }

// ToggleDetails shows cards in full, or short again.
func (m *Model) ToggleDetails() { m.style.expanded = !m.style.expanded }

// Unseen reports whether something arrived below the view.
func (m *Model) Unseen() bool { return m.unseen && !m.follow }

// Empty reports whether there is nothing to show.
func (m *Model) Empty() bool { return len(m.items) == 0 && len(m.tail) == 0 }

// Sync takes over what has changed in a session.
func (m *Model) Sync(s *projection.Session) {
	if s.Moved != m.moved || len(s.Path) < m.taken {
		m.rebuild(s)
	}
	for _, entry := range s.Path[m.taken:] {
		m.items = append(m.items, m.itemsOf(entry)...)
		m.unseen = true
	}
	m.taken = len(s.Path)
	m.syncTools(s.Live)
	m.syncTail(s.Live.Partial)
}

// rebuild begins again, and keeps the place of the view.
func (m *Model) rebuild(s *projection.Session) {
	var place string
	if m.top != nil {
		place = m.top.entryID
	}
	m.items, m.calls, m.moved, m.taken = nil, map[string]*item{}, s.Moved, 0
	for _, entry := range s.Path {
		m.items = append(m.items, m.itemsOf(entry)...)
	}
	m.taken = len(s.Path)
	m.top, m.follow = nil, m.follow || place == ""
	for _, i := range m.items {
		if !m.follow && i.entryID == place {
			m.top = i
			return
		}
	}
	m.follow, m.line = true, 0
}

// syncTools shows what running calls print and report.
func (m *Model) syncTools(live api.Live) {
	for i := range live.Tools {
		if tool, ok := m.calls[live.Tools[i].ToolCallID]; ok {
			running := live.Tools[i]
			tool.stale = tool.stale || tool.running == nil || tool.running.Output != running.Output
			tool.running = &running
		}
	}
	for i := range live.Processes {
		if tool, ok := m.calls[live.Processes[i].ToolCallID]; ok {
			process := live.Processes[i]
			tool.process, tool.stale = &process, true
		}
	}
	for _, batch := range live.Subagents {
		if tool, ok := m.calls[batch.ToolCallID]; ok {
			tool.subagent, tool.stale = batch.Children, true
		}
	}
}

// syncTail shows the message that still arrives.
func (m *Model) syncTail(partial []api.PartialBlock) {
	var tail []*item
	for _, block := range partial {
		n := len(tail)
		i := &item{live: true, stale: true}
		if n < len(m.tail) && m.tail[n].kind == kindOf(block.Type) {
			i = m.tail[n]
		}
		i.kind = kindOf(block.Type)
		switch {
		case i.kind == kindTool:
			i.call = session.Block{Type: session.BlockToolCall, ID: block.ID, Name: block.Name}
			if json.Valid([]byte(block.Text)) {
				i.call.Arguments = json.RawMessage(block.Text)
			}
			i.stale = true
		case strings.TrimSpace(block.Text) == "":
			continue
		case i.text != block.Text:
			i.text, i.stale, m.unseen = block.Text, true, true
		}
		tail = append(tail, i)
	}
	m.tail = tail
}

func kindOf(block session.BlockType) kind {
	switch block {
	case session.BlockThinking:
		return kindReasoning
	case session.BlockToolCall:
		return kindTool
	}
	return kindAnswer
}
