package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/export"
	"github.com/scorel/scorel/packages/protocol/session"
)

const hostile = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:06.000Z","cwd":"/x/<b>"}
{"type":"message","id":"a","parentId":null,"timestamp":"<t>","message":{"role":"user","content":"<script>alert(1)</script> & \"quotes\""}}
{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm <i>"},{"type":"text","text":"**bold**"},{"type":"toolCall","id":"c","name":"ba<sh","arguments":{"x":"` + "```" + `"}}],"stopReason":"toolUse"}}
{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","toolName":"bash\"><img src=x>","content":[{"type":"text","text":"a\n` + "````" + `\nb"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"image","data":"\"><script>","mimeType":"image/png"},{"type":"image","data":"AAAA","mimeType":"image/svg+xml"}],"isError":false}}
{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"bashExecution","command":"ls","output":"out </pre>"}}
{"type":"compaction","id":"e","parentId":"d","timestamp":"t","summary":"S <u>","firstKeptEntryId":"a"}
{"type":"custom_message","customType":"ext","content":"shown","display":true,"id":"f","parentId":"e"}
{"type":"custom_message","customType":"ext","content":"hidden","display":false,"id":"g","parentId":"f"}
{"type":"label","id":"h","parentId":"g","timestamp":"t","targetId":"a","label":"<start>"}
{"type":"message","id":"i","parentId":"h","message":{"role":"user","content":7}}
{"type":"session_info","id":"n","parentId":"i","name":"</title><script>x</script>"}`

func document(t *testing.T, data []byte) export.Document {
	t.Helper()
	f, err := session.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := export.Of(f.Header, f.Tree, f.Tree.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestHTMLShowsTextAsText(t *testing.T) {
	var b bytes.Buffer
	if err := export.HTML(&b, document(t, []byte(hostile))); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"default-src 'none'", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#34;quotes&#34;", "User [&lt;start&gt;]", "ba&lt;sh",
		`src="data:image/png;base64,AAAA"`, "(an image of type image/svg+xml)", "out &lt;/pre&gt;", "S &lt;u&gt;", "shown", "/x/&lt;b&gt;", "&#34;content&#34;:7",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	tags := map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			tags[start.Name.Local]++
			checkAttributes(t, start)
		}
	}
	if tags["script"] > 0 || tags["img"] != 1 || tags["i"] > 0 || tags["u"] > 0 || tags["section"] != 7 || strings.Contains(page, "hidden") {
		t.Errorf("the page holds %v", tags)
	}
}

// checkAttributes finds what would load or run something.
func checkAttributes(t *testing.T, tag xml.StartElement) {
	t.Helper()
	for _, a := range tag.Attr {
		name, value := strings.ToLower(a.Name.Local), strings.ToLower(a.Value)
		if strings.HasPrefix(name, "on") || name == "href" || name == "src" && !strings.HasPrefix(value, "data:image/") {
			t.Errorf("<%s %s=%q>", tag.Name.Local, name, value)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := export.Markdown(&b, document(t, []byte(hostile))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n## User [<start>]\n", "\n**bold**\n", "\n**thinking**\n", "\n`````\na\n````\nb\n`````\n", "\n````\n{\"x\":\"```\"}\n````\n",
		"\n## Summary of what came before\n\n*t*\n\nS <u>\n", "\n```\n$ ls\nout </pre>\n```\n", "![image](data:image/png;base64,AAAA)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestEveryTextOfAFixtureIsThere exports a real session.
func TestEveryTextOfAFixtureIsThere(t *testing.T) {
	data, err := os.ReadFile("../../../../packages/protocol/session/testdata/pi/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := export.Markdown(&b, document(t, data)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Read main.go and fix the bug", "Let me look.", "I should read the file first.", "Edited main.go", "go version go1.26 linux/amd64", "partial answ", "Done: the build passes."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}
