package chat

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

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
	// search, if set, loads rows for what was typed, instead of a filter.
	search  func(query string) tea.Cmd
	serial  int                // of the last search; older answers are dropped
	waiting int                // hosts that have not answered it
	stop    context.CancelFunc // ends the last search; nil if none runs
	pick    func(r row) tea.Cmd
}

// row is a line of a picker.
type row struct {
	title, detail string
	column        int // width of the titles, where those of a list are short; 0 is the width of this one
	current       bool
	value         any
}

func newPicker(title, empty string, pick func(row) tea.Cmd) *picker {
	return &picker{title: title, empty: empty, filter: composer.New(), pick: pick}
}

// picked brings the rows of a picker.
type picked struct {
	picker *picker
	serial int
	rows   []row
	err    error
	part   bool // of a search: other hosts have more
}

// took shows rows, unless the picker is gone or asks for something else by now.
func (m *Model) took(msg picked) {
	p := msg.picker
	if m.picker != p || msg.serial != p.serial {
		return
	}
	if msg.part {
		m.tookSearched(msg)
		return
	}
	p.loading, p.rows, p.at = false, msg.rows, 0
	if msg.err != nil {
		p.problem = m.notice.problem(msg.err)
	}
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

// end ends the search that runs, if any.
func (p *picker) end() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

func (p *picker) move(by int) {
	p.at = max(min(p.at+by, len(p.matching())-1), 0)
}

func (m *Model) pickerKey(name, text string) tea.Cmd {
	p := m.picker
	switch name {
	case "esc":
		p.end()
		m.picker = nil
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
			p.end()
			m.picker = nil
			return p.pick(rows[p.at])
		}
	default:
		if !p.filter.Key(name) {
			if text == "" {
				return nil
			}
			p.filter.Insert(text)
		}
		p.at = 0
		if p.search != nil {
			return p.search(p.filter.Text())
		}
	}
	return nil
}

// load shows a picker and fills it with what a function returns.
func (m *Model) load(p *picker, rows func() ([]row, error)) tea.Cmd {
	p.loading = true
	m.picker, m.complete = p, completion{}
	serial := p.serial
	return func() tea.Msg {
		list, err := rows()
		return picked{p, serial, list, err, false}
	}
}
