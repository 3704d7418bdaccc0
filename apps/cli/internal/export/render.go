package export

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/fence"
)

// Markdown writes a document as Markdown. Texts are copied unchanged, because most are
// Markdown; code is in fences that its content cannot close.
func Markdown(w io.Writer, doc Document) error {
	doc = doc.visible()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", oneLine(doc.Title))
	for _, f := range doc.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", f.Name, oneLine(f.Value))
	}
	for _, p := range doc.Parts {
		fmt.Fprintf(&b, "\n## %s\n", oneLine(p.Who))
		if p.When != "" {
			fmt.Fprintf(&b, "\n*%s*\n", oneLine(p.When))
		}
		for _, block := range p.Blocks {
			markdownBlock(&b, block)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func markdownBlock(b *bytes.Buffer, block Block) {
	if block.Name != "" {
		fmt.Fprintf(b, "\n**%s**\n", oneLine(block.Name))
	}
	switch {
	case block.Image != "":
		fmt.Fprintf(b, "\n![image](%s)\n", block.Image)
	case block.Code:
		line := fence.Around(block.Text)
		fmt.Fprintf(b, "\n%s\n%s\n%s\n", line, strings.TrimRight(block.Text, "\n"), line)
	case block.Text != "":
		fmt.Fprintf(b, "\n%s\n", strings.TrimRight(block.Text, "\n"))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// pageHead forbids the page everything except its own style and images in data: URLs.
const pageHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 50rem; margin: 0 auto; padding: 1rem; }
section { margin: 1rem 0; padding: .25rem 1rem; border-left: .25rem solid #8886; }
section.user { border-color: #36c; }
section.assistant { border-color: #2a7; }
h2 { font-size: 1rem; margin: .25rem 0; }
time, dt, .name { color: #777; font-size: .85rem; font-weight: normal; }
pre, p { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: #8882; padding: .5rem; }
img { max-width: 100%%; }
</style>
</head>
<body>
<h1>%s</h1>
`

// HTML writes a document as one page.
func HTML(w io.Writer, doc Document) error {
	doc = doc.visible()
	var b bytes.Buffer
	title := html.EscapeString(oneLine(doc.Title))
	fmt.Fprintf(&b, pageHead, title, title)
	b.WriteString("<dl>\n")
	for _, f := range doc.Facts {
		fmt.Fprintf(&b, "<dt>%s</dt><dd>%s</dd>\n", html.EscapeString(f.Name), html.EscapeString(f.Value))
	}
	b.WriteString("</dl>\n")
	for _, p := range doc.Parts {
		fmt.Fprintf(&b, "<section class=\"%s\">\n<h2>%s <time>%s</time></h2>\n", html.EscapeString(p.Kind), html.EscapeString(p.Who), html.EscapeString(p.When))
		for _, block := range p.Blocks {
			htmlBlock(&b, block)
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("</body>\n</html>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func htmlBlock(b *bytes.Buffer, block Block) {
	if block.Name != "" {
		fmt.Fprintf(b, "<div class=\"name\">%s</div>\n", html.EscapeString(block.Name))
	}
	text := html.EscapeString(block.Text)
	switch {
	case block.Image != "":
		fmt.Fprintf(b, "<img alt=\"image\" src=\"%s\">\n", html.EscapeString(block.Image))
	case block.Code:
		fmt.Fprintf(b, "<pre>%s</pre>\n", text)
	case text != "":
		fmt.Fprintf(b, "<p>%s</p>\n", text)
	}
}
