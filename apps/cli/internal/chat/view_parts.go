package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

func (m *Model) placeholder() string {
	switch {
	case m.field.answering() && m.card.approval != nil:
		return "Feedback to the agent; Enter denies the call, Esc goes back"
	case m.field.answering():
		return "Your answer; Enter sends it, Esc goes back"
	case m.card.focused:
		return "Tab: write a prompt instead"
	case m.session.running():
		return "Add to the queue…"
	}
	return "Ask the agent to do something…"
}

// cardLines shows what waits for this person.
func (m *Model) cardLines() []string {
	c := &m.card
	if c.id == "" {
		return nil
	}
	var head, body []string
	var title string
	if c.approval != nil {
		title = "Approval needed"
		head, body = m.approvalText(c)
	} else {
		title = asks(c.question)
		head = m.questionText(c.question)
	}
	if more := m.openCards() - 1; more > 0 {
		title += fmt.Sprintf(" · %d more", more)
	}
	room := max(m.screen.height*3/5-len(head)-4, 3)
	lines := append(slices.Clone(head), m.window(c, body, room)...)
	lines = append(append(lines, ""), m.cardHint(c)...)
	border := m.screen.theme.BorderAsk
	if !c.focused {
		border = m.screen.theme.Border
	}
	return m.screen.boxed(m.screen.theme.Warn.Bold(true).Render(title), lines, border)
}

// window shows a part of a long detail. Whether its end was shown is remembered: a call is only
// allowed by someone who could read all of it.
func (m *Model) window(c *card, body []string, room int) []string {
	last := max(len(body)-room, 0)
	c.scroll = min(c.scroll, last)
	if c.scroll == last {
		c.read = true
	}
	if last == 0 {
		return body
	}
	shown := slices.Clone(body[c.scroll : c.scroll+room])
	return append(shown, m.screen.theme.Warn.Render(fmt.Sprintf("%d-%d of %d lines · PgDn: read on", c.scroll+1, c.scroll+room, len(body))))
}

// approvalText is everything that is decided on: a part that is missing could be the one that
// matters.
func (m *Model) approvalText(c *card) (head, body []string) {
	a, t, width := c.approval, m.screen.theme, m.screen.inside()
	if p := c.painted; p.head != nil && p.width == width && p.dark == t.Dark {
		return p.head, p.body
	}
	who := a.ToolName
	if c.agent != "" {
		who += " for the subagent " + c.agent
	}
	head = paint(who+" in "+visible.Text(a.Cwd), width, t.Strong)
	head = append(head, paint(visible.Text(a.Title), width, t.Text)...)
	switch {
	case a.Detail == "" || a.Detail == a.Title:
	case a.IsDiff:
		body = markdown.Diff(visible.Text(a.Detail), width, t)
	default:
		body = paint(visible.Text(a.Detail), width, t.Dim)
	}
	// The risk often is the reason.
	if a.Reason != "" && (a.Risk == nil || !slices.Contains(a.Risk.Reasons, a.Reason)) {
		body = append(body, paint("Reason: "+a.Reason, width, t.Dim)...)
	}
	if a.Risk != nil {
		ink := t.Dim
		if a.Risk.Level == api.RiskHigh {
			ink = t.Bad
		}
		body = append(body, paint("Risk: "+string(a.Risk.Level)+" ("+strings.Join(a.Risk.Reasons, "; ")+")", width, ink)...)
	}
	for i, choice := range a.Choices {
		body = append(body, folded(fmt.Sprintf("%d  %s", i+1, oneLine(choice.Name)), width, t.Accent)...)
	}
	for _, rule := range a.ProposedRules {
		body = append(body, paint("Always would allow: "+rule, width, t.Dim)...)
	}
	c.painted = painted{width, t.Dark, head, body}
	return head, body
}

// asks says who asks a question.
func asks(q *api.Question) string {
	if q.Server != "" {
		return "The MCP server " + oneLine(q.Server) + " asks"
	}
	return "The agent has a question"
}

func (m *Model) questionText(q *api.Question) []string {
	width := m.screen.inside()
	var lines []string
	if q.Server == "" {
		lines = markdown.Render(q.Question, width, m.screen.theme)
	} else { // a link must show where it leads
		for line := range strings.Lines(q.Question) {
			lines = append(lines, folded(oneLine(line), width, m.screen.theme.Text)...)
		}
	}
	for i, choice := range q.Choices {
		lines = append(lines, folded(fmt.Sprintf("%d  %s", i+1, oneLine(choice)), width, m.screen.theme.Accent)...)
	}
	if q.Server != "" {
		lines = append(lines, folded("The answer goes to this server and is saved in the session: enter no passwords or keys.", width, m.screen.theme.Dim)...)
	}
	return lines
}

// cardHint names the keys of a card.
func (m *Model) cardHint(c *card) []string {
	width := m.screen.inside()
	switch {
	case !m.mayAnswer(*c):
		return folded("View only in this terminal", width, m.screen.theme.Dim)
	case c.sent:
		return folded("Sending the answer…", width, m.screen.theme.Dim)
	case m.field.answering():
		return folded("Write below", width, m.screen.theme.Dim)
	case !c.focused:
		return folded("Tab: answer", width, m.screen.theme.Warn)
	case m.cfg.Now().Before(c.quietUntil):
		return folded("Takes an answer once you pause typing…", width, m.screen.theme.Dim)
	}
	var keys []string
	if c.approval != nil {
		if n := len(c.approval.Choices); n > 0 {
			keys = append(keys, fmt.Sprintf("1-%d choose", n))
		}
		keys = append(keys, "y allow")
		if offers(c.approval, api.DecisionAlways) {
			keys = append(keys, "a always")
		}
		if keys = append(keys, "n deny"); len(c.approval.Choices) == 0 {
			keys = append(keys, "f feedback")
		}
		if offers(c.approval, api.DecisionStop) {
			keys = append(keys, "s stop")
		}
	} else {
		switch n := len(c.question.Choices); n {
		case 0:
		case 1:
			keys = append(keys, "1 choose")
		default:
			keys = append(keys, fmt.Sprintf("1-%d choose", n))
		}
		skip := "d let the agent decide"
		if c.question.Server != "" {
			skip = "d decline"
		}
		keys = append(keys, "w write an answer", skip)
	}
	for i := range keys {
		keys[i] = strings.ReplaceAll(keys[i], " ", "\u00a0") // each stays on one line
	}
	lines := folded(strings.Join(keys, " · "), width, m.screen.theme.Warn)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// KeyName returns the name of a key for people.
func KeyName(key string) string {
	parts := strings.Split(key, "+")
	names := map[string]string{"pgup": "PgUp", "pgdown": "PgDn", "esc": "Esc", "alt": "Alt", "ctrl": "Ctrl", "shift": "Shift", "enter": "Enter",
		"tab": "Tab", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End", "f1": "F1", "space": "Space",
		"backspace": "Backspace", "delete": "Delete"}
	for i, part := range parts {
		if name, ok := names[part]; ok {
			parts[i] = name
		} else if len(parts) > 1 {
			parts[i] = strings.ToUpper(part)
		}
	}
	return strings.Join(parts, "+")
}
