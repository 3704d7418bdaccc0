package channel

import (
	"strings"
)

// Kind is how a segment of a text looks.
type Kind int

// The kinds of segments.
const (
	Plain Kind = iota
	Bold
	Code  // within a line
	Block // lines of code
)

// Segment is a part of a text. Texts follow each other without anything between them; a
// Block stands on lines of its own and has no line break at its end.
type Segment struct {
	Kind Kind
	Text string
	Lang string // of a Block, letters and digits or ""
}

// Text returns a plain text.
func Text(text string) []Segment {
	if text == "" {
		return nil
	}
	return []Segment{{Text: text}}
}

// String returns a text without its markup.
func String(rich []Segment) string {
	var b strings.Builder
	for i, s := range rich {
		if s.Kind == Block && i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Text)
		if s.Kind == Block && i < len(rich)-1 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// ParseMarkdown reads the Markdown of an agent: fenced code, `code`, **bold** and headings.
// Whatever else it has stays as it is written.
func ParseMarkdown(text string) []Segment {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	var out []Segment
	var lines []string
	flush := func(before bool) {
		joined := strings.Join(lines, "\n")
		if before {
			joined = strings.TrimRight(joined, "\n")
		}
		if len(out) > 0 && out[len(out)-1].Kind == Block {
			joined = strings.TrimLeft(joined, "\n")
		}
		out, lines = append(out, inline(joined)...), nil
	}
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		fence, lang, ok := openFence(all[i])
		if !ok {
			lines = append(lines, all[i])
			continue
		}
		flush(true)
		var code []string
		for i++; i < len(all) && !closesFence(all[i], fence); i++ {
			code = append(code, all[i])
		}
		out = append(out, Segment{Kind: Block, Text: strings.Join(code, "\n"), Lang: lang})
	}
	flush(false)
	return out
}

// openFence reads the line that begins a block of code.
func openFence(line string) (fence, lang string, ok bool) {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n < 3 {
			continue
		}
		info := strings.TrimSpace(line[n:])
		if c == "`" && strings.Contains(info, "`") {
			return "", "", false
		}
		word, _, _ := strings.Cut(info, " ")
		return strings.Repeat(c, n), cleanLang(word), true
	}
	return "", "", false
}

func closesFence(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

func cleanLang(word string) string {
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return ""
		}
	}
	return Cut(word, 16)
}

// inline reads the markup within lines.
func inline(text string) []Segment {
	var out []Segment
	plain := 0
	add := func(s Segment, from, to int) {
		if from > plain {
			out = append(out, Segment{Text: text[plain:from]})
		}
		out, plain = append(out, s), to
	}
	lineStart := true
	for i := 0; i < len(text); {
		s, end := markup(text, i, lineStart)
		lineStart = text[i] == '\n'
		if end == 0 {
			i++
			continue
		}
		add(s, i, end)
		i, lineStart = end, false
	}
	if plain < len(text) {
		out = append(out, Segment{Text: text[plain:]})
	}
	return out
}

// markup reads the markup that begins at i; an end of 0 means there is none.
func markup(text string, i int, lineStart bool) (s Segment, end int) {
	rest := text[i:]
	line, _, _ := strings.Cut(rest, "\n")
	switch {
	case rest[0] == '`':
		return code(rest, i)
	case strings.HasPrefix(rest, "**"):
		if n := strings.Index(line[2:], "**"); n > 0 && line[2] != ' ' && line[1+n] != ' ' && !strings.ContainsAny(line[2:2+n], "`*") {
			return Segment{Kind: Bold, Text: line[2 : 2+n]}, i + n + 4
		}
	case lineStart && rest[0] == '#':
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if title := strings.TrimSpace(line[level:]); level <= 6 && title != "" && strings.HasPrefix(line[level:], " ") && !strings.ContainsAny(title, "`*") {
			return Segment{Kind: Bold, Text: title}, i + len(line)
		}
	}
	return s, 0
}

func code(rest string, i int) (Segment, int) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	ticks := rest[:n]
	line, _, _ := strings.Cut(rest[n:], "\n")
	m := strings.Index(line, ticks)
	if m <= 0 || strings.HasPrefix(line[m+n:], "`") || strings.TrimSpace(line[:m]) == "" {
		return Segment{Text: ticks}, i + n
	}
	text := line[:m]
	if n > 1 {
		text = strings.TrimSpace(text)
	}
	return Segment{Kind: Code, Text: text}, i + n + m + n
}
