package hook_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// world is a manager with one folder.
type world struct {
	*hook.Manager
	folder  string
	options hook.Options
	trusted bool
}

func newWorld(t *testing.T, hooks ...state.Hook) *world {
	t.Helper()
	consents, err := state.LoadConsents(filepath.Join(t.TempDir(), "mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{folder: t.TempDir(), trusted: true}
	w.options = hook.Options{
		Logger: slog.New(slog.DiscardHandler), Hooks: hooks, Consents: consents, Environ: os.Environ,
		Trusted: func(string) bool { return w.trusted },
	}
	w.Manager = hook.New(w.options)
	return w
}

// write writes a file of the folder.
func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// only returns the one hook of the folder.
func (w *world) only(t *testing.T) api.Hook {
	t.Helper()
	list, problems := w.List(w.folder)
	if len(list) != 1 || len(problems) > 0 {
		t.Fatalf("hooks: %+v, problems: %v", list, problems)
	}
	return list[0]
}

// allow allows every hook of the folder that waits.
func (w *world) allow(t *testing.T) {
	t.Helper()
	list, _ := w.List(w.folder)
	for _, h := range list {
		if h.State != api.HookNeedsConsent {
			continue
		}
		if _, err := w.Decide(w.folder, h.ID, h.Hash, true, "cli_x"); err != nil {
			t.Fatal(err)
		}
	}
}

// patience is how long a test waits for what a hook must not hold up.
const patience = 30 * time.Second

// run runs the hooks about an event as the files of the folder are now.
func (w *world) run(t *testing.T, event api.HookEvent, in hook.Input) []hook.Result {
	t.Helper()
	in.Cwd = w.folder
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return w.Load(w.folder).Run(ctx, event, in)
}

// one runs the only hook about an event.
func (w *world) one(t *testing.T, event api.HookEvent, in hook.Input) hook.Result {
	t.Helper()
	results := w.run(t, event, in)
	if len(results) != 1 {
		t.Fatalf("%d hooks ran: %+v", len(results), results)
	}
	return results[0]
}

func outcomes(results []hook.Result) []api.HookOutcome {
	var list []api.HookOutcome
	for _, r := range results {
		list = append(list, r.Outcome)
	}
	slices.Sort(list)
	return list
}
