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
