package chat

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
)

// problem is an error as the screen shows it: one sentence, and the address of what to do about
// it, "" if the sentence says everything.
type problem struct{ text, help string }

func (m *Model) problemOf(err error) problem {
	return problem{m.cfg.Explain(err), m.cfg.Help(err)}
}

// problemLines returns the row of a problem, and below it the address, in as many rows as it needs.
// before begins each row.
func (m *Model) problemLines(p problem, before string) []string {
	lines := []string{m.theme.Bad.Render(ansi.Truncate(before+sanitize.Line(p.text), m.width, "…"))}
	if p.help == "" {
		return lines
	}
	for part := range strings.SplitSeq(ansi.Hardwrap("Help: "+sanitize.Line(p.help), max(m.width-len(before), 8), false), "\n") {
		lines = append(lines, m.theme.Dim.Render(before+part))
	}
	return lines
}
