package fuzzy

import (
	"sort"
	"strings"
	"unicode"
)

// subject is a searched text, with data that the levels need.
type subject struct {
	text   string
	lines  []string // without line ends; the text after the last one is a line too
	starts []int    // offset of each line

	// Per line; computed when needed.
	stripped []string
	sizes    []measured
}

func newSubject(text string) *subject {
	s := &subject{text: text, lines: strings.Split(text, "\n")}
	s.starts = make([]int, len(s.lines))
	at := 0
	for i, line := range s.lines {
		s.starts[i] = at
		at += len(line) + 1
	}
	return s
}

// trimmed returns every line without the white space around it.
func (s *subject) trimmed() []string {
	if s.stripped == nil {
		s.stripped = stripAll(s.lines)
	}
	return s.stripped
}

// measured returns every trimmed line, measured.
func (s *subject) measured() []measured {
	if s.sizes == nil {
		s.sizes = make([]measured, len(s.lines))
		for i, line := range s.trimmed() {
			s.sizes[i] = measure(line)
		}
	}
	return s.sizes
}

// window returns the span of n whole lines from line i on, without the last line end.
func (s *subject) window(i, n int) Span {
	last := i + n - 1
	return Span{s.starts[i], s.starts[last] + len(s.lines[last])}
}

// windows returns every window of n lines that match accepts.
func (s *subject) windows(n int, match func(i int) bool) []Span {
	var found []Span
	for i := 0; i+n <= len(s.lines); i++ {
		if match(i) {
			found = append(found, s.window(i, n))
		}
	}
	return found
}

// lineAt returns the line that contains an offset.
func (s *subject) lineAt(offset int) int {
	return sort.SearchInts(s.starts, offset+1) - 1
}

// isSpace reports whether r is Unicode white space or an ASCII separator.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func strip(text string) string { return strings.TrimFunc(text, isSpace) }

func stripAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strip(line)
	}
	return out
}

// indentOf returns the spaces and tabs that a line begins with.
func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func toLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// punctuation maps typographic characters to ASCII.
var punctuation = strings.NewReplacer(punctuationPairs()...)

func punctuationPairs() []string {
	pairs := []string{"“", `"`, "”", `"`, "‘", "'", "’", "'", "—", "--", "–", "-", "…", "...", "−", "-"}
	for _, space := range "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000" {
		pairs = append(pairs, string(space), " ")
	}
	return pairs
}

func plain(text string) string {
	if isASCII(text) {
		return text
	}
	return punctuation.Replace(text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
