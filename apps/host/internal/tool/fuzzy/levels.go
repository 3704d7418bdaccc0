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
		return s.collapsedSpans(old)
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

// substrings returns the occurrences of part from left to right, without overlap.
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

// unescape replaces the two-character sequences \n, \t and \r.
func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(text)
}

// unicodeSpans treats typographic punctuation and spaces as ASCII: first the text as is,
// then line by line, ignoring the white space around each line.
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

// mappedSpans finds want in have, which is the plain form of text, and returns the places
// in text. Matches that begin inside a character are dropped.
func mappedSpans(text, have, want string) []Span {
	const inside = -1
	at := make([]int, len(have)+1)
	position := 0
	for i, r := range text {
		size := len(plain(string(r)))
		if r == utf8.RuneError { // may represent one invalid byte
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
