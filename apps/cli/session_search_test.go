package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestASearchListsMoreThanOneAnswerHas: every hit is printed, once, up to the limit.
func TestASearchListsMoreThanOneAnswerHas(t *testing.T) {
	const sessions, perSession = 20, 3 // a search lists three hits of a session
	folder, home := t.TempDir(), t.TempDir()
	environment := func(name string) string { return map[string]string{"SCOREL_HOME": home}[name] }
	hosttest.Run(t, host.Config{Home: home, NoRelay: true, Getenv: environment, Projects: []string{folder}})
	scorel := func(args ...string) (string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := Main(args, strings.NewReader(""), &stdout, &stderr, environment); code != 0 {
			t.Fatalf("scorel %v: exit code %d, %s", args, code, stderr.String())
		}
		return stdout.String(), stderr.String()
	}
	for i := range sessions {
		path := filepath.Join(folder, "session.jsonl")
		if err := os.WriteFile(path, needles(folder, i, perSession), 0o600); err != nil {
			t.Fatal(err)
		}
		scorel("session", "import", path)
	}
	for note := "indexing"; strings.Contains(note, "indexing"); { // a search waits a while
		_, note = scorel("session", "search", "needle")
	}
	for limit, want := range map[int]int{20: 20, api.MaxHits: api.MaxHits, 55: 55, 1000: sessions * perSession} {
		found, _ := scorel("session", "search", "needle", "--json", "--limit", fmt.Sprint(limit))
		lines := strings.Split(strings.TrimSpace(found), "\n")
		distinct := map[string]bool{}
		for _, line := range lines {
			distinct[line] = true
		}
		if len(lines) != want || len(distinct) != want {
			t.Errorf("--limit %d: %d results, %d of them distinct, want %d", limit, len(lines), len(distinct), want)
		}
	}
}

// needles is the file of a session whose messages all have the same word. As in forks, entries of
// several sessions have the same id.
func needles(folder string, number, messages int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":"session","version":3,"id":"0199aaaa-0000-7000-8000-%012x","timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", number, folder)
	parent := "null"
	for i := range messages {
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"a needle","timestamp":1767323045000}}`+"\n", i, parent)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	return b.Bytes()
}
