package chat

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/packages/protocol/api"
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
	field, cursor := m.input()
	middle := max(m.screen.height-2-len(below)-len(field), 0)
	head := heading{m.session.title(), m.next.project.Name, cmp.Or(m.conn.to.Name, m.conn.host.Label), m.cfg.Watch}
	lines := append([]string{head.line(m.screen)}, m.middle(middle)...)
	lines = append(lines, below...)
	if cursor != nil {
		cursor.Y += len(lines)
		v.Cursor = cursor
	}
	lines = append(append(lines, field...), footer(m.screen, m.settings(), m.session.Summary.Usage, m.conn.path()))
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.screen.width, "")
	}
	return lines[:min(len(lines), m.screen.height)]
}

// layout gives the transcript its size.
func (m *Model) layout() {
	field, _ := m.input()
	m.session.transcript.SetSize(m.screen.width, max(m.screen.height-2-len(m.below())-len(field), 0))
}

// input shows the field, and where the cursor is, unless the keys go elsewhere.
func (m *Model) input() ([]string, *tea.Cursor) {
	if m.cfg.Watch {
		return nil, nil
	}
	placeholder := "Ask the agent to do something…"
	if m.session.running() {
		placeholder = "Add to the queue…"
	}
	lines, cursor := m.field.lines(m.screen, cmp.Or(m.card.placeholder(), placeholder))
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
		lines = start{
			connecting: !m.conn.ever, opening: m.session.opening != "", folder: m.next.project.Path, demo: m.conn.demo(m.settings().model),
		}.lines(m.screen)
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

// below is what stands between the transcript and the field.
func (m *Model) below() []string {
	if m.picker != nil {
		return m.status()
	}
	lines := todoLines(m.screen, m.session.Todos, m.screen.small() || m.card.id != "")
	lines = append(lines, queueLines(m.screen, m.outbox.prompts, m.session.Live.Queue)...)
	lines = append(lines, m.card.lines(m.screen, len(lines))...)
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
		return m.screen.problem(m.conn.loss(m.notice.explainer, m.cfg.Now()), " ")
	case !m.conn.ever:
	case m.session.running():
		text = working(m.screen, m.session.Live, m.cfg.Now(), m.spinner.mark(), m.conn.may(api.GrantPrompt))
	case m.session.transcript.Unseen():
		text = m.screen.theme.Dim.Render(" ↓ More below: Ctrl+End")
	}
	return []string{text}
}
