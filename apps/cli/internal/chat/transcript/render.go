package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/session"
)

// How many lines of a card are shown until it is expanded.
const (
	shortOutput  = 6
	shortDiff    = 16
	shortThought = 3
	maxCard      = 2000 // of an expanded card
)

// render returns the lines of an item, and an empty one before most.
func (i *item) render(s style, t *theme.Theme) []string {
	if !i.stale && i.lines != nil && i.shown == s {
		return i.lines
	}
	var lines []string
	switch i.kind {
	case kindUser:
		lines = renderPrompt(i.text, s, t)
	case kindAnswer:
		lines = append([]string{""}, i.answer(s, t)...)
	case kindReasoning:
		lines = append([]string{""}, renderReasoning(i, s, t)...)
	case kindTool:
		lines = append([]string{""}, renderTool(i, s, t)...)
	case kindNote:
		lines = append([]string{""}, block("· ", i.text, s, t.Dim)...)
	case kindBad:
		lines = append([]string{""}, block("✗ ", i.text, s, t.Bad)...)
	}
	i.lines, i.shown, i.stale = lines, s, false
	return lines
}

func (i *item) answer(s style, t *theme.Theme) []string {
	if !i.live {
		return markdown.Render(i.text, s.width, t)
	}
	if i.stream == nil {
		i.stream = &markdown.Stream{}
	}
	return i.stream.Render(i.text, s.width, t)
}

// block shows a text behind a mark.
func block(mark, text string, s style, ink lipgloss.Style) []string {
	var lines []string
	for part := range strings.SplitSeq(ansi.Wordwrap(markdown.Clean(text), max(s.width-2, 8), ""), "\n") {
		for _, line := range markdown.Break(part, s.width-2) {
			lines = append(lines, ink.Render(mark+line))
			mark = "  "
		}
	}
	return lines
}

// renderPrompt shows a prompt on a background that reaches over the whole width.
func renderPrompt(text string, s style, t *theme.Theme) []string {
	lines := []string{""}
	mark := t.Accent.Inherit(t.User).Render("❯ ")
	for part := range strings.SplitSeq(ansi.Wordwrap(markdown.Clean(text), max(s.width-3, 8), ""), "\n") {
		for _, line := range markdown.Break(part, s.width-3) {
			fill := strings.Repeat(" ", max(s.width-2-ansi.StringWidth(line), 0))
			lines = append(lines, mark+t.User.Render(line+fill))
			mark = t.User.Render("  ")
		}
	}
	return lines
}

func renderReasoning(i *item, s style, t *theme.Theme) []string {
	lines := block("  ", strings.TrimSpace(i.text), s, t.Dim)
	title := t.Dim.Render("✻ Reasoning")
	switch {
	case s.expanded:
	case i.live:
		lines = lines[max(len(lines)-shortThought, 0):]
	default:
		return []string{title + t.Dim.Render(fmt.Sprintf(" · %s", count(len(lines), "line")))}
	}
	return append([]string{title}, lines...)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// renderTool shows a call: its state, what it does, its progress and its result.
func renderTool(i *item, s style, t *theme.Theme) []string {
	mark, ink := "●", t.Accent
	switch {
	case i.result != nil && i.result.IsError != nil && *i.result.IsError:
		mark, ink = "✗", t.Bad
	case i.result != nil:
		mark, ink = "✓", t.Good
	}
	name := sanitize.Line(i.call.Name)
	title := sanitize.Line(strings.Join(strings.Fields(Title(i.call)), " "))
	head := ink.Render(mark) + " " + t.Strong.Render(name)
	if room := s.width - ansi.StringWidth(name) - 4; title != "" && room > 0 {
		head += "  " + t.Text.Render(ansi.Truncate(title, room, "…"))
	}
	lines := []string{ansi.Truncate(head, s.width, "…")}
	for _, line := range toolBody(i, s, t) {
		lines = append(lines, t.Border.Render("  │ ")+line)
	}
	return lines
}

func toolBody(i *item, s style, t *theme.Theme) []string {
	width := max(s.width-4, 8)
	var lines []string
	for _, child := range i.subagent {
		lines = append(lines, ansi.Truncate(subagentLine(child, t), width, "…"))
	}
	if i.process != nil {
		lines = append(lines, ansi.Truncate(t.Warn.Render(sanitize.Line(processLine(*i.process))), width, "…"))
	}
	switch {
	case i.result == nil && i.running != nil && i.running.Output != "":
		return append(lines, clipTail(output(i.running.Output, width, t.Dim), s)...)
	case i.result == nil:
		return lines
	}
	if diff := diffOf(i.result.Details); diff != "" {
		return append(lines, clipHead(markdown.Diff(diff, width, t), s, shortDiff, t)...)
	}
	text := strings.TrimSpace(i.result.Content.Plain())
	if i.call.Name == "clarify" {
		text = reply(text)
	}
	if text == "" || i.call.Name == "todo" {
		return lines
	}
	ink := t.Dim
	if i.result.IsError != nil && *i.result.IsError {
		ink = t.Bad
	}
	return append(lines, clipHead(output(text, width, ink), s, shortOutput, t)...)
}

// output shows the output of a tool as it is.
func output(text string, width int, ink lipgloss.Style) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(markdown.Clean(text), "\n"), "\n") {
		for _, part := range markdown.Break(line, width) {
			lines = append(lines, ink.Render(part))
		}
		if len(lines) > maxCard {
			break
		}
	}
	return lines
}

func clipTail(lines []string, s style) []string {
	if s.expanded {
		return lines
	}
	return lines[max(len(lines)-shortOutput, 0):]
}

func clipHead(lines []string, s style, short int, t *theme.Theme) []string {
	if s.expanded {
		short = maxCard
	}
	more := len(lines) - short
	if more <= 1 {
		return lines
	}
	hint := fmt.Sprintf("… %s (Ctrl+O shows all)", count(more, "more line"))
	if s.expanded {
		hint = "… the rest is in the log: scorel session show"
	}
	return append(lines[:short:short], t.Dim.Render(hint))
}

// diffOf returns the diff in the details of a result.
func diffOf(details json.RawMessage) string {
	var found struct {
		Diff string `json:"diff"`
	}
	if json.Unmarshal(details, &found) != nil {
		return ""
	}
	return found.Diff
}

// reply returns the answer to a question of the agent.
func reply(result string) string {
	var found struct {
		Response string `json:"user_response"`
	}
	if json.Unmarshal([]byte(result), &found) != nil || found.Response == "" {
		return result
	}
	return found.Response
}

// Title says on one line what a call does: its most telling argument.
func Title(call session.Block) string {
	var arguments map[string]json.RawMessage
	if json.Unmarshal(call.Arguments, &arguments) != nil {
		return string(call.Arguments)
	}
	for _, name := range []string{"command", "path", "file_path", "pattern", "url", "query", "skill", "name", "title", "question"} {
		var text string
		if json.Unmarshal(arguments[name], &text) == nil && text != "" {
			return text
		}
	}
	if call.Name == "todo" || len(arguments) == 0 {
		return ""
	}
	return string(call.Arguments)
}
