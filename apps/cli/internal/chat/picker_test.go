package chat

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

// TestAListFiltersAndChooses what is shown, from its current row on.
func TestAListFiltersAndChooses(t *testing.T) {
	p := newPicker("Colors", "No colors", func(r row) tea.Msg { return r.value })
	p.rows = []row{{title: "Red", value: 1}, {title: "Blue", detail: "as the sky", value: 2}, {title: "Sky", current: true, value: 3}}
	p.toCurrent()
	if got := p.rows[p.at].title; got != "Sky" {
		t.Errorf("the list begins at %s", got)
	}
	p.key("down", "") // there is no row below
	for _, letter := range "sky" {
		p.key(string(letter), string(letter))
	}
	if rows := p.matching(); len(rows) != 2 {
		t.Fatalf("%d rows match", len(rows))
	}
	p.key("down", "")
	if chosen, _ := p.key("enter", ""); chosen != 3 || !p.closed {
		t.Errorf("chosen is %v, closed: %v", chosen, p.closed)
	}
}

// TestAListWithoutMatches chooses nothing and says why, and Escape closes it.
func TestAListWithoutMatches(t *testing.T) {
	p := newPicker("Colors", "No colors", func(r row) tea.Msg { return r.value })
	s := screen{40, 10, theme.New(true)}
	shows := func(text string) {
		t.Helper()
		if lines := strings.Join(p.lines(s, 10), "\n"); !strings.Contains(lines, text) {
			t.Errorf("%q is not shown:\n%s", text, lines)
		}
	}
	shows("No colors")
	p.insert("green")
	shows("No matches")
	if chosen, _ := p.key("enter", ""); chosen != nil || p.closed {
		t.Errorf("chosen is %v, closed: %v", chosen, p.closed)
	}
	if p.key("esc", ""); !p.closed {
		t.Error("the list stays open")
	}
}

// TestAListThatIsLoading takes no choice, and shows the error of its rows.
func TestAListThatIsLoading(t *testing.T) {
	p := newPicker("Colors", "", func(r row) tea.Msg { return r.value })
	loading := p.load(func() ([]row, error) { return []row{{title: "Red", value: 1}}, errors.New("half of it") })
	if chosen, _ := p.key("enter", ""); chosen != nil {
		t.Errorf("chosen is %v", chosen)
	}
	p.took(loading().(picked), explainer{error.Error, func(error) string { return "" }})
	if p.problem.text != "half of it" || len(p.matching()) != 1 {
		t.Errorf("the problem is %q, %d rows", p.problem.text, len(p.matching()))
	}
}
