package stores_test

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/stores"
)

// open opens the providers of a config.toml, with the addresses of databases in env.
func open(t *testing.T, config string, env map[string]string, beneath func(store.Provider) store.Provider) (*stores.Stores, error) {
	t.Helper()
	paths := state.Paths{Home: t.TempDir()}
	if err := os.WriteFile(paths.Config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := state.LoadConfig(paths.Config(), func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	s, err := stores.Open(t.Context(), loaded, paths.Sessions(), beneath, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/"}`

// TestFilesAreAlwaysThere: without a configuration, sessions are in files, and every provider
// is wrapped.
func TestFilesAreAlwaysThere(t *testing.T) {
	wrapped := 0
	s, err := open(t, "", nil, func(p store.Provider) store.Provider {
		wrapped++
		return p
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.Create(t.Context(), "prj_1", []byte(header))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Header.ID != "s1" || list[0].ProjectID != "prj_1" {
		t.Errorf("listed %+v, %v", list, err)
	}
	if wrapped != 1 || len(s.Outages()) != 0 || s.Unavailable("prj_1") != "" {
		t.Errorf("wrapped %d providers, outages %+v, unavailable %q", wrapped, s.Outages(), s.Unavailable("prj_1"))
	}
}

// TestAnAddressThatCannotBeReadIsAnError, and the error does not hold the password.
func TestAnAddressThatCannotBeReadIsAnError(t *testing.T) {
	for _, name := range []string{"postgres", "mysql"} {
		_, err := open(t, "", map[string]string{"SCOREL_SESSIONS_" + strings.ToUpper(name): name + "://user:hush@127.0.0.1:port/db"}, nil)
		var misconfigured *state.ConfigError
		if !errors.As(err, &misconfigured) || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADatabaseThatCannotBeReachedIsAnOutage: the host starts, sessions in files can be used,
// and projects that use the database say why they are unavailable.
func TestADatabaseThatCannotBeReachedIsAnOutage(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := silent.Addr().String()
	if err := silent.Close(); err != nil { // nothing answers there
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	projects, err := state.LoadProjects(filepath.Join(t.TempDir(), "projects.json"))
	if err != nil {
		t.Fatal(err)
	}
	project, err := projects.Add(folder)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SCOREL_SESSIONS_POSTGRES": "postgres://user:hush@" + address + "/db"}
	s, err := open(t, "[projects.\""+folder+"\"]\nsession_provider = \"postgres\"\n", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	outages := s.Outages()
	if len(outages) != 1 || outages[0].Provider != "postgres" || outages[0].Reason == "" || strings.Contains(outages[0].Place, "hush") || outages[0].Since == 0 {
		t.Errorf("the outages are %+v", outages)
	}
	if s.Unavailable(project.ID) != outages[0].Reason || s.Unavailable("prj_other") != "" {
		t.Errorf("unavailable: %q, and of another project %q", s.Unavailable(project.ID), s.Unavailable("prj_other"))
	}
	if _, err := s.Create(t.Context(), project.ID, []byte(header)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("creating a session there: %v", err)
	}
}
