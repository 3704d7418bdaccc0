package export_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/scorel/scorel/apps/cli/internal/export"
)

// TestAnExportSteersNothing: an export is printed on a terminal too, and what it shows of a
// command must be in the order in which it would run.
func TestAnExportSteersNothing(t *testing.T) {
	evil, err := json.Marshal("a\x1b]0;title\x07\x1b[2Jb\u202Etxt.exe\u2066c\rd\u0085e\u200f")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.Join([]string{
		`{"type":"session","version":3,"id":"s","timestamp":EVIL,"cwd":EVIL}`,
		`{"type":"message","id":"a","parentId":null,"timestamp":EVIL,"message":{"role":"user","content":EVIL}}`,
		`{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":EVIL},{"type":"toolCall","id":"c","name":EVIL,"arguments":{"x":EVIL}}],"errorMessage":EVIL}}`,
		`{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","toolName":EVIL,"content":[{"type":"text","text":EVIL}]}}`,
		`{"type":"label","id":"d","parentId":"c","timestamp":"t","targetId":"a","label":EVIL}`,
		`{"type":"session_info","id":"e","parentId":"d","timestamp":"t","name":EVIL}`,
		`{"type":"compaction","id":"f","parentId":"e","timestamp":"t","summary":EVIL,"firstKeptEntryId":"a"}`,
	}, "\n")+"\n", "EVIL", string(evil))
	for name, write := range map[string]func(*bytes.Buffer, export.Document) error{
		"html": func(b *bytes.Buffer, d export.Document) error { return export.HTML(b, d) },
		"md":   func(b *bytes.Buffer, d export.Document) error { return export.Markdown(b, d) },
	} {
		var b bytes.Buffer
		if err := write(&b, document(t, []byte(text))); err != nil {
			t.Fatal(err)
		}
		if at := strings.IndexFunc(b.String(), func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}); at >= 0 {
			t.Errorf("%s: %q", name, b.String()[max(0, at-40):at+10])
		}
		if !strings.Contains(b.String(), "U+202E") {
			t.Errorf("%s does not show what it leaves out:\n%s", name, b.String())
		}
	}
}
