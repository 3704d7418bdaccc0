package transcripts_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/scorel/scorel/apps/host/internal/transcripts"
	"github.com/scorel/scorel/packages/protocol/session"
)

const fuzzID = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"

// fuzz feeds a parser with the content of one file, and checks that whatever it makes of it can be
// stored in a session and read again.
func fuzz(f *testing.F, source transcripts.Source, sample, path string) {
	whole, err := os.ReadFile(filepath.Join("testdata/home", sample))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for line := range bytes.SplitSeq(whole, []byte("\n")) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		home := t.TempDir()
		write(t, filepath.Join(home, path), data)
		r := transcripts.New(home, none, nil)
		if _, _, err := r.List(t.Context(), source); err != nil {
			t.Fatal(err)
		}
		converted, err := r.Read(t.Context(), source, fuzzID)
		if err != nil {
			if !errors.Is(err, transcripts.ErrNotFound) && !errors.Is(err, transcripts.ErrUnreadable) {
				t.Fatal(err)
			}
			return
		}
		again, err := r.Read(t.Context(), source, fuzzID)
		if err != nil || len(again.Items) != len(converted.Items) {
			t.Fatalf("read again: %v, %d entries instead of %d", err, len(again.Items), len(converted.Items))
		}
		store(t, converted)
	})
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// store builds the session of a transcript.
func store(t *testing.T, converted transcripts.Transcript) {
	t.Helper()
	header, err := session.EncodeHeader(session.Header{Version: session.Version, ID: "s", Cwd: converted.Folder})
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte(header), '\n')
	tree := session.NewTree(nil)
	w := session.NewWriter(tree)
	for _, item := range converted.Items {
		if item.Parent != tree.Leaf() {
			if err := tree.Branch(item.Parent); err != nil {
				t.Fatalf("%s follows %q: %v", item.ID, item.Parent, err)
			}
		}
		line, err := item.Encode(w, session.Stamp{ID: item.ID, Timestamp: session.FormatTime(item.At)})
		if err != nil || bytes.ContainsRune(line, '\n') {
			t.Fatalf("%+v: %v", item, err)
		}
		out = append(append(out, line...), '\n')
	}
	file, err := session.ReadFile(out)
	if err != nil || len(file.Damage) > 0 || len(file.Tree.Entries()) != len(converted.Items) {
		t.Fatalf("read back: %v, %v, %d entries of %d", err, file.Damage, len(file.Tree.Entries()), len(converted.Items))
	}
	checkCalls(t, converted.Items)
	for _, child := range converted.Children {
		store(t, child)
	}
}

func FuzzClaude(f *testing.F) {
	fuzz(f, transcripts.Claude, ".claude/projects/-home-me-site/11111111-2222-4333-8444-555555555555.jsonl", ".claude/projects/-p/"+fuzzID+".jsonl")
}

func FuzzCodex(f *testing.F) {
	fuzz(f, transcripts.Codex, ".codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-"+fuzzID+".jsonl", ".codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-"+fuzzID+".jsonl")
}

func FuzzGemini(f *testing.F) {
	fuzz(f, transcripts.Gemini, ".gemini/tmp/site/chats/session-2026-11-22T08-00-07d31e03.jsonl", ".gemini/tmp/p/chats/session-2026-11-22T08-00-0199aaaa.jsonl")
}

// FuzzOpenCode: any bytes as database, and any data of a message and a part.
func FuzzOpenCode(f *testing.F) {
	f.Add([]byte("SQLite format 3\x00"), `{"role":"assistant","time":{"completed":1}}`, `{"type":"tool","callID":"c","tool":"t","state":{"status":"completed"}}`)
	f.Add([]byte(nil), `{"role":"user"}`, `{"type":"text","text":"hi"}`)
	f.Add([]byte(nil), `{"role":"assistant","summary":true,"error":{"name":"x"}}`, `{"type":"text","text":"hi"}`)
	f.Fuzz(func(t *testing.T, file []byte, message, part string) {
		home := t.TempDir()
		path := filepath.Join(home, ".local/share/opencode/opencode.db")
		r := transcripts.New(home, none, nil)
		if len(file) > 0 {
			write(t, path, file)
			if _, _, err := r.List(t.Context(), transcripts.OpenCode); err != nil && !errors.Is(err, transcripts.ErrUnreadable) {
				t.Fatal(err)
			}
			return
		}
		write(t, path, nil)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		script, err := os.ReadFile("testdata/opencode.sql")
		if err != nil {
			t.Fatal(err)
		}
		schema, _, _ := strings.Cut(string(script), "INSERT")
		_, err = db.Exec(schema)
		if err == nil {
			_, err = db.Exec(`INSERT INTO session VALUES (?, NULL, '/p', 'T', '1', 1, 2)`, fuzzID)
		}
		for i := range 2 {
			if err == nil {
				_, err = db.Exec(`INSERT INTO message VALUES (?, ?, 1, 1, ?)`, i, fuzzID, message)
			}
			if err == nil {
				_, err = db.Exec(`INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)`, i, i, fuzzID, part)
			}
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		converted, err := r.Read(t.Context(), transcripts.OpenCode, fuzzID)
		if err != nil {
			t.Fatal(err)
		}
		store(t, converted)
	})
}

// TestCompressedRollout: Codex compresses old rollouts.
func TestCompressedRollout(t *testing.T) {
	home := t.TempDir()
	plain, err := os.ReadFile("testdata/home/.codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-" + fuzzID + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	packed := func(write func(*zstd.Encoder) error) []byte {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out)
		if err == nil {
			err = errors.Join(write(z), z.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	name := filepath.Join(home, ".codex/archived_sessions/rollout-2026-11-21T09-00-00-"+fuzzID+".jsonl.zst")
	write(t, name, packed(func(z *zstd.Encoder) error { _, err := z.Write(plain); return err }))
	r := transcripts.New(home, none, nil)
	got, err := r.Read(t.Context(), transcripts.Codex, fuzzID)
	if err != nil || len(got.Items) == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

// TestLongLine: a line over the bound is counted and skipped; the others are read.
func TestLongLine(t *testing.T) {
	home := t.TempDir()
	long := `{"type":"user","uuid":"x","message":{"role":"user","content":"` + strings.Repeat("y", 64<<20) + `"}}`
	data := `{"type":"user","uuid":"a","message":{"role":"user","content":"first"}}` + "\n" + long + "\n" +
		`{"type":"user","uuid":"b","message":{"role":"user","content":"last"}}` + "\n" + `{"type":"user","uu`
	write(t, filepath.Join(home, ".claude/projects/-p/"+fuzzID+".jsonl"), []byte(data))
	got, err := transcripts.New(home, none, nil).Read(t.Context(), transcripts.Claude, fuzzID)
	if err != nil || len(got.Items) != 2 || got.Report.Damaged != 1 || got.Report.Unfinished != 1 {
		t.Errorf("%d entries, %+v, %v", len(got.Items), got.Report, err)
	}
}
