package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// painted is a detail in lines, kept while nothing changes: it may be long.
type painted struct {
	width      int
	dark       bool
	head, body []string
}

// lines shows what waits for this person, below a number of other rows.
func (c *cards) lines(s screen, above int) []string {
	if c.id == "" {
		return nil
	}
	var head, body []string
	var title string
	if c.approval != nil {
		title = "Approval needed"
		head, body = c.approvalText(s)
	} else {
		title = asks(c.question)
		head = questionText(c.question, s)
	}
	if c.more > 0 {
		title += fmt.Sprintf(" · %d more", c.more)
	}
	const (
		least  = 3 // rows of the window
		around = 5 // of the header, the border, the place in the window, and before the hint
	)
	hint := c.hint(s)
	if above+len(head)+least+around+len(hint) > s.height { // it would push the rest off the screen
		head, body = nil, slices.Concat(head, body)
	}
	room := max(s.height*3/5-len(head)-4, least)
	lines := append(slices.Clone(head), c.window(s, body, room)...)
	lines = append(append(lines, ""), hint...)
	border := s.theme.BorderAsk
	if !c.focused {
		border = s.theme.Border
	}
	return s.boxed(s.theme.Warn.Bold(true).Render(title), lines, border)
}

// window shows a part of a long detail. Whether its end was shown is remembered: a call is only
// allowed by someone who could read all of it.
func (c *card) window(s screen, body []string, room int) []string {
	last := max(len(body)-room, 0)
	c.scroll = min(c.scroll, last)
	if c.scroll == last {
		c.read = true
	}
	if last == 0 {
		return body
	}
	shown := slices.Clone(body[c.scroll : c.scroll+room])
	return append(shown, s.theme.Warn.Render(fmt.Sprintf("%d-%d of %d lines · PgDn: read on", c.scroll+1, c.scroll+room, len(body))))
}

// approvalText is everything that is decided on: a part that is missing could be the one that
// matters.
func (c *card) approvalText(s screen) (head, body []string) {
	a, t, width := c.approval, s.theme, s.inside()
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

func questionText(q *api.Question, s screen) []string {
	width := s.inside()
	var lines []string
	if q.Server == "" {
		lines = markdown.Render(q.Question, width, s.theme)
	} else { // a link must show where it leads
		for line := range strings.Lines(q.Question) {
			lines = append(lines, folded(oneLine(line), width, s.theme.Text)...)
		}
	}
	for i, choice := range q.Choices {
		lines = append(lines, folded(fmt.Sprintf("%d  %s", i+1, oneLine(choice)), width, s.theme.Accent)...)
	}
	if q.Server != "" {
		lines = append(lines, folded("The answer goes to this server and is saved in the session: enter no passwords or keys.", width, s.theme.Dim)...)
	}
	return lines
}

// hint names the keys of the card, or says why it takes none.
func (c *cards) hint(s screen) []string {
	width := s.inside()
	switch {
	case !c.mayAnswer():
		return folded("View only in this terminal", width, s.theme.Dim)
	case c.sent:
		return folded("Sending the answer…", width, s.theme.Dim)
	case c.field.answering():
		return folded("Write below", width, s.theme.Dim)
	case !c.focused:
		return folded("Tab: answer", width, s.theme.Warn)
	case c.now().Before(c.quietUntil):
		return folded("Takes an answer once you pause typing…", width, s.theme.Dim)
	}
	keys := c.keys()
	for i := range keys {
		keys[i] = strings.ReplaceAll(keys[i], " ", "\u00a0") // each stays on one line
	}
	lines := folded(strings.Join(keys, " · "), width, s.theme.Warn)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// keys names the answers that the card takes.
func (c *card) keys() []string {
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
	return keys
}

// placeholder says what the field is for, as far as that depends on the card.
func (c *cards) placeholder() string {
	switch {
	case c.field.answering() && c.approval != nil:
		return "Feedback to the agent; Enter denies the call, Esc goes back"
	case c.field.answering():
		return "Your answer; Enter sends it, Esc goes back"
	case c.focused:
		return "Tab: write a prompt instead"
	}
	return ""
}

// waits says what the session waits for.
func waits(s api.Live) string {
	switch {
	case len(s.Questions) > 0 && len(s.Approvals) == 0:
		return asks(&s.Questions[0])
	case len(s.Approvals) > 0 || s.SubagentWaits():
		return "Approval needed"
	}
	return ""
}
