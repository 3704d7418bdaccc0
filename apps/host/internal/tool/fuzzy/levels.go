package fuzzy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// spans runs one level.
func (s *subject) spans(level Strategy, old string) []Span {
	switch level {
	case Exact:
		return substrings(s.text, old)
	case LineTrimmed:
		return s.equalLines(s.trimmed(), stripAll(strings.Split(old, "\n")))
	case WhitespaceNormalized:
		return collapsedSpans(s.text, old)
	case IndentFlexible:
		return s.equalLines(trimLeftAll(s.lines), trimLeftAll(strings.Split(old, "\n")))
	case EscapeNormalized:
		if unescaped := unescape(old); unescaped != old {
			return substrings(s.text, unescaped)
		}
	case TrimmedBoundary:
		return s.trimmedBoundary(strings.Split(old, "\n"))
	case UnicodeNormalized:
		return s.unicodeSpans(old)
	case BlockAnchor:
		return s.blockAnchors(strings.Split(old, "\n"))
	case ContextAware:
		return s.similarWindows(strings.Split(old, "\n"))
	}
	return nil
}

// substrings returns the places of part from left to right, without overlap.
func substrings(text, part string) []Span {
	if part == "" {
		return nil
	}
	var found []Span
	for at := 0; ; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return found
		}
		found = append(found, Span{at + i, at + i + len(part)})
		at += i + len(part)
	}
}

// equalLines returns the windows of lines that equal want.
func (s *subject) equalLines(lines, want []string) []Span {
	return s.windows(len(want), func(i int) bool { return slices.Equal(lines[i:i+len(want)], want) })
}

func trimLeftAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimLeftFunc(line, isSpace)
	}
	return out
}

func (s *subject) trimmedBoundary(want []string) []Span {
	n := len(want)
	first, last := strip(want[0]), strip(want[n-1])
	lines := s.trimmed()
	return s.windows(n, func(i int) bool {
		return lines[i] == first && lines[i+n-1] == last && (n < 3 || slices.Equal(s.lines[i+1:i+n-1], want[1:n-1]))
	})
}

// unescape reads \n, \t and \r that stand as two characters each.
func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// collapse visits every byte of text in which each run of spaces and tabs is one
// space, with its place in text. It counts the blanks of a run behind its first
// space to what follows, so that text which begins behind a run takes the rest of
// the run along.
func collapse(text string, visit func(start, end int)) {
	from := -1 // where what follows begins, when it is not where it stands
	for i := 0; i < len(text); {
		if !isBlank(text[i]) {
			start := i
			if from >= 0 {
				start, from = from, -1
			}
			i++
			visit(start, i)
			continue
		}
		j := i
		for j < len(text) && isBlank(text[j]) {
			j++
		}
		end := j
		if space := strings.IndexByte(text[i:j], ' '); space >= 0 {
			end = i + space + 1
		}
		visit(i, end)
		if end < j {
			from = end
		}
		i = j
	}
}

// collapseText returns the text in which each run of spaces and tabs is one space.
func collapseText(text string) string {
	chars := make([]byte, 0, len(text))
	blank := false
	for i := range len(text) {
		was := blank
		if blank = isBlank(text[i]); !blank {
			chars = append(chars, text[i])
		} else if !was {
			chars = append(chars, ' ')
		}
	}
	return string(chars)
}

func collapsedSpans(text, old string) []Span {
	want := collapseText(old)
	found := substrings(collapseText(text), want)
	if len(found) == 0 {
		return nil
	}
	at, first, last := 0, 0, 0 // the next byte, start and end that are looked for
	out := make([]Span, len(found))
	collapse(text, func(start, end int) {
		if first < len(found) && found[first].Start == at {
			out[first].Start = start
			first++
		}
		if last < len(found) && found[last].End-1 == at {
			out[last].End = end
			last++
		}
		at++
	})
	for i := range out {
		if want[len(want)-1] == ' ' {
			for out[i].End < len(text) && isBlank(text[out[i].End]) {
				out[i].End++
			}
		}
	}
	return out
}

// wholeIndent widens a span that begins within the indentation of its line to
// all of it, and narrows one that begins with blanks inside a line.
func (s *subject) wholeIndent(span Span, old string) Span {
	line := s.starts[s.lineAt(span.Start)]
	switch {
	case strings.Trim(s.text[line:span.Start], " \t") == "":
		span.Start = line
	case !isBlank(old[0]):
		for span.Start < span.End && isBlank(s.text[span.Start]) {
			span.Start++
		}
	}
	return span
}

// unicodeSpans compares with typeset punctuation and blanks read as ASCII: the
// text as it is, else line by line without the blanks around.
func (s *subject) unicodeSpans(old string) []Span {
	want, have := plain(old), plain(s.text)
	if want == old && have == s.text {
		return nil
	}
	if strings.Contains(have, want) {
		if found := mappedSpans(s.text, have, want); len(found) > 0 {
			return found
		}
	}
	lines := strings.Split(have, "\n")
	return s.equalLines(stripAll(lines), stripAll(strings.Split(want, "\n")))
}

// mappedSpans finds want in have, which is the plain form of text, and returns
// the places in text. One that begins inside a character is none.
func mappedSpans(text, have, want string) []Span {
	const inside = -1
	at := make([]int, len(have)+1)
	position := 0
	for i, r := range text {
		size := len(plain(string(r)))
		if r == utf8.RuneError { // may stand for one broken byte
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		at[position] = i
		for k := 1; k < size; k++ {
			at[position+k] = inside
		}
		position += size
	}
	at[len(have)] = len(text)
	var found []Span
	for _, span := range substrings(have, want) {
		end := span.End
		for at[end] == inside {
			end++
		}
		if at[span.Start] != inside {
			found = append(found, Span{at[span.Start], at[end]})
		}
	}
	return found
}
