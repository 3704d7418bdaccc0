package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// table shows a table in columns. One that is too wide is shown row by row.
func (r *renderer) table() {
	var rows [][]string
	for ; r.at < len(r.in) && strings.Contains(r.in[r.at], "|"); r.at++ {
		if len(rows) == 1 && divider.MatchString(r.in[r.at]) {
			continue
		}
		rows = append(rows, cells(r.in[r.at]))
	}
	widths := make([]int, len(rows[0]))
	total := 0
	for i := range widths {
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], r.cellWidth(row[i]))
			}
		}
		total += widths[i] + 3
	}
	if total-3 > r.width {
		r.records(rows)
		return
	}
	for n, row := range rows {
		var line strings.Builder
		for i, width := range widths {
			if i > 0 {
				line.WriteString(r.t.Border.Render(" │ "))
			}
			style := r.t.Text
			if n == 0 {
				style = r.t.Strong
			}
			if i < len(row) {
				line.WriteString(r.cell(row[i], style))
				line.WriteString(strings.Repeat(" ", width-r.cellWidth(row[i])))
			}
		}
		r.out = append(r.out, strings.TrimRight(line.String(), " "))
		if n == 0 {
			r.out = append(r.out, r.t.Border.Render(strings.Repeat("─", total-3)))
		}
	}
}

// records shows each row of a table as lines of names and values.
func (r *renderer) records(rows [][]string) {
	for n, row := range rows[1:] {
		if n > 0 {
			r.gap()
		}
		for i, value := range row {
			name := ""
			if i < len(rows[0]) {
				name = rows[0][i]
			}
			spans := append(inline(name+": ", r.t.Strong, r.t), inline(value, r.t.Text, r.t)...)
			r.out = append(r.out, wrap(spans, r.width)...)
		}
	}
}

func (r *renderer) cell(text string, style lipgloss.Style) string {
	var b strings.Builder
	for _, s := range inline(text, style, r.t) {
		b.WriteString(s.style.Render(s.text))
	}
	return b.String()
}

func (r *renderer) cellWidth(text string) int { return ansi.StringWidth(r.cell(text, r.t.Text)) }

func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
