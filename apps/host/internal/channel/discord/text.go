package discord

import (
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// units counts what a segment takes when it is rendered, in UTF-16 units. A block may need
// a line break on both sides.
func units(s channel.Segment) int {
	n := utf16Len(segment(s))
	if s.Kind == channel.Block {
		n += 2
	}
	return n
}

func utf16Len(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

func render(rich []channel.Segment) string {
	var b strings.Builder
	for i, s := range rich {
		if s.Kind == channel.Block && i > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(segment(s))
		if s.Kind == channel.Block && i < len(rich)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// segment renders one part of a text. Code cannot be escaped: marks within it that would end
// it are kept apart by a space without width.
func segment(s channel.Segment) string {
	text := strings.ToValidUTF8(s.Text, "\uFFFD")
	switch {
	case strings.TrimSpace(text) == "":
		return text
	case s.Kind == channel.Bold:
		return "**" + escape(text) + "**"
	case s.Kind == channel.Code:
		ticks := "`"
		if strings.Contains(text, "`") {
			ticks, text = "``", " "+strings.ReplaceAll(text, "``", "`\u200b`")+" "
		}
		return ticks + text + ticks
	case s.Kind == channel.Block:
		return "```" + s.Lang + "\n" + strings.ReplaceAll(text, "```", "`\u200b`\u200b`") + "\n```"
	}
	return escape(text)
}

// A bare link is clickable as it is written. It ends where Discord ends it: whatever comes
// before means itself, and a backslash would be part of the address.
var link = regexp.MustCompile(`(^|[\s(])(https?://[^\s<]+)`)

// escape makes a text mean itself: Discord shows a punctuation mark after a backslash as it is.
func escape(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(escapeMarks(text[at:m[4]]))
		b.WriteString(text[m[4]:m[5]])
		at = m[5]
	}
	b.WriteString(escapeMarks(text[at:]))
	return b.String()
}

func escapeMarks(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.IndexByte("\\`*_~|<>@#-+[]():", c) >= 0:
			b.WriteByte('\\')
		case c == '.' && endsNumber(text[:i]):
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// endsNumber reports whether a text ends with a line that is only a number, so that a dot after
// it would begin a list.
func endsNumber(text string) bool {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	line = strings.TrimLeft(line, " ")
	return line != "" && strings.Trim(line, "0123456789") == ""
}
