package index_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A session of another program may give all of its entries one time.
func TestManyEntriesOfOneTime(t *testing.T) {
	h := newHome(t)
	l := h.session("aaaa", "prj_1")
	first := l.say(session.RoleUser, "the first")
	check(t, l.Close())
	const count = 5000
	var lines strings.Builder
	parent := first.ID
	for i := range count {
		fmt.Fprintf(&lines, `{"type":"message","id":"n%d","parentId":%q,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":[{"type":"text","text":"number%d"}]}}`+"\n", i, parent, i)
		parent = fmt.Sprintf("n%d", i)
	}
	check(t, filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		check(t, err)
		return os.WriteFile(path, append(text, lines.String()...), 0o600)
	}))
	x := h.open()
	defer func() { check(t, x.Close()) }()
	x.Touch("aaaa", "prj_1")
	settle(t, x)
	for _, n := range []int{0, 2047, 2048, 4096, count - 1} {
		if got, want := found(search(t, x, index.Query{Text: fmt.Sprintf("number%d", n)})), fmt.Sprintf("aaaa/n%d", n); got != want {
			t.Errorf("number %d: %q, want %q", n, got, want)
		}
	}
}
