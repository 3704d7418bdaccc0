package transcript

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// subagentLine describes a subagent.
func subagentLine(child api.SubagentChild, t *theme.Theme) string {
	mark, state := t.Accent.Render("●"), "Working"
	switch child.State {
	case session.ChildQueued:
		mark, state = t.Dim.Render("○"), "Queued"
	case session.ChildCompleted:
		mark, state = t.Good.Render("✓"), "Done"
	case session.ChildFailed:
		mark, state = t.Bad.Render("✗"), "Failed"
	case session.ChildCancelled:
		mark, state = t.Dim.Render("✗"), "Canceled"
	}
	if len(child.Approvals) > 0 {
		mark, state = t.Warn.Render("●"), "Needs approval"
	}
	line := mark + " " + t.Strong.Render(sanitize.Line(child.Agent)) + " " + sanitize.Line(child.Title) + t.Dim.Render(" · "+state)
	if child.Doing != "" && child.State == session.ChildRunning {
		line += t.Dim.Render(": " + sanitize.Line(child.Doing))
	}
	if child.Error != "" {
		line += t.Bad.Render(" " + sanitize.Line(child.Error))
	}
	return line
}

// processLine describes the progress of an operation.
func processLine(p api.Process) string {
	last := p.Last
	var b strings.Builder
	switch {
	case last.Percent != nil:
		fmt.Fprintf(&b, "%s %.0f%% ", bar(*last.Percent), *last.Percent)
	case last.Current != nil && last.Total != nil:
		fmt.Fprintf(&b, "%.0f/%.0f ", *last.Current, *last.Total)
	}
	if last.Stage != "" {
		b.WriteString(last.Stage + ": ")
	}
	b.WriteString(last.Message)
	return b.String()
}

func bar(percent float64) string {
	const size = 10
	full := int(min(max(percent, 0), 100) * size / 100)
	return strings.Repeat("█", full) + strings.Repeat("░", size-full)
}
