package file_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/session"
)

// oldFile is a session of version 1 that the scripted program finds and continues.
const oldFile = `{"type":"session","id":"old","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/x"}
{"type":"message","timestamp":"2025-01-02T03:04:06.000Z","message":{"role":"user","content":"from long ago"}}
{"type":"message","timestamp":"2025-01-02T03:04:07.000Z","message":{"role":"assistant","content":[]}}
`

// script is what a program does with its sessions. It tells after every step how
// many entries of which session were acknowledged.
func script(p *file.Provider, acknowledge func(id string, entries int)) error {
	ctx := context.Background()
	clock, ids := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 0
	options := []store.Option{
		store.WithClock(func() time.Time { clock = clock.Add(time.Second); return clock }),
		store.WithIDs(func() string { ids++; return fmt.Sprintf("%08x", ids) }),
	}
	log, err := p.Create(ctx, "prj", json.RawMessage(newHeader("new")))
	if err != nil {
		return err
	}
	acknowledge("new", 0)
	s := store.NewSession(log, options...)
	text := json.RawMessage(`{"role":"user","content":"` + strings.Repeat("long ", 2000) + `"}`)
	for range 2 {
		if _, err := s.AppendMessage(ctx, store.Mark{}, text); err != nil {
			return err
		}
		acknowledge("new", len(s.Tree().Entries()))
	}
	if err := s.Close(); err != nil {
		return err
	}
	if log, err = p.Open(ctx, "new"); err != nil {
		return err
	}
	for _, batch := range [][]json.RawMessage{{line("b1"), line("b2"), line("b3")}, {line("c1")}, {line("d1"), line("d2")}} {
		if err := log.Append(ctx, batch...); err != nil {
			return err
		}
		ids += len(batch)
		acknowledge("new", ids)
	}
	old, err := p.Open(ctx, "old")
	if err != nil {
		return err
	}
	acknowledge("old", 2)
	s = store.NewSession(old, options...)
	if _, err := s.AppendSessionInfo(ctx, store.Mark{}, "named"); err != nil {
		return err
	}
	acknowledge("old", 3)
	return errors.Join(s.Close(), log.Close())
}

// boundaries are the numbers of entries that a session of the script may have.
var boundaries = map[string][]int{"new": {0, 1, 2, 5, 6, 8}, "old": {2, 3}}

func newHeader(id string) string {
	return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}`
}

func line(id string) json.RawMessage {
	return json.RawMessage(`{"type":"custom","customType":"x","data":"` + strings.Repeat("wide ", 1000) + `","id":"` + id + `","parentId":null,"timestamp":"2026-01-02T03:04:05.678Z"}`)
}

func placeOld(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	folder := filepath.Join(dir, "prj")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "x_old.jsonl"), []byte(oldFile), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// crashChild runs the script and ends the process, as kill -9 does, at the given
// point: before every step, and at every write also after half and after all of it.
func crashChild(args []string) error {
	point, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	here := func() {
		if point--; point == 0 {
			_ = self.Kill()
			select {} // until the signal is here
		}
	}
	p := file.New(args[0], quiet())
	p.SetFault(func(s file.Step) error {
		here()
		if s.Name != "write" {
			return nil
		}
		for _, size := range []int{len(s.Data) / 2, len(s.Data)} {
			if _, err := s.File.WriteAt(s.Data[:size], s.At); err != nil {
				return err
			}
			here()
		}
		return nil
	})
	return script(p, func(id string, entries int) { fmt.Println(id, entries) })
}

func runChild(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

// TestKilledAtEveryStep kills a program at every step it takes to the disk, looks
// at what is there, and continues with it.
func TestKilledAtEveryStep(t *testing.T) {
	want := golden(t)
	for point := 1; ; point++ {
		dir := placeOld(t)
		cmd := runChild(t, "crash", dir, strconv.Itoa(point))
		var failed bytes.Buffer
		cmd.Stderr = &failed
		out, err := cmd.Output()
		if failed.Len() > 0 {
			t.Fatalf("point %d: the script failed: %s", point, failed.String())
		}
		acked := map[string]int{"old": 2}
		for _, ack := range strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(out)), " ", ":")) {
			id, n, _ := strings.Cut(ack, ":")
			if acked[id], err = atoi(n, err); acked[id] < 0 {
				t.Fatalf("point %d: %q", point, out)
			}
		}
		survived(t, point, dir, acked, want)
		if cmd.ProcessState.Success() {
			if point < 50 {
				t.Fatalf("the script has only %d steps: it does not cover what it should", point)
			}
			return
		}
	}
}

// atoi keeps the error of the process.
func atoi(text string, err error) (int, error) {
	n, bad := strconv.Atoi(text)
	if bad != nil {
		return -1, bad
	}
	return n, err
}

// golden runs the script with no fault and returns the lines that it leaves.
func golden(t *testing.T) map[string][]string {
	t.Helper()
	p := file.New(placeOld(t), quiet())
	if err := script(p, func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for id := range boundaries {
		f, err := p.Read(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		lines[id] = entryLines(f)
	}
	return lines
}

func entryLines(f *session.File) []string {
	lines := []string{}
	for _, e := range f.Tree.Entries() {
		lines = append(lines, string(e.Raw))
	}
	return lines
}

// survived looks at the sessions after a crash: what was acknowledged is there, no
// step is there by half, and the next append works.
func survived(t *testing.T, point int, dir string, acked map[string]int, want map[string][]string) {
	t.Helper()
	p := file.New(dir, quiet())
	for id, least := range acked {
		read, err := p.Read(t.Context(), id)
		if err != nil {
			t.Fatalf("point %d: reading %s: %v", point, id, err)
		}
		log, err := p.Open(t.Context(), id)
		if err != nil {
			t.Fatalf("point %d: opening %s: %v", point, id, err)
		}
		got := entryLines(log.File())
		if len(got) < least || !slices.Contains(boundaries[id], len(got)) || !slices.Equal(got, want[id][:len(got)]) {
			t.Fatalf("point %d: %s holds %d entries, %d were acknowledged", point, id, len(got), least)
		}
		if n := len(read.Tree.Entries()); n != len(got) {
			t.Fatalf("point %d: a reader sees %d entries of %s, a writer %d", point, n, id, len(got))
		}
		if err := errors.Join(log.Append(t.Context(), line("next"), line("next2")), log.Close()); err != nil {
			t.Fatalf("point %d: the next append to %s: %v", point, id, err)
		}
		again, err := p.Read(t.Context(), id)
		if err != nil || len(again.Damage) != 0 || again.Migrated || len(again.Tree.Entries()) != len(got)+2 {
			t.Fatalf("point %d: after the next append %s is %+v, %v", point, id, again, err)
		}
	}
	backup, err := os.ReadFile(filepath.Join(dir, "prj", "x_old.jsonl.bak"))
	if err != nil || string(backup) != oldFile {
		t.Fatalf("point %d: the old file was not kept: %v", point, err)
	}
}
