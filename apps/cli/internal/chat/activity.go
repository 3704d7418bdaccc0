package chat

import (
	"cmp"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	maxTodoRows  = 6
	maxQueueRows = 3
)

// tickEvery is the pace of what moves while the agent works.
const tickEvery = 250 * time.Millisecond

// ticked is the next moment of what moves.
type ticked struct{}

// spinner moves while something goes on.
type spinner struct {
	ticking bool
	frame   int
}

// tick returns the next moment, unless it is under way or nothing moves.
func (s *spinner) tick(moving bool) tea.Cmd {
	if s.ticking || !moving {
		return nil
	}
	s.ticking = true
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return ticked{} })
}

// ticked moves.
func (s *spinner) ticked() {
	s.ticking = false
	s.frame++
}

// mark is the character that is shown now.
func (s *spinner) mark() string {
	marks := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return marks[s.frame%len(marks)]
}

// working says what the agent does, and for how long.
func working(s screen, live api.Live, now time.Time, mark string, cancels bool) string {
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
	if passed := now.Sub(time.UnixMilli(from)).Round(time.Second); passed >= time.Second {
		text += " · " + passed.String()
	}
	if live.Turn != nil && !live.Turn.Cancelling && cancels {
		text += " · Esc cancels"
	}
	line := " " + mark + " " + sanitize.Line(text)
	if waits(live) != "" {
		return s.theme.Warn.Render(line)
	}
	return s.theme.Accent.Render(line)
}

// todoLines shows the list of the agent while something is left to do; short takes one row.
func todoLines(s screen, todos []projection.Todo, short bool) []string {
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
	if short {
		return []string{s.dim(head + " · " + oneLine(next))}
	}
	lines := []string{s.theme.Dim.Render(head)}
	first := min(max(done-1, 0), max(len(todos)-maxTodoRows, 0))
	for _, todo := range todos[first:min(first+maxTodoRows, len(todos))] {
		text := ansi.Truncate(oneLine(todo.Content), max(s.width-4, 1), "…")
		switch todo.Status {
		case "completed":
			lines = append(lines, " "+s.theme.Good.Render("☑")+" "+s.theme.Dim.Render(text))
		case "cancelled":
			lines = append(lines, " "+s.theme.Dim.Render("☒ ")+s.theme.Dim.Strikethrough(true).Render(text))
		case "in_progress":
			lines = append(lines, " "+s.theme.Accent.Render("▶")+" "+s.theme.Strong.Render(text))
		default:
			lines = append(lines, " ☐ "+text)
		}
	}
	return lines
}

// queueLines shows prompts that wait: here, and on the host.
func queueLines(s screen, here []prompt, queue []session.QueuedPrompt) []string {
	var lines []string
	for _, p := range here {
		lines = append(lines, s.dim(" Sending: "+oneLine(p.text)))
	}
	for _, q := range queue {
		lines = append(lines, s.dim(" "+queueDetail(q)+": "+oneLine(q.Text)))
	}
	if more := len(lines) - maxQueueRows; more > 0 {
		lines = append(lines[:maxQueueRows-1], s.theme.Dim.Render(fmt.Sprintf(" and %d more: /queue", more+1)))
	}
	return lines
}
