// Package outside marks text that comes from outside in a prompt: from requests, files and
// mentions that start a run, and from channel servers.
package outside

import (
	"strings"
	"unicode"
)

// Fence puts cleaned text between two lines that contain the marker. No one who writes the text
// may know the marker, so that the text cannot end its part. About follows the marker in the
// first line; it must be clean, and begin with a space if it is not "".
func Fence(marker, about, text string) string {
	return "<<<" + marker + about + "\n" + Clean(text) + "\n" + marker + ">>>"
}

// Clean removes control characters other than tabs and line feeds, and those that change the
// direction of text or hide it. Bytes that are not UTF-8 become U+FFFD.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r >= 0xE0000 && r <= 0xE007F, r == '\u200B', r == '\uFEFF':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
