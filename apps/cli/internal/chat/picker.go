package chat

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
)

// picker is a list over the transcript, filtered by what is typed.
type picker struct {
	title   string
	hint    string // shown under the list; "" is the usual keys
	rows    []row
	filter  *composer.Editor
	at      int
	loading bool
	problem problem
	empty   string // shown if there are no rows
	closed  bool
	search  *search // loads rows for what was typed; nil filters the rows instead
	// pick returns what a row means, as a message; nil if it means nothing.
	pick func(r row) tea.Msg
}

// row is a line of a list.
type row struct {
	title, detail string
	column        int // width of the titles, where those of a list are short; 0 is the width of this one
	current       bool
	value         any
}

func newPicker(title, empty string, pick func(row) tea.Msg) *picker {
	return &picker{title: title, empty: empty, filter: composer.New(), pick: pick}
}

// picked brings the rows of a picker.
type picked struct {
	picker *picker
	rows   []row
	err    error
}

// load fills the list with what a function returns.
func (p *picker) load(rows func() ([]row, error)) tea.Cmd {
	p.loading = true
	return func() tea.Msg {
		list, err := rows()
		return picked{p, list, err}
	}
}

// took shows the rows that were loaded.
func (p *picker) took(msg picked, e explainer) {
	p.loading, p.rows = false, msg.rows
	if msg.err != nil {
		p.problem = e.problem(msg.err)
	}
	p.toCurrent()
}

// toCurrent chooses the row of what is in use, or the first one.
func (p *picker) toCurrent() {
	p.at = 0
	for i, r := range p.rows {
		if r.current {
			p.at = i
		}
	}
}

// matching returns the rows that have all typed words.
func (p *picker) matching() []row {
	words := strings.Fields(strings.ToLower(p.filter.Text()))
	if p.search != nil || len(words) == 0 {
		return p.rows
	}
	var rows []row
	for _, r := range p.rows {
		text := strings.ToLower(r.title + " " + r.detail)
		all := true
		for _, word := range words {
			all = all && strings.Contains(text, word)
		}
		if all {
			rows = append(rows, r)
		}
	}
	return rows
}

// close ends the list, and the search that runs, if any.
func (p *picker) close() {
	p.closed = true
	if p.search != nil {
		p.search.end()
	}
}

func (p *picker) move(by int) {
	p.at = max(min(p.at+by, len(p.matching())-1), 0)
}

// key handles a key, and returns what was chosen with it; nil for nothing.
func (p *picker) key(name, text string) (chosen tea.Msg, cmd tea.Cmd) {
	switch name {
	case "esc":
		p.close()
	case "up", "ctrl+p":
		p.move(-1)
	case "down", "ctrl+n":
		p.move(1)
	case "pgup":
		p.move(-10)
	case "pgdown":
		p.move(10)
	case "enter":
		rows := p.matching()
		if p.at < len(rows) && !p.loading {
			p.close()
			return p.pick(rows[p.at]), nil
		}
	default:
		if p.filter.Key(name) {
			return nil, p.typed()
		}
		if text != "" {
			return nil, p.insert(text)
		}
	}
	return nil, nil
}

// insert writes into the filter.
func (p *picker) insert(text string) tea.Cmd {
	p.filter.Insert(text)
	return p.typed()
}

// typed shows what fits the filter now.
func (p *picker) typed() tea.Cmd {
	p.at = 0
	if p.search == nil {
		return nil
	}
	return p.find(p.filter.Text())
}

// lines shows the list in a number of rows.
func (p *picker) lines(s screen, height int) []string {
	t := s.theme
	lines := []string{"", " " + t.Heading.Render(p.title) + "  " + p.filter.Text() + t.Accent.Render("▏"), ""}
	rows := p.matching()
	room := max(height-5, 1)
	first := min(max(p.at-room/2, 0), max(len(rows)-room, 0))
	switch {
	case p.problem != (problem{}):
		lines = append(lines, s.problem(p.problem, "   ")...)
	case p.loading:
		lines = append(lines, t.Dim.Render("   Loading…"))
	case p.search != nil && p.search.waiting > 0:
		lines = append(lines, t.Dim.Render("   Searching…"))
	case len(rows) == 0:
		lines = append(lines, t.Dim.Render("   "+p.emptyText()))
	}
	for i, r := range rows[first:min(first+room, len(rows))] {
		lines = append(lines, s.row(r, first+i == p.at))
	}
	lines = lines[:min(len(lines), max(height-1, 0))] // an error may have more rows than there is room
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	hint := cmp.Or(p.hint, "Enter: choose · type to filter · Esc: close")
	return append(lines[:max(height-1, 0)], s.dim(" "+hint))[:height]
}

func (p *picker) emptyText() string {
	if p.search == nil && !p.filter.Empty() {
		return "No matches"
	}
	return p.empty
}

// align has the details of rows begin in one column.
func align(rows []row) {
	widest := 0
	for _, r := range rows {
		widest = max(widest, ansi.StringWidth(oneLine(r.title)))
	}
	for i := range rows {
		rows[i].column = widest
	}
}
