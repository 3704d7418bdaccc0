package chat

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Sizes of the parts of the screen.
const (
	maxTodoRows  = 6
	maxQueueRows = 3
	smallHeight  = 22 // below, the lists are shorter
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode, v.ReportFocus = tea.MouseModeCellMotion, true
	v.WindowTitle = "scorel: " + m.session.title()
	lines := m.lines(&v)
	v.Content = strings.Join(lines, "\n")
	return v
}

// lines returns the rows of the screen and places the cursor.
func (m *Model) lines(v *tea.View) []string {
	below := m.below()
	field, cursor := m.writing()
	middle := max(m.screen.height-2-len(below)-len(field), 0)
	lines := append([]string{m.header()}, m.middle(middle)...)
	lines = append(lines, below...)
	if cursor != nil {
		cursor.Y += len(lines)
		v.Cursor = cursor
	}
	lines = append(append(lines, field...), m.footer())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.screen.width, "")
	}
	return lines[:min(len(lines), m.screen.height)]
}

// layout gives the transcript its size.
func (m *Model) layout() {
	field, _ := m.writing()
	m.session.transcript.SetSize(m.screen.width, max(m.screen.height-2-len(m.below())-len(field), 0))
}

// writing shows the field, and where the cursor is, unless the keys go elsewhere.
func (m *Model) writing() ([]string, *tea.Cursor) {
	if m.cfg.Watch {
		return nil, nil
	}
	placeholder := m.card.placeholder()
	switch {
	case placeholder != "":
	case m.session.running():
		placeholder = "Add to the queue…"
	default:
		placeholder = "Ask the agent to do something…"
	}
	lines, cursor := m.field.lines(m.screen, placeholder)
	if m.card.focused || m.picker != nil {
		cursor = nil
	}
	return lines, cursor
}

// middle is the transcript, or what covers it.
func (m *Model) middle(height int) []string {
	var lines []string
	switch {
	case m.picker != nil:
		return m.picker.lines(m.screen, height)
	case m.session.transcript.Empty():
		lines = m.emptyLines()
	default:
		return m.session.transcript.View()
	}
	if len(lines) > height {
		lines = lines[:height]
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func (m *Model) emptyLines() []string {
	switch {
	case !m.conn.ever:
		return []string{"", m.screen.theme.Dim.Render("  Connecting…")}
	case m.session.opening != "":
		return []string{"", m.screen.theme.Dim.Render("  Opening the session…")}
	}
	lines := []string{""}
	add := func(text string, ink lipgloss.Style) {
		for _, line := range folded(text, m.screen.width-4, ink) {
			lines = append(lines, "  "+line)
		}
	}
	if m.next.project.Path != "" {
		add(sanitize.Line(m.next.project.Path), m.screen.theme.Dim)
	}
	if m.demo() {
		add("Prompts go to the demo model, which is not an AI: `scorel model key` saves the key of another", m.screen.theme.Warn)
	}
	add("/ for commands, @ for files, F1 for keys", m.screen.theme.Dim)
	return lines
}

func (m *Model) demo() bool {
	name := m.settings().model
	for _, model := range m.conn.host.Models {
		if model.Name == name {
			return model.Demo
		}
	}
	return false
}

// header names the session, the project and the host.
func (m *Model) header() string {
	left := " " + m.session.title()
	right := cmp.Or(m.conn.to.Name, m.conn.host.Label)
	if m.next.project.Name != "" {
		right = m.next.project.Name + " on " + right
	}
	right = sanitize.Line(right)
	if m.cfg.Watch {
		right += " · view only"
	}
	return m.screen.spread(left, right+" ", m.screen.theme.Bar.Bold(true).Render, m.screen.theme.Bar.Render)
}

// footer shows what the next prompt meets, and the path that it takes.
func (m *Model) footer() string {
	now := m.settings()
	parts := []string{sanitize.Line(now.model)}
	if now.thinking != "" {
		parts[0] += " (" + sanitize.Line(now.thinking) + ")"
	}
	parts = append(parts, string(now.mode))
	if usage := m.session.Summary.Usage; usage.Input+usage.Output > 0 {
		parts = append(parts, fmt.Sprintf("%s in, %s out", short(usage.Input+usage.CacheRead+usage.CacheWrite), short(usage.Output)))
		if usage.Cost > 0 {
			parts = append(parts, fmt.Sprintf("$%.2f", usage.Cost))
		}
	}
	right := "F1 help "
	if path := m.conn.path(); path != "" {
		right = path + " · " + right
	}
	return m.screen.spread(" "+strings.Join(parts, " · "), right, m.screen.theme.Dim.Render, m.screen.theme.Dim.Render)
}

// short writes a number of tokens.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// below is what stands between the transcript and the field.
func (m *Model) below() []string {
	if m.picker != nil {
		return m.status()
	}
	lines := append(m.todoLines(), m.queueLines()...)
	lines = append(lines, m.card.lines(m.screen)...)
	lines = append(lines, m.complete.lines(m.screen)...)
	return append(lines, m.status()...)
}

// status says what happens now: in one row, or more for an error with help.
func (m *Model) status() []string {
	if lines := m.notice.lines(m.screen); lines != nil {
		return lines
	}
	text := ""
	switch {
	case m.conn.lost != nil:
		wait := max(m.conn.retryAt.Sub(m.cfg.Now()).Round(time.Second), 0)
		lost := m.notice.problem(m.conn.lost)
		lost.text = fmt.Sprintf("Disconnected, trying again in %s: %s", wait, lost.text)
		return m.screen.problem(lost, " ")
	case !m.conn.ever:
	case m.session.Live.Turn != nil || m.session.Live.Work != nil:
		text = m.working()
	case m.session.transcript.Unseen():
		text = m.screen.theme.Dim.Render(" ↓ More below: Ctrl+End")
	}
	return []string{text}
}

// spinner has one frame for each tick.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (m *Model) working() string {
	live := m.session.Live
	text, from := "Working", int64(0)
	switch {
	case live.Work != nil && live.Work.Kind == api.WorkCompaction:
		text, from = "Summarizing… your messages will be sent afterwards", live.Work.StartedAt
	case live.Work != nil:
		text, from = "Summarizing the other branch", live.Work.StartedAt
	case live.Turn.Cancelling:
		text = "Canceling"
	case waits(live) != "":
		text = waits(live)
	case live.Retry != nil:
		text = fmt.Sprintf("%s Trying again (attempt %d of %d)", live.Retry.Reason, live.Retry.Attempt, live.Retry.Attempts)
	}
	if live.Turn != nil {
		from = live.Turn.StartedAt
	}
	if passed := m.cfg.Now().Sub(time.UnixMilli(from)).Round(time.Second); passed >= time.Second {
		text += " · " + passed.String()
	}
	if live.Turn != nil && !live.Turn.Cancelling && m.conn.may(api.GrantPrompt) {
		text += " · Esc cancels"
	}
	line := " " + spinner[m.frame%len(spinner)] + " " + sanitize.Line(text)
	if waits(live) != "" {
		return m.screen.theme.Warn.Render(line)
	}
	return m.screen.theme.Accent.Render(line)
}

// todoLines shows the list of the agent while something is left to do.
func (m *Model) todoLines() []string {
	todos := m.session.Todos
	done, next := 0, ""
	for _, todo := range todos {
		switch todo.Status {
		case "completed", "cancelled":
			done++
		case "in_progress":
			next = todo.Content
		default:
			next = cmp.Or(next, todo.Content)
		}
	}
	if done == len(todos) {
		return nil
	}
	head := fmt.Sprintf(" Todos %d/%d", done, len(todos))
	if m.screen.small() || m.card.id != "" {
		return []string{m.screen.dim(head + " · " + oneLine(next))}
	}
	lines := []string{m.screen.theme.Dim.Render(head)}
	first := min(max(done-1, 0), max(len(todos)-maxTodoRows, 0))
	for _, todo := range todos[first:min(first+maxTodoRows, len(todos))] {
		text := ansi.Truncate(oneLine(todo.Content), max(m.screen.width-4, 1), "…")
		switch todo.Status {
		case "completed":
			lines = append(lines, " "+m.screen.theme.Good.Render("☑")+" "+m.screen.theme.Dim.Render(text))
		case "cancelled":
			lines = append(lines, " "+m.screen.theme.Dim.Render("☒ ")+m.screen.theme.Dim.Strikethrough(true).Render(text))
		case "in_progress":
			lines = append(lines, " "+m.screen.theme.Accent.Render("▶")+" "+m.screen.theme.Strong.Render(text))
		default:
			lines = append(lines, " ☐ "+text)
		}
	}
	return lines
}

// queueLines shows prompts that wait: here, and on the host.
func (m *Model) queueLines() []string {
	lines := m.outbox.lines(m.screen)
	for _, q := range m.session.Live.Queue {
		lines = append(lines, m.screen.dim(" "+queueDetail(q)+": "+oneLine(q.Text)))
	}
	if more := len(lines) - maxQueueRows; more > 0 {
		lines = append(lines[:maxQueueRows-1], m.screen.theme.Dim.Render(fmt.Sprintf(" and %d more: /queue", more+1)))
	}
	return lines
}
