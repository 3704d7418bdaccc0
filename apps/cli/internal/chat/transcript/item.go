package transcript

import (
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

type kind int

const (
	kindUser kind = iota
	kindAnswer
	kindReasoning
	kindTool
	kindNote // a line of the host: a compaction, an error
	kindBad  // a failed turn
)

// item is a part of the transcript with its own lines.
type item struct {
	kind    kind
	entryID string
	text    string

	call     session.Block    // kindTool
	result   *session.Message // kindTool: nil while it runs
	running  *api.RunningTool // kindTool: live output
	process  *api.Process     // kindTool: live progress
	subagent []api.SubagentChild
	live     bool // still arrives

	stream *markdown.Stream
	shown  style // that lines were rendered in
	stale  bool
	lines  []string
}

// style is everything besides its content that decides how an item looks.
type style struct {
	width    int
	dark     bool
	expanded bool
}

// itemsOf converts an entry.
func (m *Model) itemsOf(entry session.Entry) []*item {
	switch entry.Type {
	case session.TypeMessage:
		message, ok := entry.AsMessage()
		if !ok {
			return nil
		}
		return m.messageItems(entry.ID, message.Message)
	case session.TypeCompaction:
		return []*item{{kind: kindNote, entryID: entry.ID, text: "Older messages were summarized"}}
	case session.TypeBranchSummary:
		return []*item{{kind: kindNote, entryID: entry.ID, text: "Summary of another branch: " + entry.Text("summary")}}
	case session.TypeCustom:
		return m.customItems(entry)
	}
	return nil
}

func (m *Model) messageItems(entryID string, message session.Message) []*item {
	switch message.Role {
	case session.RoleUser:
		return []*item{{kind: kindUser, entryID: entryID, text: promptText(message.Content)}}
	case session.RoleToolResult:
		m.finish(message)
		return nil
	}
	var items []*item
	for _, block := range message.Content {
		switch {
		case block.Type == session.BlockText && strings.TrimSpace(block.Text) != "":
			items = append(items, &item{kind: kindAnswer, entryID: entryID, text: block.Text})
		case block.Type == session.BlockThinking && strings.TrimSpace(block.Thinking) != "":
			items = append(items, &item{kind: kindReasoning, entryID: entryID, text: block.Thinking})
		case block.Type == session.BlockToolCall:
			tool := &item{kind: kindTool, entryID: entryID, call: block}
			m.calls[block.ID] = tool
			items = append(items, tool)
		}
	}
	if message.ErrorMessage != "" {
		items = append(items, &item{kind: kindBad, entryID: entryID, text: message.ErrorMessage})
	}
	return items
}

// finish gives a call its result.
func (m *Model) finish(result session.Message) {
	if tool, ok := m.calls[result.ToolCallID]; ok {
		tool.result, tool.running, tool.process, tool.stale = &result, nil, nil, true
		delete(m.calls, result.ToolCallID)
	}
}

func (m *Model) customItems(entry session.Entry) []*item {
	custom, ok := entry.AsCustom()
	if ok && custom.CustomType == session.CustomSubagents {
		m.subagentsOf(custom)
	}
	if ok && custom.CustomType == session.CustomHook {
		return hookItems(entry.ID, custom)
	}
	if ok && custom.CustomType == session.CustomBackend {
		return backendItems(entry.ID, custom)
	}
	if !ok || custom.CustomType != session.CustomTurn {
		return nil
	}
	var record session.TurnRecord
	if json.Unmarshal(custom.Data, &record) != nil {
		return nil
	}
	switch {
	case record.StopReason == session.StopAborted:
		return []*item{{kind: kindNote, entryID: entry.ID, text: "Canceled"}}
	case record.Error == "" || m.lastText() == record.Error:
		return nil
	}
	return []*item{{kind: kindBad, entryID: entry.ID, text: record.Error}}
}

// subagentsOf shows subagents of a call as the log has them.
func (m *Model) subagentsOf(custom session.CustomEntry) {
	var record session.SubagentRecord
	if json.Unmarshal(custom.Data, &record) != nil {
		return
	}
	if tool, ok := m.calls[record.ToolCallID]; ok {
		tool.subagent, tool.stale = nil, true
		for _, member := range record.Members {
			tool.subagent = append(tool.subagent, api.SubagentChild{SubagentMember: member})
		}
	}
}

func (m *Model) lastText() string {
	if n := len(m.items); n > 0 {
		return m.items[n-1].text
	}
	return ""
}

// promptText is the text of a prompt, with a line for each image.
func promptText(content session.Content) string {
	text := content.Plain()
	for _, block := range content {
		if block.Type == session.BlockImage {
			text = strings.TrimSpace(text+"\n") + "\n" + "[image " + strings.TrimPrefix(block.MimeType, "image/") + "]"
		}
	}
	return strings.TrimSpace(text)
}

// hookItems shows what a hook did. That it blocked a prompt is said by the end of the turn.
func hookItems(entryID string, custom session.CustomEntry) []*item {
	var record session.HookRecord
	if json.Unmarshal(custom.Data, &record) != nil {
		return nil
	}
	text := record.Describe()
	if text == "" {
		return nil
	}
	return []*item{{kind: kindNote, entryID: entryID, text: text}}
}

// maxBackendText is how much of the text of a record is shown, in bytes; scorel session show has more.
const maxBackendText = 2000

// backendItems shows what another program said besides messages and calls.
func backendItems(entryID string, custom session.CustomEntry) []*item {
	var record session.BackendRecord
	if json.Unmarshal(custom.Data, &record) != nil {
		return nil
	}
	title, text := record.Describe()
	if title == "" {
		return nil
	}
	if len(text) > maxBackendText {
		text = visible.Head(text, maxBackendText) + "…"
	}
	if text != "" {
		title += "\n" + text
	}
	return []*item{{kind: kindNote, entryID: entryID, text: title}}
}
