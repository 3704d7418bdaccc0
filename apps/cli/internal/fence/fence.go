// Package fence delimits blocks of code in Markdown.
package fence

import "strings"

// Around returns the line that begins and ends a block with the text: at least three backticks, and
// more than any run of them in the text, which therefore cannot end the block.
func Around(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
