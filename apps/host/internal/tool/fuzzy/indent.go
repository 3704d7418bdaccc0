package fuzzy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// tabColumns is the width of a tab of an edit when depths are compared.
const tabColumns = 4

func columns(indent string) int {
	return len(indent) + (tabColumns-1)*strings.Count(indent, "\t")
}

// indents maps the indentation of an edit to that of the file. A depth is the indentation
// of a line, as text.
type indents struct {
	s     *subject
	known map[string][]string // depth in old -> depths in the file
	last  map[string]string   // depth in old or new -> the most recent depth in the file
	step  int                 // columns per level in the edit; 0 if it has only one level
}

func newIndents(s *subject, old, new []string) *indents {
	return &indents{s: s, known: map[string][]string{}, last: map[string]string{}, step: smallestStep(old, new)}
}

// learn records the depths of a line of old and of the same line of the file.
func (m *indents) learn(old, file string) {
	if !slices.Contains(m.known[old], file) {
		m.known[old] = append(m.known[old], file)
	}
}

// wrote records the depth in the file that a depth of the edit was written with.
func (m *indents) wrote(depth, file string) { m.last[depth] = file }

// of returns the depth in the file for a line of new. If its depth maps to several in the
// file, near suggests one by its position.
func (m *indents) of(depth string, near func() (string, bool)) string {
	switch known := m.known[depth]; len(known) {
	case 1:
		return known[0]
	case 0:
		if file, ok := m.last[depth]; ok {
			return file
		}
		return m.derived(depth)
	default:
		if file, ok := near(); ok {
			return file
		}
		return known[0]
	}
}

// derived computes a depth that old does not have, from the nearest one.
func (m *indents) derived(depth string) string {
	deeper, shallower, from, below := "", "", false, false
	for _, d := range m.depths() {
		switch {
		case columns(d) < columns(depth):
			shallower, below = d, true
		case !from && columns(d) > columns(depth):
			deeper, from = d, true
		}
	}
	switch {
	case below:
		return m.deeper(depth, shallower, m.file(shallower))
	case from:
		return m.shallower(depth, deeper, m.file(deeper))
	}
	return depth
}

// depths returns the depths with a known mapping, from the left.
func (m *indents) depths() []string {
	all := slices.Collect(maps.Keys(m.last))
	for d := range m.known {
		if _, ok := m.last[d]; !ok {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(columns(a)-columns(b), strings.Compare(a, b)) })
	return all
}

func (m *indents) file(depth string) string {
	if file, ok := m.last[depth]; ok {
		return file
	}
	return m.known[depth][0]
}

func (m *indents) deeper(depth, from, file string) string {
	added, follows := strings.CutPrefix(depth, from)
	unit, step := m.scale(file)
	if unit == "" || step == 0 || from == file && follows && sameKind(added, unit) {
		return file + strings.TrimPrefix(depth, from)
	}
	delta := columns(depth) - columns(from)
	return file + strings.Repeat(unit, delta/step) + strings.Repeat(" ", delta%step)
}

func (m *indents) shallower(depth, from, file string) string {
	if from == file && from != "" {
		return depth
	}
	unit, step := m.scale(file)
	if unit == "" || step == 0 {
		return file
	}
	levels := max(1, (columns(from)-columns(depth))/step)
	return file[:max(0, len(file)-levels*len(unit))]
}

// sameKind reports whether blanks are of the kind that the file uses for indentation.
func sameKind(blanks, unit string) bool {
	return strings.Contains(blanks, "\t") == strings.Contains(unit, "\t") && strings.Trim(blanks, unit) == ""
}

// scale returns the indentation of the file for one level, or a part of it, and its width
// in columns in the edit. It uses two depths of old with a known mapping, or else the
// file's own unit.
func (m *indents) scale(near string) (unit string, step int) {
	var sure []string
	for d, files := range m.known {
		if len(files) == 1 {
			sure = append(sure, d)
		}
	}
	slices.SortFunc(sure, func(a, b string) int { return cmp.Or(columns(a)-columns(b), strings.Compare(a, b)) })
	for i := 1; i < len(sure); i++ {
		wide := columns(sure[i]) - columns(sure[i-1])
		added, follows := strings.CutPrefix(m.known[sure[i]][0], m.known[sure[i-1]][0])
		if wide == 0 || !follows || added == "" || strings.Trim(added, added[:1]) != "" || step > 0 && wide >= step {
			continue
		}
		unit, step = added, wide
	}
	if step > 0 {
		d := divisor(len(unit), step)
		return unit[:len(unit)/d], step / d
	}
	unit = m.s.unit(near)
	if n := len(unit); n >= 4 && m.step%n == 0 { // spaces, and several levels at once
		return unit, n
	}
	return unit, m.step
}

func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// smallestStep returns the smallest difference between two depths of the lines that may be
// a level.
func smallestStep(texts ...[]string) int {
	var at []int
	for _, line := range slices.Concat(texts...) {
		if strip(line) != "" {
			at = append(at, columns(indentOf(line)))
		}
	}
	slices.Sort(at)
	step := 0
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d >= 2 && (step == 0 || d < step) {
			step = d
		}
	}
	return step
}

// maxUnit is the maximum width of a level in a file, in spaces.
const maxUnit = 8

// unit returns one more level of indentation in the file, for a line with a given
// indentation: a tab, some spaces, or nothing if it cannot be determined.
func (s *subject) unit(near string) string {
	if strings.Contains(near, "\t") {
		return "\t"
	}
	tabs, spaces, before := 0, 0, 0
	var steps [maxUnit + 1]int
	for _, line := range s.lines {
		if strip(line) == "" {
			continue
		}
		indent := indentOf(line)
		switch {
		case strings.HasPrefix(indent, "\t"):
			tabs++
			continue
		case indent != "":
			spaces++
		}
		if step := len(indent) - before; step > 1 && step <= maxUnit {
			steps[step]++
		}
		before = len(indent)
	}
	if tabs > spaces && near == "" {
		return "\t"
	}
	best := 0
	for step, n := range steps {
		if n > steps[best] {
			best = step
		}
	}
	return strings.Repeat(" ", best)
}
