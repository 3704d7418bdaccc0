package chat

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
)

// screen is what a part needs to know to draw itself: the size of the terminal, and the colors.
type screen struct {
	width, height int
	theme         *theme.Theme
}

// smallHeight is the height below which lists are short.
const smallHeight = 22

// small reports whether the lists must be short.
func (s screen) small() bool { return s.height < smallHeight }

// inside is the width of what is in a box.
func (s screen) inside() int { return max(s.width-4, 8) }

// dim is one row of a text that matters less; what does not fit is cut.
func (s screen) dim(text string) string {
	return s.theme.Dim.Render(ansi.Truncate(text, s.width, "…"))
}

// boxed puts lines into a border with a title.
func (s screen) boxed(title string, lines []string, border lipgloss.Style) []string {
	width := max(s.width, 4)
	title = ansi.Truncate(title, width-5, "…")
	top := border.Render("╭─ ") + title + border.Render(" "+strings.Repeat("─", max(width-5-ansi.StringWidth(title), 0))+"╮")
	if title == "" {
		top = border.Render("╭" + strings.Repeat("─", width-2) + "╮")
	}
	out := []string{top}
	for _, line := range lines {
		line = ansi.Truncate(line, width-4, "…")
		out = append(out, border.Render("│ ")+line+strings.Repeat(" ", max(width-4-ansi.StringWidth(line), 0))+border.Render(" │"))
	}
	return append(out, border.Render("╰"+strings.Repeat("─", width-2)+"╯"))
}

// spread puts two texts at the ends of a row; the right one gives way.
func (s screen) spread(left, right string, paintLeft, paintRight func(...string) string) string {
	left = ansi.Truncate(left, s.width, "…")
	room := s.width - ansi.StringWidth(left)
	if ansi.StringWidth(right)+1 > room {
		right = ansi.Truncate(right, max(room-1, 0), "…")
	}
	gap := strings.Repeat(" ", max(room-ansi.StringWidth(right), 0))
	return paintLeft(left) + paintRight(gap+right)
}

// row shows a row of a list.
func (s screen) row(r row, chosen bool) string {
	mark, ink := "  ", s.theme.Text
	if chosen {
		mark, ink = "❯ ", s.theme.Selected
	}
	title := ansi.Truncate(oneLine(r.title), max(s.width-2, 1), "…")
	title += strings.Repeat(" ", max(min(r.column, s.width/2)-ansi.StringWidth(title), 0))
	line := " " + mark + title
	if room := s.width - ansi.StringWidth(line) - 3; r.detail != "" && room > 4 {
		detail := ansi.Truncate(oneLine(r.detail), room, "…")
		if chosen {
			return ink.Render(line + "  " + detail + " ")
		}
		return ink.Render(line) + s.theme.Dim.Render("  "+detail)
	}
	return ink.Render(line)
}

// problem returns the row of a problem, and below it the address, in as many rows as it needs.
// before begins each row.
func (s screen) problem(p problem, before string) []string {
	lines := []string{s.theme.Bad.Render(ansi.Truncate(before+sanitize.Line(p.text), s.width, "…"))}
	if p.help == "" {
		return lines
	}
	for part := range strings.SplitSeq(ansi.Hardwrap("Help: "+sanitize.Line(p.help), max(s.width-len(before), 8), false), "\n") {
		lines = append(lines, s.theme.Dim.Render(before+part))
	}
	return lines
}

// folded breaks a text into lines at spaces.
func folded(text string, width int, ink lipgloss.Style) []string {
	lines := strings.Split(ansi.Wrap(text, max(width, 8), ""), "\n")
	for i := range lines {
		lines[i] = ink.Render(lines[i])
	}
	return lines
}

// paint shows a text with its own lines, broken to a width.
func paint(text string, width int, ink lipgloss.Style) []string {
	var lines []string
	for line := range strings.SplitSeq(markdown.Clean(text), "\n") {
		for _, part := range markdown.Break(line, width) {
			lines = append(lines, ink.Render(part))
		}
	}
	return lines
}

func oneLine(text string) string { return sanitize.Line(strings.Join(strings.Fields(text), " ")) }
