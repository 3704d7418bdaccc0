package sessions_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// twoPlaces runs the fixture's sessions on two folders; new ones are in the first.
func (f *fixture) twoPlaces(t *testing.T) (m *sessions.Manager, second string) {
	t.Helper()
	second = t.TempDir()
	m, err := sessions.NewManager(t.Context(), places.New(map[string]store.Provider{
		"first": file.New(f.dir, f.deps.Logger), "second": file.New(second, f.deps.Logger),
	}, func(string) string { return "first" }, f.deps.Logger), f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, second
}

func kindOf(err error) api.Kind {
	var told *api.Error
	if errors.As(err, &told) {
		return told.Kind
	}
	return api.KindUnknown
}

// TestMovedWhileItIsWatched moves a session that someone watches: it continues in the
// other place, with its events in order and what was seen still true.
func TestMovedWhileItIsWatched(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Say("one"), modeltest.Say("two")))
	m, second := f.twoPlaces(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "hi")
	w.wait(func() bool { return w.ended == 1 })
	was := f.file(t)
	id := strings.TrimSuffix(filepath.Base(was)[strings.Index(filepath.Base(was), "_")+1:], ".jsonl")
	if err := m.Copy(t.Context(), id, "nowhere", true); kindOf(err) != api.KindBadRequest {
		t.Errorf("moving to nowhere: %v", err)
	}
	if err := m.Copy(t.Context(), id, "second", true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(was); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still in the first place: %v", err)
	}
	send(t, s, "k2", "again")
	w.wait(func() bool { return w.ended == 2 })
	fresh := newWatcher()
	subscribe(t, s, fresh)
	seen, all := read(w, func() []session.Entry { return w.entries }), read(fresh, func() []session.Entry { return fresh.entries })
	if len(seen) != len(all) {
		t.Errorf("the watcher saw %d entries of %d", len(seen), len(all))
	}
	data, err := os.ReadFile(filepath.Join(second, f.project.ID, filepath.Base(was)))
	if err != nil || !strings.Contains(string(data), `"text":"two"`) {
		t.Errorf("in the second place: %v\n%s", err, data)
	}
	// A retry of a prompt from before the move adds nothing.
	if again := send(t, s, "k1", "hi"); again.State != api.PromptTaken {
		t.Errorf("a late retry: %+v", again)
	}
}

// TestNotWhileItWorks: a session with a running turn stays where it is.
func TestNotWhileItWorks(t *testing.T) {
	f := newFixture(t, modeltest.New(modeltest.Step{Content: session.Content{session.Text("part")}, Stall: true}))
	m, _ := f.twoPlaces(t)
	s := f.create(t, m)
	summary, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, "k1", "hi")
	if err := m.Copy(t.Context(), summary.ID, "second", true); kindOf(err) != api.KindConflict {
		t.Errorf("moving: %v", err)
	}
	if _, err := m.Delete(t.Context(), summary.ID); kindOf(err) != api.KindConflict {
		t.Errorf("deleting: %v", err)
	}
	f.file(t) // it is there
}

func TestDelete(t *testing.T) {
	f := newFixture(t, modeltest.New())
	var told []string
	f.deps.OnDelete = func(_, id string) { told = append(told, id) }
	m, second := f.twoPlaces(t)
	s := f.create(t, m)
	summary, err := s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Copy(t.Context(), summary.ID, "second", false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Delete(t.Context(), summary.ID); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{f.dir, second} {
		if files, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(files) != 0 {
			t.Errorf("left are %v, %v", files, err)
		}
	}
	if _, err := m.Delete(t.Context(), summary.ID); kindOf(err) != api.KindNotFound {
		t.Errorf("deleting twice: %v", err)
	}
	if len(m.List("")) != 0 || len(told) != 1 || told[0] != summary.ID {
		t.Errorf("listed %v, announced %v", m.List(""), told)
	}
	if _, err := s.Summary(context.Background()); err == nil {
		t.Error("a deleted session answers")
	}
	f.create(t, m) // its clientKey is free again
}

func TestImport(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m, _ := f.twoPlaces(t)
	text := `{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hello there"}}` + "\n" +
		`{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hi"}],"stopReason":"stop"}}` + "\n"
	summary, err := m.Import(t.Context(), f.project.ID, "s-1", []byte(text))
	if err != nil || summary.Name != "hello there" || summary.ProjectID != f.project.ID || len(m.List(f.project.ID)) != 1 {
		t.Fatalf("imported as %+v, %v", summary, err)
	}
	if _, err := m.Import(t.Context(), f.project.ID, "s-1", []byte(text)); kindOf(err) != api.KindConflict {
		t.Errorf("importing twice: %v", err)
	}
	if data, err := os.ReadFile(f.file(t)); err != nil || string(data) != text {
		t.Errorf("the file is %v\n%s", err, data)
	}
}

// deleted is the error of deleting a session.
func deleted(_ *api.Worktree, err error) error { return err }
