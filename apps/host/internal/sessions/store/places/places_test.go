package places_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

// here keeps sessions of project prj_2 in "second", all others in "first".
func here(first, second store.Provider) *places.Places {
	return places.New(map[string]store.Provider{"first": first, "second": second}, func(projectID string) string {
		if projectID == "prj_2" {
			return "second"
		}
		return "first"
	}, quiet)
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		first, second := t.TempDir(), t.TempDir()
		return func(*testing.T) store.Provider { return here(file.New(first, quiet), file.New(second, quiet)) }
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	first = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}` + "\n"
	a     = `{"type":"custom","customType":"x","id":"a","parentId":null,"timestamp":"t"}`
	text  = first + a + "\n"
)

func has(t *testing.T, p store.Provider, want string) {
	t.Helper()
	_, data, err := p.Export(t.Context(), "s")
	if want == "" && errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil || string(data) != want {
		t.Errorf("it holds %q, %v", data, err)
	}
}

func TestCopy(t *testing.T) {
	one, two := file.New(t.TempDir(), quiet), file.New(t.TempDir(), quiet)
	p := here(one, two)
	ctx := t.Context()
	check(t, p.Import(ctx, "prj_1", []byte(text)))
	for _, c := range []struct {
		to   string
		want error
	}{{"third", places.ErrUnknown}, {"first", places.ErrThere}} {
		if err := p.Copy(ctx, "s", c.to, false); !errors.Is(err, c.want) {
			t.Errorf("copying to %s: %v", c.to, err)
		}
	}
	if err := p.Copy(ctx, "none", "second", false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("copying nothing: %v", err)
	}
	for range 2 {
		check(t, p.Copy(ctx, "s", "second", false))
		has(t, one, text)
		has(t, two, text)
	}
	log, err := p.Open(ctx, "s")
	check(t, err)
	if err := p.Copy(ctx, "s", "second", true); !errors.Is(err, store.ErrInUse) {
		t.Errorf("moving what is open: %v", err)
	}
	check(t, log.Append(ctx, json.RawMessage(strings.ReplaceAll(a, `"a"`, `"b"`))))
	check(t, log.Close())
	longer := text + strings.ReplaceAll(a, `"a"`, `"b"`) + "\n"
	has(t, p, longer) // the host continues where its project is stored
	if err := p.Copy(ctx, "s", "second", true); !errors.Is(err, places.ErrDiffers) {
		t.Errorf("moving onto another state: %v", err)
	}
	has(t, one, longer)
	has(t, two, text)
	check(t, two.Delete(ctx, "s"))
	check(t, p.Copy(ctx, "s", "second", true))
	has(t, one, "")
	has(t, p, longer)
	list, err := here(one, two).List(ctx)
	if err != nil || len(list) != 1 || list[0].ProjectID != "prj_1" {
		t.Errorf("listed are %v, %v", list, err)
	}
}

// TestTwice: of two states of one session the one that the project's provider holds
// counts, after a restart too, and deleting takes both away.
func TestTwice(t *testing.T) {
	one, two := file.New(t.TempDir(), quiet), file.New(t.TempDir(), quiet)
	check(t, one.Import(t.Context(), "prj_2", []byte(first)))
	check(t, two.Import(t.Context(), "prj_2", []byte(text)))
	for range 2 {
		p := here(one, two)
		has(t, p, text)
		if list, err := p.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("listed are %v, %v", list, err)
		}
	}
	p := here(one, two)
	if err := p.Import(t.Context(), "prj_1", []byte(text)); err == nil {
		t.Error("a third was imported")
	}
	check(t, p.Delete(t.Context(), "s"))
	has(t, one, "")
	has(t, two, "")
	has(t, p, "")
}

// broken fails to list, as a database that cannot be reached does.
type broken struct{ store.Provider }

func (broken) List(context.Context) ([]store.Info, error) { return nil, errors.New("away") }

// mangler stores something else than it is given.
type mangler struct{ store.Provider }

func (m mangler) Import(ctx context.Context, projectID string, data []byte) error {
	return m.Provider.Import(ctx, projectID, []byte(strings.Replace(string(data), `"x"`, `"y"`, 1)))
}

func TestFaults(t *testing.T) {
	one, two := file.New(t.TempDir(), quiet), file.New(t.TempDir(), quiet)
	check(t, one.Import(t.Context(), "prj_1", []byte(text)))
	if _, err := here(one, broken{two}).List(t.Context()); err == nil || !strings.Contains(err.Error(), "session provider second: away") {
		t.Errorf("listing: %v", err)
	}
	if err := here(one, mangler{two}).Copy(t.Context(), "s", "second", true); err == nil {
		t.Error("a copy that differs was taken for one")
	}
	has(t, one, text)
	has(t, two, "")
}
