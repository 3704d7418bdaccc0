package index_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestNamesOfOlderSessionsSteerNothing: a log may hold any name, also one that was given
// before names were cleaned.
func TestNamesOfOlderSessionsSteerNothing(t *testing.T) {
	const text = `fix\u009b31m the\u202e bug\u0085 \u001b[2Jnow`
	var entries []session.Entry
	for _, line := range []string{
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"` + text + `","timestamp":1}}`,
		`{"type":"session_info","id":"b","parentId":"a","name":"a` + text + `"}`,
	} {
		entry, err := session.ParseEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	d := index.DigestOf(session.Header{}, entries)
	if d.Title != "fix31m the bug [2Jnow" || d.Name != "afix31m the bug [2Jnow" {
		t.Errorf("title %q, name %q", d.Title, d.Name)
	}
}

// TestTitlesAreWithoutAttachedFiles: what a person wrote is the title, or the name of the first
// file if they wrote nothing.
func TestTitlesAreWithoutAttachedFiles(t *testing.T) {
	for text, want := range map[string]string{
		`Read these, please\n\nAttached file: main.go\n` + "```" + `\npackage main\n` + "```":                 "Read these, please",
		`Look\n\nAttached file: a.pdf\nPath: /s/a.pdf\nSize: 9 bytes`:                                         "Look",
		`Attached file: server.log\n` + "```" + `\nline\n` + "```":                                            "server.log",
		`What is an Attached file: x\n` + "```":                                                               "What is an Attached file: x ```",
		`Attached file: is a heading`:                                                                         "Attached file: is a heading",
		`Why Attached file: y\nPath: z?\n\nAttached file: b.txt\n` + "````" + `\nAttached file: c\n` + "````": "Why Attached file: y Path: z?",
	} {
		entry, err := session.ParseEntry([]byte(`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"` + text + `","timestamp":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if d := index.DigestOf(session.Header{}, []session.Entry{entry}); d.Title != want {
			t.Errorf("%s: the title is %q, want %q", text, d.Title, want)
		}
	}
}
