// Package markdown renders the Markdown of an answer for a terminal, line by line, while it
// still arrives. Text from elsewhere is sanitized first, so the only escape sequences in the
// result are the colors of the theme (docs/decisions/0034-terminal-client.md says why this is
// not a library).
package markdown

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
)

// tabWidth is how many cells a tab takes.
const tabWidth = 4

// Clean sanitizes text and replaces tabs, which have no fixed width.
func Clean(text string) string {
	text = sanitize.Lines(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabWidth))
}

var (
	heading = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	rule    = regexp.MustCompile(`^ {0,3}([-*_])( *[-*_]){2,} *$`)
	bullet  = regexp.MustCompile(`^( *)([-*+]|\d{1,9}[.)])( +)(.*)$`)
	fence   = regexp.MustCompile("^( *)(```+|~~~+) *([\\w+#.-]*)")
	divider = regexp.MustCompile(`^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$`)
)

// Render returns the lines of a text.
func Render(text string, width int, t *theme.Theme) []string {
	r := renderer{width: max(width, 8), t: t, in: strings.Split(strings.TrimRight(Clean(text), "\n "), "\n")}
	for r.at < len(r.in) {
		r.block()
	}
	for len(r.out) > 0 && r.out[len(r.out)-1] == "" {
		r.out = r.out[:len(r.out)-1]
	}
	return r.out
}

// renderer turns the lines of a text into lines of a screen.
type renderer struct {
	width int
	t     *theme.Theme
	in    []string
	at    int // next line of in
	out   []string
	depth int // of lists and quotes around it
}

// maxDepth is how deep lists and quotes are shown.
const maxDepth = 8

func (r *renderer) block() {
	line := r.in[r.at]
	switch {
	case strings.TrimSpace(line) == "":
		r.gap()
		r.at++
	case r.depth > maxDepth:
		r.out = append(r.out, Break(line, r.width)...)
		r.at++
	case fence.MatchString(line):
		r.code(fence.FindStringSubmatch(line))
	case heading.MatchString(line):
		r.heading(heading.FindStringSubmatch(line))
	case rule.MatchString(line):
		r.out = append(r.out, r.t.Dim.Render(strings.Repeat("─", min(r.width, 40))))
		r.at++
	case bullet.MatchString(line):
		r.item(bullet.FindStringSubmatch(line))
	case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
		r.quote()
	case strings.Contains(line, "|") && r.at+1 < len(r.in) && strings.Contains(r.in[r.at+1], "|") && divider.MatchString(r.in[r.at+1]):
		r.table()
	default:
		r.paragraph()
	}
}

// gap adds an empty line, but never two.
func (r *renderer) gap() {
	if n := len(r.out); n > 0 && r.out[n-1] != "" {
		r.out = append(r.out, "")
	}
}

func (r *renderer) heading(match []string) {
	r.gap()
	style := r.t.Heading
	if len(match[1]) > 2 {
		style = r.t.Strong
	}
	r.out = append(r.out, wrap(inline(match[2], style, r.t), r.width)...)
	r.at++
}

// code shows a fenced block; one without an end reaches to the end of the text.
func (r *renderer) code(match []string) {
	indent, mark, language := len(match[1]), match[2], strings.ToLower(match[3])
	for r.at++; r.at < len(r.in); r.at++ {
		line := r.in[r.at]
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, mark) && strings.Trim(trimmed, mark[:1]) == "" {
			r.at++
			return
		}
		line = line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):]
		for _, part := range Break(line, r.width-2) {
			r.out = append(r.out, r.t.Border.Render("│")+" "+paintCode(part, language, r.t))
		}
	}
}

// item shows one item of a list with its mark, its text and the lines that belong to it.
func (r *renderer) item(match []string) {
	indent, mark := len(match[1]), match[2]
	body := indent + len(mark) + len(match[3])
	if len(mark) == 1 {
		mark = "•"
	}
	lines := []string{match[4]}
	for r.at++; r.at < len(r.in); r.at++ {
		line := r.in[r.at]
		lead := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) == "" {
			if r.at+1 >= len(r.in) || !strings.HasPrefix(r.in[r.at+1], strings.Repeat(" ", indent+2)) {
				break
			}
			lines = append(lines, "")
			continue
		}
		if lead <= indent && (bullet.MatchString(line) || fence.MatchString(line) || heading.MatchString(line)) {
			break
		}
		lines = append(lines, line[min(lead, body):])
	}
	for i, task := range []string{"[ ] ", "[x] ", "[X] "} {
		if text, ok := strings.CutPrefix(lines[0], task); ok {
			lines[0], mark = text, []string{"☐", "☑", "☑"}[i]
		}
	}
	r.nested(strings.Join(lines, "\n"), r.t.Accent.Render(mark)+" ", strings.Repeat(" ", ansi.StringWidth(mark)+1))
}

// nested shows a text inside another, behind a mark.
func (r *renderer) nested(text, first, rest string) {
	inner := renderer{width: max(r.width-ansi.StringWidth(rest), 8), t: r.t, in: strings.Split(text, "\n"), depth: r.depth + 1}
	for inner.at < len(inner.in) {
		inner.block()
	}
	for i, line := range inner.out {
		if i == 0 {
			r.out = append(r.out, first+line)
		} else {
			r.out = append(r.out, strings.TrimRight(rest+line, " "))
		}
	}
	if len(inner.out) == 0 {
		r.out = append(r.out, strings.TrimRight(first, " "))
	}
}

func (r *renderer) quote() {
	var lines []string
	for ; r.at < len(r.in); r.at++ {
		line, ok := strings.CutPrefix(strings.TrimLeft(r.in[r.at], " "), ">")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, " "))
	}
	bar := r.t.Dim.Render("▎") + " "
	r.nested(strings.Join(lines, "\n"), bar, bar)
}

// paragraph joins lines up to the next block. Two spaces or a backslash break a line.
func (r *renderer) paragraph() {
	var text strings.Builder
	first := r.at
	for ; r.at < len(r.in); r.at++ {
		line := r.in[r.at]
		if r.at > first && (strings.TrimSpace(line) == "" || heading.MatchString(line) || fence.MatchString(line) || bullet.MatchString(line) || strings.HasPrefix(line, ">")) {
			break
		}
		if r.at > first {
			text.WriteByte(' ')
		}
		hard := strings.HasSuffix(line, "  ") || strings.HasSuffix(line, "\\")
		text.WriteString(strings.TrimSpace(strings.TrimSuffix(line, "\\")))
		if hard {
			r.at++
			break
		}
	}
	r.out = append(r.out, wrap(inline(text.String(), r.t.Text, r.t), r.width)...)
}
