package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

// span is text in one style.
type span struct {
	text  string
	style lipgloss.Style
}

// inline reads emphasis, code and links. What is not closed stays as it was written.
func inline(text string, base lipgloss.Style, t *theme.Theme) []span {
	var spans []span
	plain := 0
	flush := func(end int) {
		if end > plain {
			spans = append(spans, span{text[plain:end], base})
		}
	}
	for i := 0; i < len(text); {
		found, width := marked(text[i:], i > 0 && isWord(lastRune(text[:i])), base, t)
		if width == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		flush(i)
		spans = append(spans, found...)
		i += width
		plain = i
	}
	flush(len(text))
	return spans
}

// maxMarked is how far from its beginning a mark may end, in bytes, so that text which is made
// of nothing but marks costs no more than any other.
const maxMarked = 1 << 10

// marked reads one marked piece at the beginning of text; width 0 means there is none.
func marked(text string, inWord bool, base lipgloss.Style, t *theme.Theme) (spans []span, width int) {
	text = text[:min(len(text), maxMarked)]
	switch text[0] {
	case '\\':
		if len(text) > 1 && strings.ContainsRune("\\`*_{}[]()#+-.!|~<>", rune(text[1])) {
			return []span{{text[1:2], base}}, 2
		}
	case '`':
		return code(text, t)
	case '*', '~':
		return emphasis(text, base, t)
	case '_':
		if !inWord {
			return emphasis(text, base, t)
		}
	case '[':
		return link(text, base, t)
	}
	return nil, 0
}

func code(text string, t *theme.Theme) ([]span, int) {
	ticks := len(text) - len(strings.TrimLeft(text, "`"))
	end := strings.Index(text[ticks:], text[:ticks])
	if end < 0 {
		return nil, 0
	}
	return []span{{strings.TrimSpace(text[ticks : ticks+end]), t.Code}}, 2*ticks + end
}

func emphasis(text string, base lipgloss.Style, t *theme.Theme) ([]span, int) {
	for _, mark := range []struct {
		text  string
		apply func(lipgloss.Style) lipgloss.Style
	}{
		{"**", func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }},
		{"__", func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }},
		{"~~", func(s lipgloss.Style) lipgloss.Style { return s.Strikethrough(true) }},
		{"*", func(s lipgloss.Style) lipgloss.Style { return s.Italic(true) }},
		{"_", func(s lipgloss.Style) lipgloss.Style { return s.Italic(true) }},
	} {
		inner, ok := strings.CutPrefix(text, mark.text)
		if !ok || inner == "" || inner[0] == ' ' {
			continue
		}
		end := strings.Index(inner, mark.text)
		if end <= 0 || inner[end-1] == ' ' {
			return nil, 0
		}
		if after := inner[end+len(mark.text):]; mark.text[0] == '_' && after != "" && isWord(firstRune(after)) {
			return nil, 0
		}
		return inline(inner[:end], mark.apply(base), t), end + 2*len(mark.text)
	}
	return nil, 0
}

// link shows the text and the address: the address decides where a click would go.
func link(text string, base lipgloss.Style, t *theme.Theme) ([]span, int) {
	end := strings.Index(text, "](")
	if end < 1 || strings.ContainsAny(text[1:end], "[]") {
		return nil, 0
	}
	stop := strings.IndexByte(text[end:], ')')
	if stop < 0 {
		return nil, 0
	}
	label, address := text[1:end], text[end+2:end+stop]
	spans := inline(label, base, t)
	if label != address {
		spans = append(spans, span{" (", t.Dim}, span{address, t.Link}, span{")", t.Dim})
	}
	return spans, end + stop + 1
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

// word is a text without spaces, which may change its style in the middle.
type word struct {
	parts []span
	width int
	gap   int // spaces before it
}

// words splits spans at spaces.
func words(spans []span) []word {
	var list []word
	gap, open := 0, false
	for _, s := range spans {
		for text := s.text; text != ""; {
			if rest := strings.TrimLeft(text, " "); rest != text {
				gap, open, text = gap+len(text)-len(rest), false, rest
				continue
			}
			end := strings.IndexByte(text, ' ')
			if end < 0 {
				end = len(text)
			}
			if !open {
				list, gap, open = append(list, word{gap: gap}), 0, true
			}
			last := &list[len(list)-1]
			last.parts = append(last.parts, span{text[:end], s.style})
			last.width += ansi.StringWidth(text[:end])
			text = text[end:]
		}
	}
	return list
}

// wrap breaks spans into lines of at most width cells, at spaces where there are any.
func wrap(spans []span, width int) []string {
	var (
		lines []string
		line  strings.Builder
		used  int
	)
	end := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for _, w := range words(spans) {
		if used > 0 && used+w.gap+w.width > width {
			end()
		}
		if used > 0 {
			line.WriteString(strings.Repeat(" ", w.gap))
			used += w.gap
		}
		for _, part := range w.parts {
			pieces := Break(part.text, width)
			if len(pieces) > 1 && used > 0 {
				end()
			}
			for i, piece := range pieces {
				size := ansi.StringWidth(piece)
				if i > 0 || used+size > width && used > 0 {
					end()
				}
				line.WriteString(part.style.Render(piece))
				used += size
			}
		}
	}
	if used > 0 || len(lines) == 0 {
		end()
	}
	return lines
}
