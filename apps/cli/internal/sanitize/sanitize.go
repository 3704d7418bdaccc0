// Package sanitize makes text from elsewhere safe to print: an agent, a tool, a file name or
// another person must not control the terminal or reorder what is shown.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text with every control character made visible, including line ends and tabs.
func Line(text string) string {
	if plain(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD") // some terminals treat a lone byte as a control character
	return WrittenOut(text, Steers, "\\x%02x")
}

// plain reports whether text is printable ASCII, as most text is.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Lines is Line but keeps tabs and line ends.
func Lines(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return WrittenOut(text, func(r rune) bool { return r != '\n' && r != '\t' && Steers(r) }, "\\x%02x")
}

// Steers reports whether r may control a terminal: control characters, and invisible ones
// that reorder text.
func Steers(r rune) bool {
	return unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Bidi_Control)
}

// WrittenOut replaces the characters for which hidden returns true with their number in a
// format.
func WrittenOut(text string, hidden func(rune) bool, format string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, format, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
