package process

import (
	"cmp"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

// maxOpen bounds the lines of a window; beyond that, all lines are written.
const maxOpen = 256

// lineKey identifies the events of an operation that are merged into one line. Parallel
// parts and different levels stay separate.
type lineKey struct {
	stage, message, task string
	level                session.ProcessLevel
	status               Status
}

func keyOf(e Event) lineKey { return lineKey{e.Stage, e.Message, e.TaskID, e.Level, e.Status} }

// window collects the events of a short period and merges those of the same kind. It begins
// with its first event and is written as a whole, ordered by the newest event of each line,
// so that the log is in order.
type window struct {
	began time.Time
	lines map[lineKey]*openLine
}

// openLine is a line of the window.
type openLine struct {
	Line
	written bool // written immediately as the first of its kind; further events start a new line
}

// over reports whether an event at now belongs to another window.
func (w *window) over(now time.Time) bool { return now.Sub(w.began) >= mergeWithin }

// add adds an event and returns its line. isNew reports that it is the first of its kind.
func (w *window) add(e Event, now time.Time) (line *openLine, isNew bool) {
	if len(w.lines) == 0 {
		w.began, w.lines = now, map[lineKey]*openLine{}
	}
	line, there := w.lines[keyOf(e)]
	switch {
	case !there:
		line = &openLine{Line: Line{ProcessEvent: e}}
		w.lines[keyOf(e)] = line
	case line.written:
		line.Line, line.written = Line{ProcessEvent: e}, false
	default:
		line.Line = Line{ProcessEvent: e, Repeats: max(line.Repeats, 1) + 1}
	}
	return line, !there
}

// take returns the lines that have not been written yet, in order, and marks them as
// written.
func (w *window) take() []Line {
	var open []Line
	for _, line := range w.lines {
		if !line.written {
			line.written = true
			open = append(open, line.Line)
		}
	}
	slices.SortFunc(open, func(a, b Line) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return open
}

// clear ends the window.
func (w *window) clear() { w.lines = nil }
