package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

// keywords are those of the languages that people mostly discuss with an agent.
var keywords = strings.Fields(`as async await break case catch chan class const continue def default defer del do done elif else
 enum esac except export extends false fi finally fn for from func function go goto if impl import in interface is lambda let
 loop map match mod mut new nil none not null or package pass pub raise range return select self static struct super switch
 then this throw trait true try type typeof use var void where while with yield None True False and`)

// paintCode colors a line of code: comments, texts, numbers and common keywords.
func paintCode(line, language string, t *theme.Theme) string {
	switch language {
	case "diff", "patch":
		return paintDiff(line, t)
	case "", "text", "txt", "plain", "console", "output":
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		rest := line[i:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "//") || c == '#' && (i == 0 || line[i-1] == ' ') && language != "c" && language != "css":
			b.WriteString(t.Comment.Render(rest))
			return b.String()
		case c == '"' || c == '\'' || c == '`':
			n := quoted(rest)
			b.WriteString(t.Literal.Render(rest[:n]))
			i += n
		case isWord(firstRune(rest)):
			n := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(paintWord(rest[:n], t))
			i += n
		default:
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(rest[:n])
			i += n
		}
	}
	return b.String()
}

func paintWord(word string, t *theme.Theme) string {
	switch {
	case word[0] >= '0' && word[0] <= '9':
		return t.Literal.Render(word)
	case slices.Contains(keywords, word):
		return t.Keyword.Render(word)
	}
	return word
}

// quoted returns the length of the text in quotes at the beginning of s.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 1
}

// paintDiff colors a line of a unified diff.
func paintDiff(line string, t *theme.Theme) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return t.Strong.Render(line)
	case strings.HasPrefix(line, "+"):
		return t.Added.Render(line)
	case strings.HasPrefix(line, "-"):
		return t.Removed.Render(line)
	case strings.HasPrefix(line, "@@"):
		return t.Hunk.Render(line)
	}
	return line
}

// Diff returns the lines of a unified diff, colored and broken to a width.
func Diff(text string, width int, t *theme.Theme) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(Clean(text), "\n"), "\n") {
		for _, part := range Break(line, width) {
			if part != line && len(line) > 0 && strings.ContainsRune("+-", rune(line[0])) {
				style := t.Added
				if line[0] == '-' {
					style = t.Removed
				}
				lines = append(lines, style.Render(part))
				continue
			}
			lines = append(lines, paintDiff(part, t))
		}
	}
	return lines
}

// Break breaks a line after every width cells.
func Break(line string, width int) []string {
	if ansi.StringWidth(line) <= width || width < 1 {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, width, true), "\n")
}
