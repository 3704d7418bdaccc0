package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shorten returns a text of at most most characters, which must be 1 or more. If something is
// missing, the last one is "…".
func Shorten(text string, most int) string {
	n, end := 0, 0
	for i := range text {
		switch n {
		case most - 1:
			end = i
		case most:
			return strings.TrimRightFunc(text[:end], unicode.IsSpace) + "…"
		}
		n++
	}
	return text
}

// Head returns the beginning of a text, at most most bytes of it. It ends with a whole character,
// unless there is none near its end: bytes that are no text are cut anywhere.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	most = max(most, 0)
	for end := most; end >= 0 && end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:most]
}
