package export

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// visible escapes invisible characters that control a terminal or change the direction of a
// line, because exports are also printed. Line ends and tabs are kept.
func visible(text string) string {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible returns the document with all of its texts escaped.
func (d Document) visible() Document {
	d.Title, d.Facts, d.Parts = visible(d.Title), slices.Clone(d.Facts), slices.Clone(d.Parts)
	for i, fact := range d.Facts {
		d.Facts[i].Value = visible(fact.Value)
	}
	for i, part := range d.Parts {
		part.Who, part.When, part.Blocks = visible(part.Who), visible(part.When), slices.Clone(part.Blocks)
		for j, block := range part.Blocks {
			part.Blocks[j].Text, part.Blocks[j].Name = visible(block.Text), visible(block.Name)
		}
		d.Parts[i] = part
	}
	return d
}
