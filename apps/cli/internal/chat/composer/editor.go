// Package composer is the field in which a person writes: several lines, soft wrapping, words,
// history.
package composer

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/markdown"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Editor is a text with a cursor. It belongs to the goroutine of the screen.
type Editor struct {
	cells  []string // grapheme clusters; a line ends with "\n"
	cursor int      // index of the cell behind it
	size   int      // bytes
	want   int      // column that moves between rows aim at, or -1

	history []string // older texts, the oldest first
	recall  int      // index of the shown one; len(history) is the draft
	draft   string
}

// New returns an empty editor.
func New() *Editor { return &Editor{want: -1} }

// Text returns what was written.
func (e *Editor) Text() string { return strings.Join(e.cells, "") }

// Empty reports whether nothing was written.
func (e *Editor) Empty() bool { return len(e.cells) == 0 }

// Before returns the text before the cursor.
func (e *Editor) Before() string { return strings.Join(e.cells[:e.cursor], "") }

// Set replaces the text and moves the cursor to its end.
func (e *Editor) Set(text string) {
	e.cells, e.cursor, e.size, e.want = nil, 0, 0, -1
	e.Insert(text)
}

// Insert writes at the cursor. Control characters become visible, and a text that is too long
// for a prompt is cut.
func (e *Editor) Insert(text string) {
	text = markdown.Clean(strings.ReplaceAll(text, "\r", "\n"))
	text = visible.Head(text, api.MaxPrompt-e.size)
	cells := split(text)
	e.cells = slices.Insert(e.cells, e.cursor, cells...)
	e.cursor += len(cells)
	e.size += len(text)
	e.want = -1
}

func split(text string) []string {
	cells := make([]string, 0, len(text))
	for text != "" {
		cell, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if cell == "" {
			break
		}
		cells = append(cells, cell)
		text = text[len(cell):]
	}
	return cells
}

// remove deletes the cells from one index to another and leaves the cursor there.
func (e *Editor) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.cells))
	if from >= to {
		return
	}
	for _, cell := range e.cells[from:to] {
		e.size -= len(cell)
	}
	e.cells, e.cursor, e.want = slices.Delete(e.cells, from, to), from, -1
}

// Replace puts text in place of the n bytes before the cursor.
func (e *Editor) Replace(n int, text string) {
	from := e.cursor
	for n > 0 && from > 0 {
		from--
		n -= len(e.cells[from])
	}
	e.remove(from, e.cursor)
	e.Insert(text)
}

// Key handles a key by its name; false means that the editor does not know it.
func (e *Editor) Key(name string) bool {
	action, ok := actions[name]
	if !ok {
		return false
	}
	action(e)
	return true
}

// actions are the editing keys. docs/terminal.md lists them.
var actions = map[string]func(*Editor){
	"left":          func(e *Editor) { e.move(e.cursor - 1) },
	"ctrl+b":        func(e *Editor) { e.move(e.cursor - 1) },
	"right":         func(e *Editor) { e.move(e.cursor + 1) },
	"ctrl+f":        func(e *Editor) { e.move(e.cursor + 1) },
	"home":          func(e *Editor) { e.move(e.lineStart()) },
	"ctrl+a":        func(e *Editor) { e.move(e.lineStart()) },
	"end":           func(e *Editor) { e.move(e.lineEnd()) },
	"ctrl+e":        func(e *Editor) { e.move(e.lineEnd()) },
	"alt+left":      func(e *Editor) { e.move(e.wordLeft()) },
	"ctrl+left":     func(e *Editor) { e.move(e.wordLeft()) },
	"alt+b":         func(e *Editor) { e.move(e.wordLeft()) },
	"alt+right":     func(e *Editor) { e.move(e.wordRight()) },
	"ctrl+right":    func(e *Editor) { e.move(e.wordRight()) },
	"alt+f":         func(e *Editor) { e.move(e.wordRight()) },
	"backspace":     func(e *Editor) { e.remove(e.cursor-1, e.cursor) },
	"ctrl+h":        func(e *Editor) { e.remove(e.cursor-1, e.cursor) },
	"delete":        func(e *Editor) { e.remove(e.cursor, e.cursor+1) },
	"ctrl+w":        func(e *Editor) { e.remove(e.wordLeft(), e.cursor) },
	"alt+backspace": func(e *Editor) { e.remove(e.wordLeft(), e.cursor) },
	"alt+d":         func(e *Editor) { e.remove(e.cursor, e.wordRight()) },
	"ctrl+u":        func(e *Editor) { e.remove(e.lineStart(), e.cursor) },
	"ctrl+k":        func(e *Editor) { e.remove(e.cursor, max(e.lineEnd(), min(e.cursor+1, len(e.cells)))) },
}

// Keys returns the names of the editing keys.
func Keys() []string {
	var names []string
	for name := range actions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (e *Editor) move(to int) { e.cursor, e.want = min(max(to, 0), len(e.cells)), -1 }

func (e *Editor) lineStart() int {
	at := e.cursor
	for at > 0 && e.cells[at-1] != "\n" {
		at--
	}
	return at
}

func (e *Editor) lineEnd() int {
	at := e.cursor
	for at < len(e.cells) && e.cells[at] != "\n" {
		at++
	}
	return at
}

func isSpace(cell string) bool { return strings.IndexFunc(cell, unicode.IsSpace) == 0 }

func (e *Editor) wordLeft() int {
	at := e.cursor
	for at > 0 && isSpace(e.cells[at-1]) {
		at--
	}
	for at > 0 && !isSpace(e.cells[at-1]) {
		at--
	}
	return at
}

func (e *Editor) wordRight() int {
	at := e.cursor
	for at < len(e.cells) && isSpace(e.cells[at]) {
		at++
	}
	for at < len(e.cells) && !isSpace(e.cells[at]) {
		at++
	}
	return at
}

// maxHistory bounds the texts that can be recalled.
const maxHistory = 200

// Remember adds a text to the history.
func (e *Editor) Remember(text string) {
	if n := len(e.history); text != "" && (n == 0 || e.history[n-1] != text) {
		e.history = append(e.history, text)
	}
	if more := len(e.history) - maxHistory; more > 0 {
		e.history = e.history[more:]
	}
	e.recall, e.draft = len(e.history), ""
}

// Up moves the cursor a row up, or recalls an older text from the first row.
func (e *Editor) Up(width int) {
	if e.vertical(width, -1) || e.recall == 0 {
		return
	}
	if e.recall >= len(e.history) {
		e.recall, e.draft = len(e.history), e.Text()
	}
	e.recall--
	e.Set(e.history[e.recall])
}

// Down moves the cursor a row down, or recalls a newer text from the last row.
func (e *Editor) Down(width int) {
	if e.vertical(width, 1) || e.recall >= len(e.history) {
		return
	}
	if e.recall++; e.recall == len(e.history) {
		e.Set(e.draft)
		return
	}
	e.Set(e.history[e.recall])
}
