// Package visible prepares texts for people. It writes out the characters that nobody sees, so that
// a request for approval reads as what runs, and shortens a text to the room that it has. The web UI
// writes out the same characters; testdata/texts.json has examples for both.
package visible

import (
	"fmt"
	"strings"
	"unicode"
)

// hidden are the characters that take no room on the screen, or that change how others are shown:
// controls, marks of width and direction, line and paragraph separators, and what Unicode lets
// programs ignore. U+2800 is a Braille pattern without a dot.
var hidden = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}},
}

// Hidden reports whether a character is invisible. Line ends and tabs are not.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return unicode.In(r, hidden...)
}

// Text returns a text with its invisible characters written out, as in "<U+202E>". What chooses the
// form of an emoji stays.
func Text(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, Hidden) < 0 {
		return text
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range text {
		if Hidden(r) && !formsEmoji(before, r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// formsEmoji reports whether r says how the symbol before it is shown: as text or in color.
func formsEmoji(before, r rune) bool {
	return (r == 0xFE0E || r == 0xFE0F) && unicode.Is(unicode.So, before)
}
