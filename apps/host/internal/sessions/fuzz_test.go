package sessions_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions"
)

// FuzzOpenLog opens whatever stands in a file: it never panics, never loses a
// whole line, and what it leaves behind opens again as the same.
func FuzzOpenLog(f *testing.F) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/"}` + "\n"
	for _, seed := range []string{
		"", "\n", "{}", header, header + `{"type":"message"`, header + "null\n", header + "[1]\n\n",
		header + `{"type":"custom","customType":"x","id":"a","parentId":null,"seq":18446744073709551615}` + "\n",
		header + `{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":"x"}}` + "\n",
		header + header + "\xff\xfe\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := sessions.OpenLog(path, slog.New(slog.DiscardHandler))
		if err != nil {
			return
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		if !bytes.HasPrefix(after, whole) || !bytes.HasPrefix(append(data, '\n'), after) {
			t.Fatalf("opening made %q of %q", after, data)
		}
	})
}
