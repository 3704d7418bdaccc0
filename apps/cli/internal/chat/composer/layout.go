package composer

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// row is a range of cells on one row of the screen.
type row struct{ from, to int }

// rows breaks the text into rows of at most width cells, at spaces where there are any.
func (e *Editor) rows(width int) []row {
	width = max(width, 1)
	var rows []row
	from, used, space := 0, 0, -1
	for i := 0; i < len(e.cells); i++ {
		if e.cells[i] == "\n" {
			rows = append(rows, row{from, i})
			from, used, space = i+1, 0, -1
			continue
		}
		size := ansi.StringWidth(e.cells[i])
		if used+size > width {
			end := i
			if space >= from {
				end = space + 1
			}
			rows = append(rows, row{from, end})
			from, space = end, -1
			used = e.width(from, i)
		}
		used += size
		if e.cells[i] == " " {
			space = i
		}
	}
	return append(rows, row{from, len(e.cells)})
}

func (e *Editor) width(from, to int) int { return ansi.StringWidth(strings.Join(e.cells[from:to], "")) }

// place returns the row and the column of the cursor.
func (e *Editor) place(rows []row) (line, column int) {
	for i, r := range rows {
		last := i+1 == len(rows) || rows[i+1].from > e.cursor
		if e.cursor >= r.from && last {
			return i, e.width(r.from, min(e.cursor, r.to))
		}
	}
	return 0, 0
}

// Layout returns the visible rows, at most height, and the place of the cursor in them.
func (e *Editor) Layout(width, height int) (lines []string, line, column int) {
	rows := e.rows(width)
	line, column = e.place(rows)
	first := min(max(line-height+1, 0), max(len(rows)-height, 0))
	for _, r := range rows[first:min(first+height, len(rows))] {
		lines = append(lines, strings.Join(e.cells[r.from:r.to], ""))
	}
	return lines, line - first, min(column, width-1)
}

// Height returns how many rows the text takes.
func (e *Editor) Height(width int) int { return len(e.rows(width)) }

// vertical moves the cursor by rows; false means that there is no such row.
func (e *Editor) vertical(width, by int) bool {
	rows := e.rows(width)
	line, column := e.place(rows)
	if line+by < 0 || line+by >= len(rows) {
		return false
	}
	if e.want < 0 {
		e.want = column
	}
	to := rows[line+by]
	at, used := to.from, 0
	for at < to.to && used < e.want {
		used += ansi.StringWidth(e.cells[at])
		at++
	}
	if line+by+1 < len(rows) && at == rows[line+by+1].from && at > to.from {
		at-- // behind the last cell of a wrapped row is the next row
	}
	e.cursor = at
	return true
}
