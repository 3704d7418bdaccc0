package editors

import (
	"strings"
	"unicode"

	"github.com/scorel/scorel/apps/cli/internal/fence"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Editors render Markdown in titles and messages. There a link, a heading or an entity can show
// something else than what is written, so that whatever may be read as one becomes code.

// plain returns a text that others wrote as one line that shows all of it.
func plain(text string) string {
	text = strings.Join(strings.Fields(visible.Text(text)), " ")
	if !isMarkdown(text) {
		return text
	}
	return inCode(text)
}

// plainBlock is plain for a text of several lines.
func plainBlock(text string) string {
	text = strings.TrimSpace(visible.Text(text))
	if !strings.Contains(text, "\n") && !isMarkdown(text) {
		return text
	}
	return fenced("", text)
}

// isMarkdown reports whether a line may be rendered as something else than its text.
func isMarkdown(line string) bool {
	if line == "" {
		return false
	}
	runes := []rune(line)
	if first := runes[0]; !unicode.IsLetter(first) && !strings.ContainsRune("/.(\"'", first) {
		return true // perhaps a heading, a list or a quotation
	}
	for i, r := range runes {
		switch r {
		case '\\', '`', '*', '[', '<', '&', '~', '$':
			return true
		case '_': // emphasizes at the edge of a word only
			if i == len(runes)-1 || !inWord(runes[i-1]) || !inWord(runes[i+1]) {
				return true
			}
		}
	}
	return false
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inCode returns a line as code within a line, which it cannot end.
func inCode(line string) string {
	if !strings.Contains(line, "`") {
		return "`" + line + "`"
	}
	around := fence.Around(line)
	return around + " " + line + " " + around
}
