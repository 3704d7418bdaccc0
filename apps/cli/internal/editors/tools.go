package editors

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/fence"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// kindOf returns the kind that editors know of a tool.
func kindOf(name string) string {
	switch name {
	case "read_file", "list_dir":
		return acp.ToolRead
	case "write_file", "edit_file", "patch", "edit":
		return acp.ToolEdit
	case "grep", "glob", "web_search", "search_sessions":
		return acp.ToolSearch
	case "bash", "execute_skill":
		return acp.ToolExecute
	case "fetch_url":
		return acp.ToolFetch
	case "todo", "delegate_task", "delegate_parallel":
		return acp.ToolThink
	}
	return acp.ToolOther
}

// begun sends a call whose arguments still stream.
func (v *view) begun(block api.PartialBlock) {
	if block.ID == "" || v.calls[block.ID] {
		return
	}
	v.calls[block.ID] = true
	v.o.send(acp.Update{Kind: acp.UpdateToolCall, Tool: &acp.ToolCall{
		ID: block.ID, Title: plain(block.Name), Name: block.Name, Kind: kindOf(block.Name), Status: acp.ToolPending,
	}})
}

// call sends a call with its arguments.
func (v *view) call(block session.Block) {
	update := acp.UpdateToolCall
	if v.calls[block.ID] {
		update = acp.UpdateToolChange
	}
	v.calls[block.ID] = true
	title, paths := describeCall(block.Name, block.Arguments)
	tool := &acp.ToolCall{ID: block.ID, Title: title, Name: block.Name, Kind: kindOf(block.Name), Status: acp.ToolPending, RawInput: block.Arguments}
	for _, path := range paths {
		tool.Locations = append(tool.Locations, acp.Location{Path: v.absolute(path)})
	}
	v.o.send(acp.Update{Kind: update, Tool: tool})
}

// absolute returns a path in the session's folder as editors name it.
func (v *view) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(v.o.cwd, path)
}

// describeCall returns one line about a call, and the files that it names.
func describeCall(name string, arguments json.RawMessage) (title string, paths []string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(arguments, &fields) // then it has no fields
	text := func(key string) string {
		var value string
		_ = json.Unmarshal(fields[key], &value) // a value of another kind is not shown
		return value
	}
	for _, key := range []string{"path", "file_path", "filePath"} {
		if path := text(key); path != "" {
			return plain(name) + " " + plain(path), []string{path}
		}
	}
	for _, key := range []string{"command", "cmd", "pattern", "query", "url", "title", "name", "question"} {
		if value := strings.TrimSpace(text(key)); value != "" {
			line, _, more := strings.Cut(value, "\n")
			if more {
				line += " …"
			}
			if key == "command" || key == "cmd" {
				return inCode(visible.Text(line)), nil
			}
			return plain(name) + " " + plain(line), nil
		}
	}
	return plain(name), nil
}

// diff returns what shows a diff: a change for each file, and the text too unless the changes are
// all of it.
func (v *view) diff(text string) (content []acp.ToolContent) {
	changes, whole := changesIn(text)
	for _, change := range changes {
		var before *string
		if text := string(change.before); !change.created {
			before = &text
		}
		content = append(content, acp.Diff(v.absolute(change.path), before, string(change.after)))
	}
	if !whole {
		content = append(content, acp.Shown(acp.Text(fenced("diff", text))))
	}
	return content
}

// fenced returns a text as a block of code, which it cannot end: editors render Markdown, in which
// a comment or a link hides what it says.
func fenced(language, text string) string {
	line := fence.Around(text)
	return line + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + line
}

// result sends the outcome of a call.
func (v *view) result(m session.Message) {
	delete(v.outputs, m.ToolCallID)
	tool := &acp.ToolCall{ID: m.ToolCallID, Status: acp.ToolCompleted, Content: []acp.ToolContent{}, RawOutput: m.Details}
	if m.IsError != nil && *m.IsError {
		tool.Status = acp.ToolFailed
	}
	var details struct {
		Diff  string `json:"diff"`
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	_ = json.Unmarshal(m.Details, &details) // most tools have other details
	tool.Content = append(tool.Content, v.diff(details.Diff)...)
	for _, block := range m.Content {
		switch {
		case block.Type == session.BlockText && block.Text != "" && details.Diff == "":
			tool.Content = append(tool.Content, acp.Shown(acp.Text(block.Text)))
		case block.Type == session.BlockImage && block.Data != "":
			tool.Content = append(tool.Content, acp.Shown(acp.Image(block.MimeType, block.Data)))
		}
	}
	update := acp.UpdateToolChange
	if !v.calls[m.ToolCallID] { // the call was before what the editor has
		v.calls[m.ToolCallID] = true
		update, tool.Title, tool.Name, tool.Kind = acp.UpdateToolCall, plain(m.ToolName), m.ToolName, kindOf(m.ToolName)
	}
	v.o.send(acp.Update{Kind: update, Tool: tool})
	if m.ToolName != "todo" || details.Todos == nil {
		return
	}
	plan := []acp.PlanEntry{}
	for _, todo := range details.Todos {
		status := todo.Status
		if status == "cancelled" { // a plan has no such state
			status = "completed"
		}
		plan = append(plan, acp.PlanEntry{Content: todo.Content, Priority: "medium", Status: status})
	}
	v.o.send(acp.Update{Kind: acp.UpdatePlan, Plan: plan})
}
