package transcripts_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/transcripts"
	"github.com/scorel/scorel/packages/protocol/session"
)

var update = flag.Bool("update", false, "write the golden files")

// newHome copies the sample home to a new folder and adds opencode's database.
func newHome(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/home")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/opencode.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(home, ".local/share/opencode/opencode.db"))
	if err == nil {
		_, err = db.Exec(string(script))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func none(string) string { return "" }

func reader(home string) *transcripts.Reader {
	return transcripts.New(home, none, func() []string { return []string{"/home/me/site"} })
}

// describe prints a transcript as people would check it.
func describe(out *bytes.Buffer, t transcripts.Transcript, indent string) {
	fmt.Fprintf(out, "%s%s %s %q in %s, version %q, parent %q, report %+v\n", indent, t.Source, t.ID, t.Title, t.Folder, t.Version, t.Parent, t.Report)
	leaf := ""
	for _, item := range t.Items {
		if item.Parent != leaf {
			fmt.Fprintf(out, "%s  -- branch after %s\n", indent, item.Parent)
		}
		leaf = item.ID
		fmt.Fprintf(out, "%s  %s %s ", indent, item.ID, item.At.UTC().Format("2006-01-02T15:04:05"))
		switch m := item.Message; {
		case m == nil:
			fmt.Fprintf(out, "%s%s %s\n", item.Custom, item.Summary, shortened(string(item.Data)))
		default:
			fmt.Fprintf(out, "%s %s %s %s\n", m.Role, m.Model, m.ToolCallID, m.StopReason)
			for _, b := range m.Content {
				raw, _ := session.Encode(b)
				fmt.Fprintf(out, "%s      %s\n", indent, shortened(string(raw)))
			}
			rest, _ := json.Marshal([]any{m.Usage, m.IsError, m.Details, m.ErrorMessage})
			fmt.Fprintf(out, "%s      %s\n", indent, rest)
		}
	}
	for _, child := range t.Children {
		describe(out, child, indent+"  > ")
	}
}

func shortened(text string) string {
	if len(text) > 300 {
		return text[:300] + "…"
	}
	return text
}

// TestGolden: all samples are found and converted as the golden files say.
func TestGolden(t *testing.T) {
	r := reader(newHome(t))
	for _, source := range transcripts.Sources() {
		t.Run(string(source), func(t *testing.T) {
			var out bytes.Buffer
			list, damaged, err := r.List(t.Context(), source)
			fmt.Fprintf(&out, "damaged files: %d, error: %v\n", damaged, err)
			for _, info := range list {
				fmt.Fprintf(&out, "listed %s %q named %t in %s\n", info.ID, info.Title, info.Named, info.Folder)
			}
			for _, info := range list {
				converted, err := r.Read(t.Context(), source, info.ID)
				if err != nil {
					t.Errorf("%s: %v", info.ID, err)
				}
				if converted.Title != info.Title || converted.Folder != info.Folder || converted.Named != info.Named {
					t.Errorf("listed as %+v, read as %+v", info, converted.Info)
				}
				describe(&out, converted, "")
			}
			name := filepath.Join("testdata", string(source)+".golden")
			if *update {
				if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("got\n%s", out.Bytes())
			}
		})
	}
}

// TestEveryCallHasOneResult: whatever was cut off, a call that is followed by another message of
// the model or by a prompt has exactly one result.
func TestEveryCallHasOneResult(t *testing.T) {
	r := reader(newHome(t))
	for _, source := range transcripts.Sources() {
		list, _, err := r.List(t.Context(), source)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v, %d listed", source, err, len(list))
		}
		for _, info := range list {
			converted, err := r.Read(t.Context(), source, info.ID)
			if err != nil {
				t.Fatal(err)
			}
			checkCalls(t, converted.Items)
		}
	}
}

func checkCalls(t *testing.T, items []transcripts.Item) {
	t.Helper()
	open := map[string]int{}
	for _, item := range items {
		m := item.Message
		if m == nil {
			continue
		}
		if m.Role == session.RoleToolResult {
			if open[m.ToolCallID]--; open[m.ToolCallID] < 0 {
				t.Errorf("a second result of %s", m.ToolCallID)
			}
			continue
		}
		for id, n := range open {
			if n != 0 {
				t.Errorf("%s has no result before %s", id, item.ID)
			}
		}
		for _, b := range m.Content {
			if b.Type == session.BlockToolCall {
				open[b.ID]++
			}
		}
	}
}

// contents returns all files below a folder with their content and times.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		info, statErr := entry.Info()
		all[path] = fmt.Sprint(info.ModTime(), string(data))
		return errors.Join(err, statErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNothingIsWrittenOrLeaked: reading changes no file, and makes none; what lies beside the
// transcripts is not read.
func TestNothingIsWrittenOrLeaked(t *testing.T) {
	home := newHome(t)
	before := contents(t, home)
	r := reader(home)
	for _, source := range transcripts.Sources() {
		list, _, err := r.List(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list {
			converted, err := r.Read(t.Context(), source, info.ID)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(converted)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, []byte("PLANTED")) {
				t.Errorf("%s %s holds a credential", source, info.ID)
			}
		}
	}
	if after := contents(t, home); !maps.Equal(before, after) {
		t.Errorf("files changed: %q became %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// TestLinksAreNotFollowed: a link in place of a transcript, of a folder, or of the index leads
// nowhere, inside the folder or out of it.
func TestLinksAreNotFollowed(t *testing.T) {
	home := newHome(t)
	secret := `{"type":"user","uuid":"u","message":{"role":"user","content":"PLANTED"},"sessionId":"x"}` + "\n" +
		`{"sessionId":"x","projectHash":"h","messages":[{"id":"m","type":"user","content":"PLANTED"}]}` + "\n"
	if err := os.MkdirAll(filepath.Join(home, "secret", "chats"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(home, "secret", "chats", "session-x.jsonl")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		".claude/projects/-home-me-site/linked.jsonl":                         outside,
		".claude/projects/-linked":                                            filepath.Join(home, "secret", "chats"),
		".gemini/tmp/site/chats/session-linked.jsonl":                         outside,
		".gemini/tmp/linked":                                                  filepath.Join(home, "secret"),
		".codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-linked.jsonl": outside,
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(home, ".codex/session_index.jsonl")
	if err := errors.Join(os.Remove(index), os.Symlink("auth.json", index)); err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(home, ".local/share/opencode/opencode.db")
	if err := errors.Join(os.Rename(database, database+".real"), os.Symlink("opencode.db.real", database)); err != nil {
		t.Fatal(err)
	}
	r := reader(home)
	for _, source := range transcripts.Sources() {
		list, _, err := r.List(t.Context(), source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		for _, info := range list {
			if strings.Contains(info.Title, "PLANTED") || info.ID == "linked" || info.ID == "ses_1" {
				t.Errorf("%s: a link was followed: %+v", source, info)
			}
		}
	}
	for source, id := range map[transcripts.Source]string{transcripts.Claude: "linked", transcripts.Codex: "linked", transcripts.Gemini: "x", transcripts.OpenCode: "ses_1"} {
		if _, err := r.Read(t.Context(), source, id); !errors.Is(err, transcripts.ErrNotFound) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestIDsAreNoPaths: an id cannot name a file elsewhere.
func TestIDsAreNoPaths(t *testing.T) {
	r := reader(newHome(t))
	for _, source := range transcripts.Sources() {
		for _, id := range []string{"", "..", "../../auth", "a/b", "/etc/passwd", ".hidden", strings.Repeat("a", 200), "no-such"} {
			if _, err := r.Read(t.Context(), source, id); !errors.Is(err, transcripts.ErrNotFound) {
				t.Errorf("%s %q: %v", source, id, err)
			}
		}
	}
}

// TestNoAgent: a machine without these programs has no transcripts, and no error.
func TestNoAgent(t *testing.T) {
	r := transcripts.New(t.TempDir(), none, nil)
	for _, source := range transcripts.Sources() {
		if list, damaged, err := r.List(t.Context(), source); len(list) != 0 || damaged != 0 || err != nil {
			t.Errorf("%s: %v, %d, %v", source, list, damaged, err)
		}
	}
}

// TestCanceled: reading stops with its request.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := reader(newHome(t))
	for _, source := range transcripts.Sources() {
		if _, _, err := r.List(ctx, source); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
