package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Limits of a transcript for people: lines of a tool's result, and of a diff or a todo list.
const (
	maxResultLines = 12
	maxDiffLines   = 200
)

// printTranscript prints the current branch of a session for people.
func printTranscript(w io.Writer, r api.ResyncEventsResponse) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", printable(clip(r.Session.Name, 200)))
	tree := session.NewTree(r.Entries)
	path, hole := tree.PathToHole(tree.Leaf())
	if hole != nil || r.Session.Damaged != "" {
		path = tree.Entries() // show everything that can be read
	}
	for _, entry := range path {
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		}
		writeNote(&b, entry)
		if record, ok := entry.AsProcess(); ok {
			writeProcess(&b, record)
		}
		writeHook(&b, entry)
		writeBackend(&b, entry)
		writeTurnEnd(&b, entry)
	}
	b.WriteString(elsewhere(tree, path))
	if r.Session.Damaged != "" {
		fmt.Fprintf(&b, "\n(damaged: %s)\n", printable(r.Session.Damaged))
	}
	b.WriteString(spentLine(r.Session))
	for _, process := range r.Live.Processes {
		fmt.Fprintf(&b, "\n(%s)\n", stepText(process.Last))
	}
	writeState(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeState writes what the session waits for, or that it works.
func writeState(b *strings.Builder, r api.ResyncEventsResponse) {
	var items []inboxItem
	for i := range r.Live.Approvals {
		items = append(items, inboxItem{Approval: &r.Live.Approvals[i]})
	}
	for i := range r.Live.Questions {
		items = append(items, inboxItem{Question: &r.Live.Questions[i]})
	}
	for _, item := range items {
		fmt.Fprintf(b, "\n(waits for an answer: %s: `scorel session answer %s`)\n", printable(clip(item.what(), 200)), printable(r.Session.ID))
	}
	if len(items) == 0 && r.Live.Turn != nil {
		b.WriteString("\n(a turn is running)\n")
	}
}

// printAround prints a part of a session for people, with a mark at one entry.
func printAround(w io.Writer, r api.GetEntriesResponse, mark string) error {
	var b strings.Builder
	if r.Before > 0 {
		b.WriteString("(there is more before this)\n")
	}
	for _, entry := range r.Entries {
		if entry.ID == mark {
			fmt.Fprintf(&b, "\n--> %s %s", printable(entry.ID), printable(string(entry.Type)))
		}
		if m, ok := entry.AsMessage(); ok {
			writeMessage(&b, m.Message)
		} else if entry.ID == mark {
			b.WriteString("\n")
		}
	}
	if r.After > 0 {
		b.WriteString("\n(there is more after this)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// imageLines returns a placeholder line for each image of a message.
func imageLines(content session.Content) string {
	var b strings.Builder
	for _, block := range content {
		if block.Type == session.BlockImage {
			fmt.Fprintf(&b, "\n[image: %s, %d x %d pixels, %d bytes]", block.MimeType, block.Width, block.Height, block.Size)
		}
	}
	return b.String()
}

func writeMessage(b *strings.Builder, m session.Message) {
	text := strings.TrimSpace(m.Content.Plain() + imageLines(m.Content))
	switch m.Role {
	case session.RoleUser:
		fmt.Fprintf(b, "\n> %s\n", strings.ReplaceAll(printableLines(text), "\n", "\n> "))
	case session.RoleAssistant:
		if text != "" {
			fmt.Fprintf(b, "\n%s\n", printableLines(text))
		}
		for _, call := range m.Content.ToolCalls() {
			fmt.Fprintf(b, "\n%s\n", callLine(call))
		}
		if m.ErrorMessage != "" {
			fmt.Fprintf(b, "\n(failed: %s)\n", printable(m.ErrorMessage))
		}
	case session.RoleToolResult:
		writeResult(b, m, text)
	}
}

// writeResult writes the result of a call: the diff of a changed file, the todo list, or the
// beginning of its text.
func writeResult(b *strings.Builder, m session.Message, text string) {
	var details struct {
		Diff  string  `json:"diff"`
		Todos *[]todo `json:"todos"`
	}
	most := maxResultLines
	if json.Unmarshal(m.Details, &details) == nil { // most tools have others, or none
		switch {
		case m.ToolName == "todo" && details.Todos != nil:
			text, most = todoLines(*details.Todos), maxDiffLines
		case details.Diff != "":
			text, most = strings.TrimRight(details.Diff, "\n"), maxDiffLines
		}
	}
	writeLines(b, text, most)
}

// writeLines writes the beginning of a text behind a bar.
func writeLines(b *strings.Builder, text string, most int) {
	lines := strings.Split(text, "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("(%d more lines)", more))
	}
	fmt.Fprintf(b, "  | %s\n", printableLines(strings.Join(lines, "\n  | ")))
}

// todo is an item of the agent's list.
type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// todoLines shows the agent's list, one item on a line.
func todoLines(list []todo) string {
	if len(list) == 0 {
		return "(the todo list is empty)"
	}
	lines, done := []string{""}, 0
	for _, item := range list {
		mark := "[ ]"
		switch item.Status {
		case "in_progress":
			mark = "[>]"
		case "completed":
			mark = "[x]"
			done++
		case "cancelled":
			mark = "[-]"
			done++
		}
		lines = append(lines, mark+" "+strings.Join(strings.Fields(item.Content), " "))
	}
	lines[0] = fmt.Sprintf("Todo list, %d of %d done", done, len(list))
	return strings.Join(lines, "\n")
}

// writeTurnEnd says why a turn produced no answer, if no message says so.
func writeTurnEnd(b *strings.Builder, entry session.Entry) {
	custom, ok := entry.AsCustom()
	if !ok || custom.CustomType != session.CustomTurn {
		return
	}
	var record session.TurnRecord
	if json.Unmarshal(custom.Data, &record) != nil || record.Error == "" {
		return
	}
	if why := printable(record.Error); !strings.HasSuffix(b.String(), "(failed: "+why+")\n") {
		fmt.Fprintf(b, "\n(%s)\n", why)
	}
}

// writeHook says what a hook did.
func writeHook(b *strings.Builder, entry session.Entry) {
	custom, ok := entry.AsCustom()
	if !ok || custom.CustomType != session.CustomHook {
		return
	}
	var record session.HookRecord
	if json.Unmarshal(custom.Data, &record) == nil && record.Describe() != "" {
		fmt.Fprintf(b, "\n(%s)\n", printable(record.Describe()))
	}
}

// writeBackend says what another program said besides messages and calls.
func writeBackend(b *strings.Builder, entry session.Entry) {
	custom, ok := entry.AsCustom()
	if !ok || custom.CustomType != session.CustomBackend {
		return
	}
	var record session.BackendRecord
	if json.Unmarshal(custom.Data, &record) != nil {
		return
	}
	title, text := record.Describe()
	if title == "" {
		return
	}
	fmt.Fprintf(b, "\n(%s)\n", printable(title))
	if text != "" {
		writeLines(b, text, maxDiffLines)
	}
}
