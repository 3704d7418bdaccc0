package extension_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// world is a home with extensions, and a project.
type world struct {
	*extension.Manager
	t        *testing.T
	paths    state.Paths
	trust    *state.Trust
	consents *state.Consents
	project  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, paths: state.Paths{Home: t.TempDir()}, project: t.TempDir()}
	w.reopen()
	return w
}

// reopen reads the files of the home again, as another host does.
func (w *world) reopen() {
	w.t.Helper()
	var errs [4]error
	var added *state.Extensions
	var switches *state.Switches
	w.trust, errs[0] = state.LoadTrust(w.paths.Trust())
	added, errs[1] = state.LoadExtensions(w.paths.ExtensionList())
	switches, errs[2] = state.LoadSwitches(w.paths.Switches())
	w.consents, errs[3] = state.LoadConsents(w.paths.MCP())
	if err := errors.Join(errs[:]...); err != nil {
		w.t.Fatal(err)
	}
	w.Manager = extension.New(extension.Options{
		Logger: slog.New(slog.DiscardHandler), Paths: w.paths, Added: added, Switches: switches, Consents: w.consents, Trusted: w.trust.Has,
	})
	if err := w.Clean(); err != nil {
		w.t.Fatal(err)
	}
}

// write writes files below a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// small is an extension with a skill.
func small(name string) map[string]string {
	return map[string]string{
		"extension.json":      `{"name": "` + name + `", "version": "1"}`,
		"skills/one/SKILL.md": "---\nname: one\ndescription: Does it.\n---\nDo it.",
	}
}

// fetch fetches a folder, which must work.
func (w *world) fetch(folder string) api.FetchExtensionResponse {
	w.t.Helper()
	fetched, err := w.Fetch(w.t.Context(), api.FetchExtensionRequest{Source: folder})
	if err != nil {
		w.t.Fatal(err)
	}
	return fetched
}

// add adds a folder for every project.
func (w *world) add(folder string) api.Extension {
	w.t.Helper()
	fetched := w.fetch(folder)
	saved, err := w.Save("", fetched.Extension.Hash, fetched.Replaces, "host")
	if err != nil {
		w.t.Fatal(err)
	}
	return saved
}

// states describes the extensions of a folder.
func (w *world) states(folder string) string {
	var list []string
	found, _ := w.List(folder)
	for _, e := range found {
		list = append(list, e.Name+" "+string(e.State))
	}
	return strings.Join(list, ", ")
}

// used names the extensions that are used in a folder.
func (w *world) used(folder string) string {
	var list []string
	for _, d := range w.Definitions(folder) {
		list = append(list, d.Name)
	}
	return strings.Join(list, ", ")
}

func wantKind(t *testing.T, err error, kind api.Kind) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind {
		t.Errorf("the error is %v, want the kind %v", err, kind)
	}
}
