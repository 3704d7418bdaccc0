package follow

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/cli/internal/fence"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Text files up to these sizes in bytes become part of the prompt, as those of the web UI do.
const (
	MaxTextFile  = 256 << 10
	maxTextFiles = 512 << 10
	maxFileName  = 200 // characters
)

// FileName returns a name that fits on a line of its own.
func FileName(name string) string {
	clean := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "�")))
	if letters := []rune(clean); len(letters) > maxFileName {
		clean = string(letters[:maxFileName])
	}
	return clean
}

// WithTextFiles appends the small text files to a prompt, each in a fence that does not occur in
// it, and returns the others, which the host stores.
func WithTextFiles(prompt string, files []File) (text string, others []File) {
	text = prompt
	all := 0
	for _, file := range files {
		block := "Attached file: " + file.Name + "\n" + fenced(string(file.Data))
		if !isText(file.Data) || all+len(file.Data) > maxTextFiles || len(text)+len("\n\n")+len(block) > api.MaxPrompt {
			others = append(others, file)
			continue
		}
		all += len(file.Data)
		if strings.TrimSpace(text) != "" {
			block = text + "\n\n" + block
		}
		text = block
	}
	return text, others
}

func isText(data []byte) bool {
	return len(data) <= MaxTextFile && utf8.Valid(data) && !bytes.ContainsRune(data, 0)
}

// fenced puts a text into a fence. The line break before the closing fence stands for the one at
// the end of the file.
func fenced(text string) string {
	line := fence.Around(text)
	return line + "\n" + strings.TrimSuffix(text, "\n") + "\n" + line
}
