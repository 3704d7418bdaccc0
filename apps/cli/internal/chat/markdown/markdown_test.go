package markdown

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

const sample = "# Title\n\nA paragraph with **bold**, *italic*, `code`, snake_case_name and\na [link](https://example.com/a_b).\n\n" +
	"- one\n- two\n  with more\n  1. nested\n- [x] done\n\n> quoted\n> text\n\n```go\nfunc main() { // comment\n\treturn \"text\"\n}\n```\n\n" +
	"| name | value |\n|------|------:|\n| a | 1 |\n| bb | **22** |\n\n---\n\nend"

const wanted = `Title

A paragraph with bold, italic, code,
snake_case_name and a link
(https://example.com/a_b).

• one
• two with more
  1. nested
☑ done

▎ quoted text

│ func main() { // comment
│     return "text"
│ }

name │ value
────────────
a    │ 1
bb   │ 22

────────────────────────────────────────

end`

func plain(lines []string) string {
	text := ansi.Strip(strings.Join(lines, "\n"))
	return regexp.MustCompile(` +\n`).ReplaceAllString(text+"\n", "\n")
}

func TestRender(t *testing.T) {
	if got := plain(Render(sample, 40, theme.New(true))); got != wanted+"\n" {
		t.Errorf("got:\n%s", got)
	}
}

// TestAStreamLooksLikeTheWhole: text that arrives in pieces ends as text that is there at once.
func TestAStreamLooksLikeTheWhole(t *testing.T) {
	colors := theme.New(false)
	var s Stream
	var lines []string
	for end := range len(sample) + 1 {
		lines = s.Render(sample[:end], 40, colors)
	}
	if got := plain(lines); got != wanted+"\n" {
		t.Errorf("got:\n%s", got)
	}
}

// TestHostileMarkdownIsCheap: marks that never close, deep nesting and endless words take no
// more than other text of their length.
func TestHostileMarkdownIsCheap(t *testing.T) {
	for _, piece := range []string{"[", "*", "`", "_a", ">", "- ", "| ", "![](", "x", "1. ", "```\n", "|-\n", "\t"} {
		began := time.Now()
		lines := Render(strings.Repeat(piece, 50_000/len(piece)), 80, theme.New(true))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q takes %s", piece, took)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > 80+maxDepth*3 {
				t.Errorf("%q makes a line of %d cells", piece, ansi.StringWidth(line))
				break
			}
		}
	}
}

// FuzzRender: whatever the text is, colors are the only escape sequences.
func FuzzRender(f *testing.F) {
	f.Add(sample)
	f.Add("&#27;[2J \x1b]8;;http://x\x07a\x1b]8;;\x07 \u009b2J \u202e")
	colors := regexp.MustCompile(`\x1b\[[0-9;:]*m`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range Render(text, 30, theme.New(true)) {
			for _, r := range colors.ReplaceAllString(line, "") {
				if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
					t.Fatalf("%q is in the line %q", r, line)
				}
			}
		}
	})
}
